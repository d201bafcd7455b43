/** The words of the command line: with their exact bytes, and split as far as possible before the command is known. */
import { readFileSync } from 'node:fs';
import { asByteString, bytesOfText, textOfBytes, textWithBytes } from '../../base/byte-path.ts';

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

/**
 * The words of the command line with their exact bytes: Node.js replaces bytes that are not UTF-8 by U+FFFD.
 * @param words as Node.js has them
 * @param isLaunched whether the launcher may have started this runtime; it passes words on as text
 */
export function typedWords(words: readonly string[], isLaunched: boolean): readonly string[] {
  if (!words.some((word) => word.includes('\uFFFD'))) return words;
  const own = wordsOf(process.pid, words);
  if (!isLaunched || own?.some((word) => !word.isWellFormed()) === true) return own ?? words;
  return wordsOf(process.ppid, words) ?? words;
}

/** The words of a process with their exact bytes; undefined if they are not the same words. */
function wordsOf(pid: number, words: readonly string[]): readonly string[] | undefined {
  const typed = lastWords(pid, words.length);
  const isSame = (word: string, at: number): boolean => textOfBytes(bytesOfText(word)) === words[at];
  return typed.length === words.length && typed.every(isSame) ? typed : undefined;
}

/**
 * The last words of a process's command line. Empty where the system does not provide them: a name with such bytes is
 * then not found.
 */
function lastWords(pid: number, count: number): readonly string[] {
  let line: Buffer;
  try {
    line = readFileSync(`/proc/${pid}/cmdline`);
  } catch {
    return [];
  }
  const words = line.toString('latin1').replace(/\0$/, '').split('\0');
  return words.slice(-count).map((word) => textWithBytes(asByteString(word)));
}
