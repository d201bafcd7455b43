/** Reads an object, or a part of it, with many concurrent requests, so that a far server is as fast as a near one. */
import { extentOf } from '../byte-range.ts';
import type { ByteRange } from '../destination.ts';
import { absent, incomplete } from './answers.ts';
import type { Lane } from './lane.ts';

/** The most bytes requested at once: a third of a second at 100 Mbit/s. */
const mostAskedBytes = 4 * 1024 * 1024;

/** Bytes requested before the size is known: most objects other than packs are smaller. */
const firstBytes = 128 * 1024;

export interface Reading {
  readonly lane: Lane;
  readonly root: string;
  readonly key: string;
  readonly url: string;
}

/** Rejects with `not-found` for anything but a file, and with `corrupt-reply` for a range beyond the end. */
export async function readObject(
  reading: Reading,
  range: ByteRange | undefined,
  signal: AbortSignal,
): Promise<Buffer> {
  const { lane, root, key, url } = reading;
  const handle = await lane.open(`${root}/${key}`, 'read');
  try {
    const ahead = readAhead(lane, handle, range);
    const [facts, early] = await Promise.all([lane.factsOf(handle), ahead]);
    if (facts.type !== 'file') throw absent({ op: 'read', url, key });
    const { start, length } = extentOf(range, facts.size, key);
    // Not allocated from Node's shared pool: the bytes may be transferred to another thread together with their memory.
    const bytes = Buffer.allocUnsafeSlow(length);
    const have = early === undefined ? 0 : early.copy(bytes, 0, 0, length);
    await readPieces(reading, handle, { bytes, start, from: have, fileSize: facts.size }, signal);
    return bytes;
  } finally {
    // Not awaited, as the answer does not matter to a reader.
    lane.close(handle).catch(() => undefined);
  }
}

/**
 * Reads the beginning of the range while the size is asked for; undefined when the size is needed to know where the
 * range lies.
 */
async function readAhead(
  lane: Lane,
  handle: Buffer,
  range: ByteRange | undefined,
): Promise<Buffer | undefined> {
  const { offset, length } = range ?? { offset: 0, length: firstBytes };
  if (!Number.isSafeInteger(offset) || offset < 0 || !(length > 0)) return undefined;
  const wanted = Math.min(length, firstBytes);
  const bytes = Buffer.allocUnsafe(wanted);
  const { pieceBytes } = lane;
  const reads: Promise<number>[] = [];
  for (let from = 0; from < wanted; from += pieceBytes)
    reads.push(lane.read(handle, bytes, from, Math.min(pieceBytes, wanted - from), offset + from));
  const outcomes = await Promise.allSettled(reads);
  // Only bytes without a gap are used. The rest is read again, and any failure then shows.
  let have = 0;
  for (const [index, outcome] of outcomes.entries()) {
    const asked = Math.min(pieceBytes, wanted - index * pieceBytes);
    if (outcome.status === 'rejected') break;
    have += outcome.value;
    if (outcome.value !== asked) break;
  }
  return bytes.subarray(0, have);
}

interface Wanted {
  readonly bytes: Buffer;
  /** Position of the first byte in the file. */
  readonly start: number;
  /** How many bytes at the beginning have already been read. */
  readonly from: number;
  readonly fileSize: number;
}

async function readPieces(
  { lane, key, url }: Reading,
  handle: Buffer,
  { bytes, start, from, fileSize }: Wanted,
  signal: AbortSignal,
): Promise<void> {
  const { pieceBytes } = lane;
  const asked = new Set<Promise<void>>();
  const failure: { error?: unknown } = {};
  for (let offset = from; offset < bytes.byteLength && failure.error === undefined; offset += pieceBytes) {
    signal.throwIfAborted();
    const length = Math.min(pieceBytes, bytes.byteLength - offset);
    const piece = readPiece(offset, length)
      .catch((error: unknown) => {
        failure.error ??= error;
      })
      .finally(() => asked.delete(piece));
    asked.add(piece);
    if (asked.size * pieceBytes >= mostAskedBytes) await Promise.race(asked);
  }
  await Promise.all(asked);
  if (failure.error !== undefined) throw failure.error;

  /** Servers may return fewer bytes than requested. */
  async function readPiece(offset: number, length: number): Promise<void> {
    for (let done = 0; done < length;) {
      const position = start + offset + done;
      const count = await lane.read(handle, bytes, offset + done, length - done, position);
      if (count === 0) throw incomplete(url, key, position, fileSize);
      done += count;
    }
  }
}
