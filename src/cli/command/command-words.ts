/** Splits the words of a command line as far as possible before the command is known. */

/** Options that may precede the command and take a value. */
const VALUE_OPTIONS = new Set(['-r', '--repository', '--password-file', '--password-command', '--config']);

/** `holdfast -r DIR ls latest`: the command, and the words on either side of it. */
export function splitWords(words: readonly string[]): {
  name: string | undefined;
  before: readonly string[];
  after: readonly string[];
} {
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    if (VALUE_OPTIONS.has(word)) at += 1;
    else if (!word.startsWith('-'))
      return { name: word, before: words.slice(0, at), after: words.slice(at + 1) };
  }
  return { name: undefined, before: words, after: [] };
}

/** The value of an option in any of its forms: `-r DIR`, `-rDIR`, `--repository=DIR`. The last one applies. */
export function wordOf(
  words: readonly string[],
  [short, long]: readonly [string, string],
): string | undefined {
  const end = words.indexOf('--');
  const options = end === -1 ? words : words.slice(0, end);
  return options
    .flatMap((word, at) => {
      if (word === short || word === long) return options.slice(at + 1, at + 2);
      if (word.startsWith(`${long}=`)) return [word.slice(long.length + 1)];
      return word.startsWith(short) && !word.startsWith('--') ? [word.slice(short.length)] : [];
    })
    .at(-1);
}
