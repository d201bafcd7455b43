/**
 * Reads text that people write with their own editors: UTF-8 or, with a byte order mark, UTF-16 as Windows writes it.
 * No encoding is guessed, and invalid bytes are not replaced.
 */
import { isUtf8 } from 'node:buffer';
import { asByteString, bytesOfText, type ByteString } from './byte-path.ts';

export type TextFault = 'not-utf8' | 'zero-bytes';

export type PeopleText =
  /** Without byte order mark. */
  { readonly text: string } | { readonly fault: TextFault };

const MARKS = [
  { bytes: [0xef, 0xbb, 0xbf], encoding: 'utf-8' },
  { bytes: [0xff, 0xfe], encoding: 'utf-16le' },
  { bytes: [0xfe, 0xff], encoding: 'utf-16be' },
] as const;

/**
 * Decodes the text. UTF-16 without a mark is recognised by its zero bytes and refused, as its byte order is unknown.
 */
export function peopleText(bytes: Uint8Array): PeopleText {
  const encoding = encodingOf(bytes);
  if (encoding === 'utf-8' && !isUtf8(bytes)) return { fault: 'not-utf8' };
  let text: string;
  try {
    text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return { fault: 'not-utf8' };
  }
  return text.includes('\0') ? { fault: 'zero-bytes' } : { text };
}

/** For files of other programs, where invalid UTF-8 (in a comment, a name) is in no part that is needed. */
export function looseText(bytes: Uint8Array): string {
  return new TextDecoder(encodingOf(bytes)).decode(bytes);
}

/** Whether the bytes begin with a byte order mark. */
export function hasMark(bytes: Uint8Array): boolean {
  return markOf(bytes) !== undefined;
}

function encodingOf(bytes: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  return markOf(bytes)?.encoding ?? 'utf-8';
}

function markOf(start: Uint8Array) {
  return MARKS.find(({ bytes }) => bytes.every((byte, at) => start[at] === byte));
}

/** The fault, worded to continue a sentence that begins with what was read. */
export function faultWords(fault: TextFault): string {
  return fault === 'not-utf8'
    ? 'is not valid UTF-8'
    : 'contains NUL characters, like UTF-16 text without a byte order mark';
}

/**
 * The same for text about file names, which are bytes: text without a mark is kept unchanged. Undefined when it cannot
 * be lines of names, such as UTF-16 without a mark.
 */
export function peopleBytes(bytes: Uint8Array): ByteString | undefined {
  if (encodingOf(bytes) === 'utf-8') {
    const kept = asByteString(Buffer.from(bytes).toString('latin1'));
    return kept.includes('\0') ? undefined : asByteString(kept.replace(/^\u00ef\u00bb\u00bf/, ''));
  }
  const read = peopleText(bytes);
  return 'text' in read ? bytesOfText(read.text) : undefined;
}

export const SAVE_AS_UTF8 = 'Save it as plain text in UTF-8.';

/**
 * A secret is one line, and the line break after it is not part of it. Further line breaks are
 * (docs/repository-format.md).
 */
export function withoutFinalLineBreak(text: string): string {
  return text.replace(/\r?\n$/, '');
}

/** Whether Node.js replaced invalid bytes, or half of a surrogate pair, when it made the text. */
export function isLossy(text: string): boolean {
  return text.includes('\uFFFD') || !text.isWellFormed();
}
