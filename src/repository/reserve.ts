/**
 * Keeps an object whose deletion makes room when the storage is full. Forget and prune have to store something before
 * they free anything, and there may be nothing else that can be removed.
 */
import { randomBytes } from 'node:crypto';
import { DestinationError } from '../base/errors.ts';
import type { Repository } from './repository.ts';

/** Key of the reserve: random bytes that nobody reads. */
const RESERVE = 'reserve/1';
/** Enough for leases and marks; rewritten index objects need room in addition. */
const LEAST_BYTES = 256 * 1024;
const MOST_BYTES = 64 * 1024 * 1024;
/** A smaller reserve would be of no use. */
const WORTH_BYTES = 16 * 1024;

/**
 * Makes sure that there is a reserve, as large as fits. Where the storage keeps deleted objects it would free no room,
 * so none is made.
 * @param indexBytes size of all index objects
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
    // Everything works without a reserve, and the next prune tries again.
    if (!(error instanceof DestinationError)) throw error;
  }
}

/**
 * Runs `work(false)`. If the storage is full, deletes the reserve and runs `work(true)`, which must store only what it
 * has to.
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
    // Whatever room is left becomes the next reserve.
    if (!signal.aborted) await keepReserve(repository, 0, signal);
  }
}

/** Deletes the reserve. False where there is none, or it cannot be deleted. */
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

/** False where the storage has not enough room. */
async function stores(
  destination: Repository['destination'],
  bytes: number,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    // Random bytes, so that a file system cannot compress them.
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
