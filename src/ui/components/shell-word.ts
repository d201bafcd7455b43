/** One word of a command line, quoted so that a shell takes it as it is and a person sees all of it. */
export function shellWord(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  if (!/\p{C}|\p{Zl}|\p{Zp}/u.test(text)) return `'${text.replaceAll("'", String.raw`'\''`)}'`;
  // Invisible characters are written as escapes, which bash and zsh understand.
  const seen = text.replaceAll(/[\\']/g, String.raw`\$&`).replaceAll(/\p{C}|\p{Zl}|\p{Zp}/gu, (character) => {
    const number = (character.codePointAt(0) ?? 0).toString(16);
    return number.length > 4 ? `\\U${number.padStart(8, '0')}` : `\\u${number.padStart(4, '0')}`;
  });
  return `$'${seen}'`;
}
