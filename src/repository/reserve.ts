/**
 * Room that is kept for when the storage is full: forgetting and pruning have to store something before they free
 * anything, and an account may hold nothing else that could be removed.
 */
import { randomBytes } from 'node:crypto';
import { DestinationError } from '../base/errors.ts';
import type { Repository } from './repository.ts';

/** Bytes without a meaning, which nobody reads. */
const RESERVE = 'reserve/1';
/** Leases and marks are small; what index objects take that are written anew comes on top. */
const LEAST_BYTES = 256 * 1024;
const MOST_BYTES = 64 * 1024 * 1024;
/** Less helps nobody. */
const WORTH_BYTES = 16 * 1024;

/**
 * Sees to it that there is one, as large as goes. Where the storage keeps what is deleted it would give no room.
 * @param indexBytes what the index objects take
 */
export async function keepReserve(
  { destination }: Pick<Repository, 'destination'>,
  indexBytes: number,
  signal: AbortSignal,
): Promise<void> {
  const { canDelete, keepsDeleted, retainDays } = destination.properties;
  if (!canDelete || keepsDeleted !== undefined || retainDays !== undefined) return;
  const wanted = Math.min(MOST_BYTES, LEAST_BYTES + indexBytes);
  try {
    const size = await reserveSize(destination, signal);
    if (size >= wanted / 2) return;
    if (size > 0) await destination.delete(RESERVE, signal);
    for (let bytes = wanted; bytes >= WORTH_BYTES; bytes = Math.floor(bytes / 2))
      if (await stores(destination, bytes, signal)) return;
  } catch (error) {
    // All goes without it, and the next prune sees to it.
    if (!(error instanceof DestinationError)) throw error;
  }
}

/**
 * Does `work`, once more in the room that the reserve gives where there is no other: it is told so, and stores nothing
 * then but what it must.
 */
export async function withReserve<T>(
  repository: Pick<Repository, 'destination'>,
  work: (isScarce: boolean) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const { destination } = repository;
  try {
    return await work(false);
  } catch (error) {
    if (!isFull(error) || signal.aborted) throw error;
    if (!(await isReleased(destination, signal))) throw error;
  }
  try {
    return await work(true);
  } finally {
    // What is left of it is for the next one.
    if (!signal.aborted) await keepReserve(repository, 0, signal);
  }
}

/** False where there is none, or none that goes. */
async function isReleased(destination: Repository['destination'], signal: AbortSignal): Promise<boolean> {
  try {
    if ((await reserveSize(destination, signal)) === 0) return false;
    await destination.delete(RESERVE, signal);
    return true;
  } catch (error) {
    if (!(error instanceof DestinationError)) throw error;
    return false;
  }
}

async function reserveSize(destination: Repository['destination'], signal: AbortSignal): Promise<number> {
  try {
    return (await destination.stat(RESERVE, signal)).size;
  } catch (error) {
    if (!(error instanceof DestinationError) || error.kind !== 'not-found') throw error;
    return 0;
  }
}

/** False where there is not so much room. */
async function stores(
  destination: Repository['destination'],
  bytes: number,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    // Nothing that a file system could store in less.
    await destination.put(RESERVE, randomBytes(bytes), signal);
    return true;
  } catch (error) {
    if (!isFull(error)) throw error;
    return false;
  }
}

function isFull(error: unknown): boolean {
  return error instanceof DestinationError && error.kind === 'full';
}
