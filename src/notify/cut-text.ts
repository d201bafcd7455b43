/** Cuts text to a number of bytes, without splitting a character. */

/** The first `bytes` bytes of `text` in UTF-8. */
export function startOf(text: string, bytes: number): string {
  const encoded = Buffer.from(text, 'utf8');
  if (encoded.length <= bytes) return text;
  let end = bytes;
  while (end > 0 && isContinuation(encoded[end])) end -= 1;
  return encoded.toString('utf8', 0, end);
}

/** The last `bytes` bytes. */
export function endOf(text: string, bytes: number): string {
  const encoded = Buffer.from(text, 'utf8');
  if (encoded.length <= bytes) return text;
  let start = encoded.length - bytes;
  while (start < encoded.length && isContinuation(encoded[start])) start += 1;
  return encoded.toString('utf8', start);
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
