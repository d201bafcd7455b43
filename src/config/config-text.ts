/** Decodes the bytes of a configuration file, and converts offsets in its text to lines and columns. */
import { isUtf8 } from 'node:buffer';
import type { ConfigProblem, ProblemCode } from './config-error.ts';

/** Bytes; a configuration with a thousand sources takes about half of that. */
export const LARGEST_CONFIG = 1_048_576;

export interface DecodedText {
  /** Without byte order mark. */
  readonly text: string;
  /** The file began with a byte order mark, and gets one again when it is written. */
  readonly byteOrderMark: boolean;
  readonly problem: ConfigProblem | null;
}

export const BYTE_ORDER_MARK = '\uFEFF';

export function decodeText(bytes: Uint8Array): DecodedText {
  if (bytes.length > LARGEST_CONFIG) {
    return broken('The file is larger than 1 MiB', 'Check that this is the configuration file.');
  }
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
    return broken('The file is in UTF-16', 'Save it as UTF-8.');
  }
  if (!isUtf8(bytes)) {
    return broken('There is a character that is not UTF-8', 'Save the file as UTF-8.', firstBadByte(bytes));
  }
  const text = Buffer.from(bytes).toString('utf8');
  const byteOrderMark = text.startsWith(BYTE_ORDER_MARK);
  return { text: byteOrderMark ? text.slice(1) : text, byteOrderMark, problem: null };
}

function broken(message: string, hint: string, place: Place = { line: 1, column: 1 }): DecodedText {
  const problem = { code: 'CONFIG_SYNTAX' as const, path: '', ...place, message, hint };
  return { text: '', byteOrderMark: false, problem };
}

export interface Place {
  readonly line: number;
  readonly column: number;
}

function firstBadByte(bytes: Uint8Array): Place {
  let line = 1;
  let start = 0;
  for (;;) {
    const newline = bytes.indexOf(0x0a, start);
    const end = newline === -1 ? bytes.length : newline;
    const content = bytes.subarray(start, end);
    if (!isUtf8(content) || newline === -1) return { line, column: soundPrefix(content).length + 1 };
    line += 1;
    start = newline + 1;
  }
}

/** The text before the first byte that is not UTF-8. */
function soundPrefix(bytes: Uint8Array): string {
  const text = Buffer.from(bytes).toString('utf8');
  const replaced = text.indexOf('\uFFFD');
  return replaced === -1 ? text : text.slice(0, replaced);
}

/** Line and column of an offset in a text. */
export function placeOf(text: string, offset: number): Place {
  const before = text.slice(0, offset);
  const lineStart = before.lastIndexOf('\n') + 1;
  return { line: before.split('\n').length, column: before.length - lineStart + 1 };
}

export function problemAt(
  text: string,
  offset: number,
  code: ProblemCode,
  message: string,
  hint: string,
  path = '',
): ConfigProblem {
  return { code, path, ...placeOf(text, offset), message, hint };
}
