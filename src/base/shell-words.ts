/** Quotes words for a shell: in commands that are shown, and to pass words to programs that Node.js cannot pass. It encodes all words as UTF-8, so a shell produces other bytes. */
import { bytesOfText, isAscii } from './byte-path.ts';

/** A command line that Node.js can start. */
export function startable(words: readonly [string, ...string[]]): readonly [string, ...string[]] {
  if (words.every((word) => word.isWellFormed())) return words;
  return ['/bin/sh', '-c', `exec ${words.map(shellWord).join(' ')}`];
}

/** A shell command that Node.js can pass on. */
export function shellCommand(command: string): string {
  return command.isWellFormed() ? command : `eval ${shellWord(command)}`;
}

/**
 * The word in ASCII, with a command substitution for each run of other bytes. These contain no line ends, which a
 * substitution would strip.
 */
function shellWord(typed: string): string {
  const parts = bytesOfText(typed)
    .split(/([\u0080-\u00ff]+)/)
    .filter((part) => part !== '')
    .map((part) => (isAscii(part) ? `'${part.replaceAll("'", `'\\''`)}'` : `"$(printf '${octal(part)}')"`))
    .join('');
  return parts === '' ? "''" : parts;
}

function octal(bytes: string): string {
  return Array.from(bytes, (byte) => `\\${byte.charCodeAt(0).toString(8)}`).join('');
}

/** Quotes one word. Words that need no quotes are left alone, including those with `~`. */
export function quoted(text: string): string {
  return /^[\w./@%+=:,~-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** The same for Windows shells. */
export function quotedOnWindows(text: string): string {
  return /^[\w./\\@+=:,~-]+$/.test(text) ? text : `"${text}"`;
}
