/** Bodies of requests and replies: sends one from memory in pieces, and reads one of known size into memory. */
import { Readable } from 'node:stream';
import { DestinationError } from '../base/errors.ts';
import { largestObject } from './bounds.ts';
import type { UploadPace } from './limited.ts';
import type { Moving } from './stall.ts';

/**
 * Largest single write to the network. Node accepts more pieces only once all buffered ones, some 64 KiB, have been
 * sent. Larger pieces would show less of the progress on a slow line; smaller ones would not slow down a fast one.
 */
const PIECE_BYTES = 16 * 1024;

/** `body` as a stream that keeps to the pace. Nothing is copied. */
export function bodyStream(
  body: Uint8Array,
  key: string,
  pace: UploadPace | undefined,
  { signal, moved, held }: Moving,
): Readable {
  async function* pieces(): AsyncGenerator<Buffer> {
    for (let at = 0; at < body.byteLength;) {
      const wanted = Math.min(PIECE_BYTES, body.byteLength - at);
      const length = pace === undefined ? wanted : await pace.next(key, wanted, signal);
      // Waiting for the limit must not be taken for a stalled line.
      if (pace !== undefined) moved();
      yield Buffer.from(body.buffer, body.byteOffset + at, length);
      at += length;
      // Linux accepts more only once a third of what it holds has been sent.
      held(at / 3);
    }
    held(body.byteLength);
  }
  const stream = Readable.from(pieces(), { objectMode: false, highWaterMark: PIECE_BYTES });
  // When waiting for the pace is aborted, the stream fails with the signal's reason. Not every store's library listens
  // for errors of a body, and an error without a listener would end the process.
  return stream.on('error', () => {});
}

/**
 * Reads exactly `length` bytes of the reply into memory that belongs to the caller alone. Rejects with `corrupt-reply`
 * when there are more or fewer.
 */
export async function collectBody(
  stream: Readable,
  length: number,
  key: string,
  { signal, moved }: Moving,
): Promise<Buffer> {
  if (length > largestObject(key)) {
    stream.destroy();
    throw wrongLength(key, `${length} bytes, more than any object of its kind has`, { length, whole: true });
  }
  // Not allocated from Node's shared pool: the bytes may be transferred to another thread together with their memory.
  const bytes = Buffer.allocUnsafeSlow(length);
  let filled = 0;
  const stop = (): void => void stream.destroy();
  signal.addEventListener('abort', stop, { once: true });
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      moved(chunk.length);
      if (filled + chunk.length > length)
        throw wrongLength(key, `more than ${length} bytes`, { expected: length, whole: true });
      chunk.copy(bytes, filled);
      filled += chunk.length;
    }
  } finally {
    signal.removeEventListener('abort', stop);
    stream.destroy();
  }
  signal.throwIfAborted();
  if (filled < length) throw wrongLength(key, `${filled} of ${length} bytes`, { expected: length });
  return bytes;
}

function wrongLength(
  key: string,
  what: string,
  facts: Readonly<Record<string, number | boolean>>,
): DestinationError {
  return new DestinationError('corrupt-reply', `The reply for ${key} has ${what}`, {
    op: 'read',
    hint: 'The connection or the store corrupts data. If this continues, run a check of the repository.',
    details: { key, ...facts },
    retry: 'now',
  });
}
