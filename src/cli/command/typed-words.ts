/** The words of the command line with all their bytes: Node.js puts U+FFFD in place of those that are no UTF-8. */
import { readFileSync } from 'node:fs';
import { asByteString, bytesOfText, textOfBytes, textWithBytes } from '../../base/byte-path.ts';

/**
 * @param words as Node.js has them
 * @param isLaunched whether another runtime may have been started for them, which hands words on as text
 */
export function typedWords(words: readonly string[], isLaunched: boolean): readonly string[] {
  if (!words.some((word) => word.includes('\uFFFD'))) return words;
  const own = wordsOf(process.pid, words);
  if (!isLaunched || own?.some((word) => !word.isWellFormed()) === true) return own ?? words;
  return wordsOf(process.ppid, words) ?? words;
}

/** Undefined where they are others. */
function wordsOf(pid: number, words: readonly string[]): readonly string[] | undefined {
  const typed = lastWords(pid, words.length);
  const isSame = (word: string, at: number): boolean => textOfBytes(bytesOfText(word)) === words[at];
  return typed.length === words.length && typed.every(isSame) ? typed : undefined;
}

/** None where the system does not tell them: then a name with such bytes is one that is not there. */
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
