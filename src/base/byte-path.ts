/**
 * Byte strings hold file names exactly as the kernel has them, with one character (U+0000-U+00FF) per byte. Names that
 * are not UTF-8 survive, comparison is by byte, and a pure ASCII name (nearly all are) is equal to its text.
 */

declare const byteString: unique symbol;
/** A string in which every character is one byte. */
export type ByteString = string & { readonly [byteString]: true };

const asciiOnly = /^\p{ASCII}*$/u;

/** True for text, and for bytes, that are the same in ASCII, Latin-1 and UTF-8. */
export function isAscii(text: string): boolean {
  return asciiOnly.test(text);
}

/**
 * Text typed by a person (UTF-16) as the bytes that the kernel gets: UTF-8, with single bytes encoded as in
 * `textWithBytes`.
 */
export function bytesOfText(text: string): ByteString {
  if (isAscii(text)) return text as ByteString;
  const parts = text.isWellFormed() ? [text] : text.split(/((?<![\ud800-\udbff])[\udc80-\udcff])/);
  return parts
    .map((part) => byteOf(part) ?? Buffer.from(part, 'utf8').toString('latin1'))
    .join('') as ByteString;
}

/** U+DC80 to U+DCFF stand for the bytes 0x80 to 0xff. */
const BYTES_AT = 0xdc00;

function byteOf(part: string): string | undefined {
  const code = part.charCodeAt(0) - BYTES_AT;
  return part.length === 1 && code >= 0x80 && code <= 0xff ? String.fromCharCode(code) : undefined;
}

// A run of well-formed UTF-8 (Unicode 17, table 3-7), or else a single byte that is not part of any.
const utf8OrByte =
  /(?:\p{ASCII}|[\u00c2-\u00df][\u0080-\u00bf]|\u00e0[\u00a0-\u00bf][\u0080-\u00bf]|[\u00e1-\u00ec\u00ee\u00ef][\u0080-\u00bf]{2}|\u00ed[\u0080-\u009f][\u0080-\u00bf]|\u00f0[\u0090-\u00bf][\u0080-\u00bf]{2}|[\u00f1-\u00f3][\u0080-\u00bf]{3}|\u00f4[\u0080-\u008f][\u0080-\u00bf]{2})+|[\u0080-\u00ff]/gu;

/** Text without loss: UTF-8 is decoded, and any other byte is rendered by `other`. */
export function textAndBytes(bytes: ByteString, other: (byte: number) => string): string {
  return bytes.replace(utf8OrByte, (run) =>
    run.length === 1 && run > '\u007f'
      ? other(run.charCodeAt(0))
      : Buffer.from(run, 'latin1').toString('utf8'),
  );
}

/**
 * Text that `bytesOfText` turns back into these bytes. Bytes that are not UTF-8 are represented by U+DC80 to U+DCFF.
 */
export function textWithBytes(bytes: ByteString): string {
  return textAndBytes(bytes, (byte) => String.fromCharCode(BYTES_AT + byte));
}

/** For people: bytes read as UTF-8, with U+FFFD where they are not. */
export function textOfBytes(bytes: ByteString): string {
  return isAscii(bytes) ? bytes : Buffer.from(bytes, 'latin1').toString('utf8');
}

/** A byte string from latin1 text, which is what readdir(…, 'latin1') returns. */
export function asByteString(latin1: string): ByteString {
  return latin1 as ByteString;
}

/** `parent` + `/` + `name`, where the root is `/`. */
export function joinBytes(parent: ByteString, name: ByteString): ByteString {
  return (parent === '/' ? `/${name}` : parent === '' ? name : `${parent}/${name}`) as ByteString;
}

/** Whether an absolute path is that directory or lies below it. */
export function isWithin(path: ByteString, directory: ByteString): boolean {
  return path === directory || directory === '/' || path.startsWith(`${directory}/`);
}

/** True when the bytes are valid UTF-8. */
export function isUtf8(bytes: ByteString): boolean {
  return isAscii(bytes) || Buffer.from(textOfBytes(bytes), 'utf8').toString('latin1') === bytes;
}

/** The directory that contains an absolute path; `/` for `/` itself. */
export function pathAbove(path: ByteString): ByteString {
  return asByteString(path.slice(0, path.lastIndexOf('/')) || '/');
}

/** The names on the way from the root to a path, `.` and `..` resolved as text. */
export function pathNames(path: ByteString): ByteString[] {
  const names: ByteString[] = [];
  for (const name of path.split('/')) {
    if (name === '..') names.pop();
    else if (name !== '' && name !== '.') names.push(asByteString(name));
  }
  return names;
}

/** The absolute path with these names. */
export function pathOf(names: readonly ByteString[]): ByteString {
  return asByteString(`/${names.join('/')}`);
}
