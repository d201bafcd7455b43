/** The forms of a name that patterns are matched against. */

import { isAscii, type ByteString } from '../base/byte-path.ts';

/**
 * - `bytes`: one character per byte, as git matches; a `?` is one byte.
 * - `text`: one character per character of a UTF-8 name; a byte that is not UTF-8 is one character of its own.
 * - `folded`: text in which upper and lower case are the same.
 */
export type NameForm = 'bytes' | 'text' | 'folded';

/** A well-formed UTF-8 sequence of two to four bytes (RFC 3629, section 4), or a single byte that belongs to none. */
const beyondAscii =
  /[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}|[\x80-\xff]/g;

/** A stray byte becomes this plus the byte: a lone surrogate, which no UTF-8 text contains. */
const strayByteBase = 0xdc_00;

/** Converts bytes to text without loss: different bytes give different text, whatever they are. */
export function charactersOf(bytes: ByteString): string {
  if (isAscii(bytes)) return bytes;
  return bytes.replaceAll(beyondAscii, (sequence) =>
    sequence.length === 1
      ? String.fromCharCode(strayByteBase + sequence.charCodeAt(0))
      : Buffer.from(sequence, 'latin1').toString('utf8'),
  );
}

/** Text with case differences removed; both the pattern and the name go through it. */
export function foldCase(text: string): string {
  // A final sigma is the only letter whose lower case depends on its context.
  return text.toLowerCase().replaceAll('ς', 'σ');
}

export function inForm(name: ByteString, form: NameForm): string {
  if (form === 'bytes') return name;
  const text = charactersOf(name);
  return form === 'text' ? text : foldCase(text);
}
