/** Takes leases: each is stored first and verified afterwards, and withdrawn if somebody else has the right. */
import { randomBytes, randomInt } from 'node:crypto';
import { DestinationError, HoldfastError } from '../base/errors.ts';
import type { LeaseRecord } from '../format/lease-record.ts';
import {
  LEASE_TIMES,
  PRUNE_PURPOSE,
  aliveOf,
  dropLease,
  leaseKey,
  listLeases,
  newLeaseRecord,
  lateSignal,
  probeStorageClock,
  putLease,
  readLease,
  type StoredLease,
} from './lease-objects.ts';
import {
  EPOCHS_OF_RIVALS,
  PRUNE_PREFIX,
  believedEpoch,
  freeAbove,
  isRight,
  judgeLease,
  judgedLeases,
  lockedBy,
  readIfThere,
  takenMeanwhile,
} from './prune-right.ts';
import type { Repository } from './repository.ts';
import { Lease, FEW_STEPS, LONGEST_STEP, type LeaseOptions } from './lease.ts';

export interface PruneLeaseOptions extends LeaseOptions {
  /**
   * The new epoch is above this, the highest fence of the tombstones: fences must rise even though released leases are
   * deleted.
   */
  readonly floor?: number;
}

/**
 * Takes the right to prune, which only one process at a time has. Where creating a key is not exclusive, several
 * processes that begin at the same moment may all be refused.
 * @throws {RepositoryError} REPOSITORY_LOCKED, naming the holder
 */
export async function acquirePruneLease(
  repository: Repository,
  options: PruneLeaseOptions,
  signal: AbortSignal,
): Promise<Lease> {
  repository.requireReading();
  const { destination } = repository;
  const record = newLeaseRecord(repository, randomBytes(8).toString('hex'));
  const nowMs = await probeStorageClock(repository, signal);
  const probedAt = repository.clock.now();
  // Read after the probe: some destinations find out with their first put whether creating a key is exclusive.
  const { conditionalCreate } = destination.properties;
  const before = await judgedLeases(repository, signal);
  const newest = before.findLast((one) => isRight(repository, one));
  if (newest !== undefined && (await aliveOf(repository, [newest], nowMs, signal)).length > 0) {
    throw await lockedBy(repository, newest, nowMs, signal);
  }
  const jump = conditionalCreate ? 0 : randomInt(EPOCHS_OF_RIVALS);
  const own = {
    purpose: PRUNE_PURPOSE,
    epoch: freeAbove(before, Math.max(believedEpoch(before), options.floor ?? 0) + jump),
    storedMs: nowMs,
  };
  let seenMs = nowMs;
  for (let tries = 1; ; tries += 1) {
    try {
      const { purpose, epoch } = own;
      // Judging the leases of others may have taken minutes, so the time since the probe is added.
      seenMs = nowMs + Math.max(0, repository.clock.now() - probedAt);
      own.storedMs = await putLease(repository, purpose, epoch, record, lateSignal(signal), seenMs);
      break;
    } catch (error) {
      if (!(error instanceof DestinationError) || error.kind !== 'exists') throw error;
      const isTaken = isRight(repository, await judgeLease(repository, own, signal));
      if (isTaken || tries === FEW_STEPS) throw await lockedBy(repository, own, nowMs, signal);
      own.epoch += randomInt(1, LONGEST_STEP);
    }
  }
  // Every process stores first and lists afterwards, so of two rivals with different epochs at least one sees the other
  // and gives way.
  const dead = new Set(before.map((one) => one.epoch));
  await orWithdrawn(repository, own, record, async () => {
    // Others would consider a lease that was stored this late stale, and thus no right.
    if (Math.abs(own.storedMs - seenMs) > LEASE_TIMES.expiry) throw takenMeanwhile();
    for (const one of await listLeases(repository, PRUNE_PREFIX, signal)) {
      if (one.epoch === own.epoch || dead.has(one.epoch)) continue;
      const isRival = isRight(repository, await judgeLease(repository, one, signal));
      if (isRival) throw await lockedBy(repository, one, nowMs, signal);
    }
    // Where both of two creators of one key succeed, the right belongs to the one whose bytes remain.
    const stands = await readIfThere(repository, own, signal);
    if (stands === undefined) throw takenMeanwhile();
    if (stands.nonce !== record.nonce) throw await lockedBy(repository, own, nowMs, signal);
    if (!destination.properties.canDelete) return;
    for (const epoch of dead) await dropLease(repository, { purpose: PRUNE_PURPOSE, epoch }, signal);
  });
  return new Lease(repository, record, own, options);
}

/** Runs `work` after a lease was stored; if it fails, nobody will keep the lease alive, so it is removed again. */
async function orWithdrawn(
  repository: Repository,
  { purpose, epoch }: Pick<StoredLease, 'purpose' | 'epoch'>,
  { nonce }: LeaseRecord,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    await withdraw(repository, purpose, epoch, nonce);
    throw error;
  }
}

/** Removes a lease of our own; one that cannot be removed expires. */
async function withdraw(
  repository: Repository,
  purpose: string,
  epoch: number,
  nonce: string,
): Promise<void> {
  const { destination } = repository;
  if (!destination.properties.canDelete) return;
  const signal = AbortSignal.timeout(LEASE_TIMES.release);
  try {
    const found = await readLease(repository, purpose, epoch, signal);
    if (found.nonce === nonce) await destination.delete(leaseKey(purpose, epoch), signal);
  } catch (error) {
    if (!(error instanceof HoldfastError) && !signal.aborted) throw error;
  }
}

/** Makes a backup visible, so that prune leaves alone what it stores before its snapshot exists. */
export async function openSession(
  repository: Repository,
  options: LeaseOptions,
  signal: AbortSignal,
): Promise<Lease> {
  const session = randomBytes(8).toString('hex');
  const record = newLeaseRecord(repository, session);
  const first = { purpose: `session.${session}`, epoch: 1 };
  const storedMs = await putLease(repository, first.purpose, first.epoch, record, lateSignal(signal));
  await orWithdrawn(repository, first, record, async () => signal.throwIfAborted());
  return new Lease(repository, record, { ...first, storedMs }, options);
}
