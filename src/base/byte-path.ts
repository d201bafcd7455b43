/**
 * Byte strings: file names exactly as the kernel has them, one character (U+0000-U+00FF) per byte. Names that are
 * not UTF-8 survive, comparison is by byte, and a pure ASCII name (nearly all of them) is its own text.
 */

declare const byteString: unique symbol;
/** A string in which every character is one byte. */
export type ByteString = string & { readonly [byteString]: true };

const asciiOnly = /^\p{ASCII}*$/u;

/** True for text, and for bytes, that are the same in ASCII, Latin-1 and UTF-8. */
export function isAscii(text: string): boolean {
  return asciiOnly.test(text);
}

/** Text typed by a person (UTF-16) as the UTF-8 bytes the kernel gets. */
export function bytesOfText(text: string): ByteString {
  return (isAscii(text) ? text : Buffer.from(text, 'utf8').toString('latin1')) as ByteString;
}

/** For people: bytes read as UTF-8, with U+FFFD where they are not. */
export function textOfBytes(bytes: ByteString): string {
  return isAscii(bytes) ? bytes : Buffer.from(bytes, 'latin1').toString('utf8');
}

/** What node:fs takes: the string itself when it is ASCII, else the raw bytes. */
export function fsPath(bytes: ByteString): string | Buffer {
  return isAscii(bytes) ? bytes : Buffer.from(bytes, 'latin1');
}

/** A byte string from latin1 text, which is what readdir(…, 'latin1') returns. */
export function asByteString(latin1: string): ByteString {
  return latin1 as ByteString;
}

/** `parent` + `/` + `name`, where the root is `/`. */
export function joinBytes(parent: ByteString, name: ByteString): ByteString {
  return (parent === '/' ? `/${name}` : parent === '' ? name : `${parent}/${name}`) as ByteString;
}

/** True when the bytes are valid UTF-8. */
export function isUtf8(bytes: ByteString): boolean {
  return isAscii(bytes) || Buffer.from(textOfBytes(bytes), 'utf8').toString('latin1') === bytes;
}

/** The directory that an absolute path lies in; `/` for itself. */
export function pathAbove(path: ByteString): ByteString {
  return asByteString(path.slice(0, path.lastIndexOf('/')) || '/');
}
