/** Command lines for the machine of the agent: how the program is called there, which the agent writes into the document, and words quoted for its shell. */

const PLAIN = 'holdfast';

const program =
  typeof document === 'undefined'
    ? PLAIN
    : (document.querySelector<HTMLMetaElement>('meta[name="program"]')?.content ?? PLAIN);

/** A command line of the program. The values put in must already be quoted for a shell. */
export function holdfast(texts: TemplateStringsArray, ...words: readonly string[]): string {
  return `${program} ${texts.map((text, i) => text + (words[i] ?? '')).join('')}`;
}

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
