/** Reads limited parts of replies, which may be long, slow or hostile. */
import type { Readable } from 'node:stream';

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
 * The first `bytes` bytes of a body, as far as they arrive within `ms`. For replies whose status is all that matters,
 * and that may never end.
 */
export async function readStartWithin(body: Readable, bytes: number, ms: number): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let length = 0;
  // Destroying the stream ends the loop as the end of the body would.
  const timer = setTimeout(() => body.destroy(), ms);
  try {
    for await (const part of body as AsyncIterable<Uint8Array>) {
      parts.push(part);
      length += part.byteLength;
      if (length >= bytes) break;
    }
  } catch {
    // The reply broke off; what has arrived is used.
  } finally {
    clearTimeout(timer);
    body.destroy();
  }
  return Buffer.concat(parts).subarray(0, bytes);
}
