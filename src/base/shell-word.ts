/** Words for programs, which Node.js hands on as UTF-8 alone: what holds other bytes is made by a shell. */
import { bytesOfText, isAscii } from './byte-path.ts';

/** The program and its words as Node.js can start them. */
export function startable(words: readonly [string, ...string[]]): readonly [string, ...string[]] {
  if (words.every((word) => word.isWellFormed())) return words;
  return ['/bin/sh', '-c', `exec ${words.map(shellWord).join(' ')}`];
}

/** A command for a shell, as Node.js can hand it on. */
export function shellCommand(command: string): string {
  return command.isWellFormed() ? command : `eval ${shellWord(command)}`;
}

/** In ASCII: a substitution stands for each run of other bytes. None of them is a line end, which would be lost. */
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
