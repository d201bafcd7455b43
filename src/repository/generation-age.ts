/** Tells since when a key generation is no longer the current one. */
import { isRetired, type Keyring } from '../format/keyring.ts';
import { isUnusable } from './slots/key-files.ts';
import { openRing } from './slots/key-slots.ts';
import { listNumbered } from './objects/listing.ts';
import type { Repository } from './repository.ts';

/**
 * Storage time of the first readable ring in which the generation is old; 0 for a retired generation. Undefined for the
 * current generation, and where no ring shows it.
 */
export async function outdatedSinceMs(
  repository: Repository,
  generation: number,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { keyring, destination } = repository;
  if (isRetired(keyring, generation)) return 0;
  if (keyring.generations.find(({ g }) => g === generation)?.state !== 'old') return undefined;
  for (const n of await listNumbered(destination, 'keys/ring-', signal)) {
    if (n > repository.ringNumber) break;
    const ring = await readRing(repository, n, signal);
    if (ring?.generations.some(({ g, state }) => g === generation && state === 'old') !== true) continue;
    return (await destination.stat(`keys/ring-${n}`, signal)).modifiedMs;
  }
  return undefined;
}

/** Reads ring `n`; undefined when it is not valid, or was not sealed to the slot that opened the repository. */
export async function readRing(
  repository: Repository,
  n: number,
  signal: AbortSignal,
): Promise<Keyring | undefined> {
  const object = `keys/ring-${n}`;
  try {
    return openRing(await repository.destination.get(object, undefined, signal), n, repository.slot);
  } catch (error) {
    const sealedToOthers = error instanceof Error && 'code' in error && error.code === 'WRONG_PASSPHRASE';
    if (sealedToOthers || isUnusable(error)) return undefined;
    throw error;
  }
}
