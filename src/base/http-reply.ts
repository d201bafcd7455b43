/** What is taken from replies of receivers, which may be long, slow or hostile. */

/** The first `bytes` bytes of a body. The rest is not fetched: leaving the loop early ends the stream. */
export async function readStart(body: AsyncIterable<Uint8Array> | null, bytes: number): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of body ?? []) {
    parts.push(part);
    length += part.byteLength;
    if (length >= bytes) break;
  }
  return Buffer.concat(parts).subarray(0, bytes);
}

/**
 * Milliseconds that a `Retry-After` header asks for, at most `longestMs`; null when it asks for none. Its other form, a
 * date, would need equal clocks.
 */
export function retryAfterMs(header: string | null | undefined, longestMs: number): number | null {
  const seconds = /^\d{1,9}$/.test(header ?? '') ? Number(header) : null;
  return seconds === null ? null : Math.min(seconds * 1000, longestMs);
}
