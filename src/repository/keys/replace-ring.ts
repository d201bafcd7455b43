import { DestinationError, RepositoryError } from '../../base/errors.ts';
import { MAX_NUMBER } from '../../format/records.ts';
import type { Keyring } from '../../format/keyring.ts';
import { ringNumbers, ringOrCopy } from '../slots/key-files.ts';
import { sealRing } from '../slots/key-slots.ts';
import { LEASE_TIMES, lateSignal } from '../lease-objects.ts';
import type { Lease } from '../lease.ts';
import { acquirePruneLease } from '../take-lease.ts';
import type { Repository } from '../repository.ts';
import { getCopy, replaceCopy } from '../objects/second-copies.ts';

/**
 * Puts the next ring in force. Where creating a key is not exclusive this is done under the prune lease: of two rings
 * with one number the later would overwrite the other, and with it the keys to everything that was sealed since.
 *
 * @param keyring made from the one in force
 * @param lease the prune lease, if the caller holds it already
 * @throws {RepositoryError} REPOSITORY_LOCKED when the keys are changed elsewhere at the same time, or somebody prunes
 */
export async function replaceRing(
  repository: Repository,
  keyring: Keyring,
  signal: AbortSignal,
  lease?: Lease,
): Promise<void> {
  const n = await nextNumber(repository, signal);
  const bytes = sealRing(keyring, n, repository.slot.ringAuth);
  const { destination } = repository;
  if (destination.properties.conditionalCreate) await putRing(repository, n, bytes, signal);
  else if (lease !== undefined) await putRingAlone(repository, { n, bytes, lease }, signal);
  else {
    await using own = await acquirePruneLease(repository, {}, signal);
    await repository.followRing(signal);
    if (repository.ringNumber >= n) throw changedElsewhere();
    await putRingAlone(repository, { n, bytes, lease: own }, signal);
  }
  await replaceCopy(destination, 'keys/ring-', n, bytes, signal);
  await repository.adoptRing(keyring, n, signal);
}

/**
 * The next free number. Anyone who may add objects can plant one under the next number; every host skips objects that
 * are no rings, both here and when it opens the repository.
 */
async function nextNumber(repository: Repository, signal: AbortSignal): Promise<number> {
  const { destination, ringNumber, slot } = repository;
  const taken = new Set(await ringNumbers(destination, signal));
  for (let n = ringNumber + 1; n <= MAX_NUMBER; n += 1) {
    if (!taken.has(n)) return n;
    if ((await ringOrCopy(destination, n, slot, signal)) !== undefined) throw changedElsewhere();
  }
  throw new RepositoryError('LIMIT_EXCEEDED', 'No number is left for the keyring');
}

async function putRing(
  { destination }: Repository,
  n: number,
  bytes: Buffer,
  signal: AbortSignal,
): Promise<void> {
  try {
    await destination.put(`keys/ring-${n}`, bytes, signal);
  } catch (error) {
    if (!(error instanceof DestinationError) || error.kind !== 'exists') throw error;
    throw changedElsewhere(error);
  }
}

/**
 * Stores the ring under the lease. If the machine sleeps while the request is sent, another host may have changed the
 * keys meanwhile, and this ring has overwritten that host's. In that case the other ring is restored from its second
 * copy.
 */
async function putRingAlone(
  repository: Repository,
  { n, bytes, lease }: { readonly n: number; readonly bytes: Buffer; readonly lease: Lease },
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  await lease.assertHeld(signal);
  // A run that loses the lease is aborted, but a request that it has sent still arrives, so it waits for the answer.
  const late = lateSignal(signal, LEASE_TIMES.release);
  await putRing(repository, n, bytes, late);
  try {
    await lease.assertHeld(late);
    signal.throwIfAborted();
  } catch (error) {
    if (error instanceof RepositoryError) await giveBack(repository, n, bytes, late);
    throw error;
  }
}

async function giveBack(
  { destination }: Repository,
  n: number,
  bytes: Buffer,
  signal: AbortSignal,
): Promise<void> {
  const key = `keys/ring-${n}`;
  const others = await getCopy(destination, key, signal);
  if (others === undefined || others.equals(bytes) || !destination.properties.canDelete) return;
  await destination.delete(key, signal);
  await destination.put(key, others, signal);
}

function changedElsewhere(cause?: unknown): RepositoryError {
  return new RepositoryError(
    'REPOSITORY_LOCKED',
    'The keys of this repository were changed at the same time',
    { hint: 'Check the list of keys, then try again.', retry: 'later', cause },
  );
}
