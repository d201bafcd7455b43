/** Bodies on their way: out of memory in pieces, and into memory of a known size. */
import { Readable } from 'node:stream';
import { DestinationError } from '../base/errors.ts';
import { largestObject } from './bounds.ts';
import type { UploadPace } from './limited.ts';
import type { Moving } from './stall.ts';

/**
 * One write to the network at most. Node takes more of them only when all that waits has gone, some 64 KiB: in larger
 * pieces less would be seen of a slow line, and smaller ones make a fast one no slower.
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
      // The wait was of our own making.
      if (pace !== undefined) moved();
      yield Buffer.from(body.buffer, body.byteOffset + at, length);
      at += length;
      // Linux takes more when a third of what it holds has gone.
      held(at / 3);
    }
    held(body.byteLength);
  }
  const stream = Readable.from(pieces(), { objectMode: false, highWaterMark: PIECE_BYTES });
  // A pace that is given up makes it fail, with the signal's reason. Not each of the stores' libraries listens to a body,
  // and without a listener that would end the process.
  return stream.on('error', () => {});
}

/** Exactly `length` bytes of the reply, as memory of the caller's own. Rejects with `corrupt-reply` when there are more or fewer. */
export async function collectBody(
  stream: Readable,
  length: number,
  key: string,
  { signal, moved }: Moving,
): Promise<Buffer> {
  if (length > largestObject(key)) {
    stream.destroy();
    throw wrongLength(key, `${length} bytes, more than any object of its kind has`, { length });
  }
  // Not from the shared pool: the bytes may be handed to another thread together with their memory.
  const bytes = Buffer.allocUnsafeSlow(length);
  let filled = 0;
  const stop = (): void => void stream.destroy();
  signal.addEventListener('abort', stop, { once: true });
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      moved(chunk.length);
      if (filled + chunk.length > length)
        throw wrongLength(key, `more than ${length} bytes`, { expected: length });
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

function wrongLength(key: string, what: string, lengths: Readonly<Record<string, number>>): DestinationError {
  return new DestinationError('corrupt-reply', `The reply for ${key} has ${what}`, {
    op: 'read',
    hint: 'The line or the store changes replies. If it stays so, run a check of the repository.',
    details: { key, ...lengths },
    retry: 'now',
  });
}
