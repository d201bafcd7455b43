/**
 * Decides who has the right to prune. The holder of a write-only key can make leases and store old ones again, so the
 * administrator signs each lease for its epoch and time. In a repository with such keys an unsigned lease is no right.
 */
import { DestinationError, HoldfastError, RepositoryError, isAbort } from '../base/errors.ts';
import { unknownGeneration } from '../codec/keys.ts';
import { OBJECT_TYPES } from '../format/header.ts';
import { decodePruneLease, type LeaseRecord } from '../format/lease-record.ts';
import {
  LEASE_TIMES,
  PRUNE_PURPOSE,
  leaseContext,
  leaseKey,
  listLeases,
  readLease,
  type StoredLease,
} from './lease-objects.ts';
import { damageTo } from './objects/lost-object.ts';
import { openRecord, type OpenedObject } from './objects/objects.ts';
import { mapParallel } from './objects/parallel.ts';
import type { Repository } from './repository.ts';

export const PRUNE_PREFIX = `leases/${PRUNE_PURPOSE}/`;
/**
 * The number of epochs from which one is chosen at random where creating a key is not exclusive. Two rivals choose the
 * same one once in this many races.
 */
export const EPOCHS_OF_RIVALS = 2 ** 30;

/**
 * What a lease with the purpose `prune` proves.
 * - `right`: the administrator signed it for its epoch, and it was stored at once.
 * - `stale`: signed, but stored so late that its holder had lost the right, as when an old lease is stored again.
 * - `claim`: unsigned, by a preview of 0.1 or by the holder of a write-only key.
 * - `none`: not made with any key of the repository.
 * - `gone`: no longer stored.
 */
export type Worth = 'right' | 'stale' | 'claim' | 'none' | 'gone';

export interface JudgedLease extends StoredLease {
  readonly worth: Worth;
  /** Set for leases that are signed. */
  readonly nonce?: string;
}

export async function judgeLease(
  repository: Repository,
  lease: StoredLease,
  signal: AbortSignal,
): Promise<JudgedLease> {
  const first = await readWorth(repository, lease, signal);
  // Read a second time, since the bytes may have been damaged on their way: a living holder must not be taken for nobody.
  return first.worth === 'none' ? await readWorth(repository, lease, signal) : first;
}

async function readWorth(
  repository: Repository,
  lease: StoredLease,
  signal: AbortSignal,
): Promise<JudgedLease> {
  const { epoch, storedMs } = lease;
  const object = leaseKey(PRUNE_PURPOSE, epoch);
  let opened: OpenedObject;
  try {
    const bytes = await repository.destination.get(object, undefined, signal);
    const open = (): OpenedObject => openRecord(repository.keys, OBJECT_TYPES.lease, bytes, object);
    opened = await repository.withKeys(open, signal);
  } catch (error) {
    if (error instanceof DestinationError && error.kind === 'not-found') return { ...lease, worth: 'gone' };
    if (damageTo(error) === undefined) throw error;
    // A lease under keys that this program does not know yet may be a right; anyone can store an object that no key opens.
    return { ...lease, worth: unknownGeneration(error) === undefined ? 'none' : 'claim' };
  }
  try {
    const { record, signed, signature } = decodePruneLease(opened.plaintext, object);
    const isMeant = opened.context.equals(leaseContext(PRUNE_PURPOSE, epoch)) && record.epoch === epoch;
    if (!isMeant || !repository.signed('hf1/lease', signed, signature)) return { ...lease, worth: 'claim' };
    const isLate = Math.abs(storedMs - record.seenMs) > LEASE_TIMES.expiry;
    return { ...lease, worth: isLate ? 'stale' : 'right', nonce: record.nonce };
  } catch (error) {
    // A preview wrote it, or a later version.
    if (!(error instanceof RepositoryError)) throw error;
    return { ...lease, worth: 'claim' };
  }
}

/** Whether the lease gives its holder the right to prune, provided that it is alive. */
export function isRight(repository: Repository, { worth }: JudgedLease): boolean {
  return worth === 'right' || (worth === 'claim' && claimsCount(repository));
}

/**
 * Whether a claim counts as the right to prune. Before the first write-only key only those who can sign have the keys
 * to make a claim, so an unsigned lease is by an older version that prunes.
 */
function claimsCount({ keyring }: Repository): boolean {
  return keyring.writeOnly === undefined;
}

export async function judgedLeases(
  repository: Repository,
  signal: AbortSignal,
): Promise<readonly JudgedLease[]> {
  return await judgeAll(repository, await listLeases(repository, PRUNE_PREFIX, signal), signal);
}

/** Judges the leases and returns them in the same order. */
export async function judgeAll(
  repository: Repository,
  leases: readonly StoredLease[],
  signal: AbortSignal,
): Promise<readonly JudgedLease[]> {
  const { maxParallel } = repository.destination.properties;
  return await mapParallel(leases, maxParallel, async (one) => await judgeLease(repository, one, signal));
}

/**
 * The highest plausible epoch: the highest signed one, and unsigned ones above it as far as an older version can have
 * come. An older version notices by a higher epoch that it has lost the right. Others may have planted leases with the
 * highest possible epochs.
 */
export function believedEpoch(leases: readonly JudgedLease[]): number {
  let highest = 0;
  for (const { epoch, worth } of leases)
    if (worth === 'right' || worth === 'stale' || epoch <= highest + 2 * EPOCHS_OF_RIVALS) highest = epoch;
  return highest;
}

export function freeAbove(leases: readonly JudgedLease[], epoch: number): number {
  const taken = new Set(leases.map((one) => one.epoch));
  let free = epoch + 1;
  while (taken.has(free)) free += 1;
  return free;
}

/** The error for a caller that finds the right to prune taken. */
export async function lockedBy(
  repository: Repository,
  lease: StoredLease,
  nowMs: number,
  signal: AbortSignal,
): Promise<RepositoryError> {
  let holder = 'by a process whose lease cannot be read';
  try {
    const { host, pid } = await readLease(repository, lease.purpose, lease.epoch, signal);
    holder = `on ${host} (process ${pid})`;
  } catch (error) {
    if (isAbort(error) || !(error instanceof HoldfastError)) throw error;
  }
  const seconds = Math.max(0, Math.round((nowMs - lease.storedMs) / 1_000));
  const message = `The repository is being pruned ${holder}, last sign of life ${seconds} s ago`;
  return new RepositoryError('REPOSITORY_LOCKED', message, {
    hint: 'Wait for it to finish. A process that died no longer counts five minutes after its last sign of life.',
    retry: 'later',
    details: { epoch: lease.epoch },
  });
}

export function takenMeanwhile(): RepositoryError {
  return new RepositoryError(
    'REPOSITORY_LOCKED',
    'The right to prune was lost: another process took it over',
    {
      hint: 'This process stood still for minutes, for example because the computer was asleep. Nothing is damaged. Run it again.',
      retry: 'later',
    },
  );
}

/**
 * Reads a lease of our own; undefined when it was removed, as others do with one whose holder slept or was held up for
 * too long.
 */
export async function readIfThere(
  repository: Repository,
  { purpose, epoch }: StoredLease,
  signal: AbortSignal,
): Promise<LeaseRecord | undefined> {
  try {
    return await readLease(repository, purpose, epoch, signal);
  } catch (error) {
    if (error instanceof DestinationError && error.kind === 'not-found') return undefined;
    throw error;
  }
}
