/**
 * Texts that people write with an editor of their own: UTF-8 or, where its mark says so, UTF-16, as Windows writes it.
 * Nothing is guessed, and nothing is read with characters put in place of bytes that are none.
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

/** UTF-16 without a mark shows itself by its zero bytes, and is refused: which of the two orders it has is not said. */
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

/** For files of other programs, in which what is not UTF-8 (a comment, a name) is nothing that is looked for. */
export function looseText(bytes: Uint8Array): string {
  return new TextDecoder(encodingOf(bytes)).decode(bytes);
}

/** Whether it begins with a byte order mark. */
export function hasMark(bytes: Uint8Array): boolean {
  return markOf(bytes) !== undefined;
}

function encodingOf(bytes: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  return markOf(bytes)?.encoding ?? 'utf-8';
}

function markOf(start: Uint8Array) {
  return MARKS.find(({ bytes }) => bytes.every((byte, at) => start[at] === byte));
}

/** As the end of a sentence that begins with what was read. */
export function faultWords(fault: TextFault): string {
  return fault === 'not-utf8'
    ? 'is not text in UTF-8'
    : 'holds zero characters, as text in UTF-16 without a byte order mark does';
}

/**
 * The same where the text is about names of files, which are bytes: whatever has no mark stays as it is. Undefined when it
 * cannot be lines of names, as UTF-16 without its mark.
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

/** A secret is one line, and the line break behind it is none of it; another one is, as it always was (docs/repository-format.md). */
export function withoutFinalLineBreak(text: string): string {
  return text.replace(/\r?\n$/, '');
}

/** Whether Node.js has put something in place of bytes, or of half a character, when it made the text. */
export function isLossy(text: string): boolean {
  return text.includes('\uFFFD') || !text.isWellFormed();
}
