/** The words of the command line with their exact bytes: Node.js replaces bytes that are not UTF-8 by U+FFFD. */
import { readFileSync } from 'node:fs';
import { asByteString, bytesOfText, textOfBytes, textWithBytes } from '../../base/byte-path.ts';

/**
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
