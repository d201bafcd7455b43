import { DestinationError, RepositoryError } from '../base/errors.ts';
import type { TombstoneRecord } from '../format/records.ts';
import type { Appended } from './chain.ts';
import { LEASE_TIMES, lateSignal } from './lease-objects.ts';
import { putTombstone } from './put-tombstone.ts';
import type { Repository } from './repository.ts';

/** The packs to mark, as fields of a tombstone. */
export type PackMark = Omit<TombstoneRecord, 'kind' | 'places'>;

export interface MarkRights {
  /** Throws a `RepositoryError` when the right to mark is lost, or when what was seen of the repository no longer holds. */
  readonly held: (signal: AbortSignal) => Promise<void>;
  /** The number of this writer's live snapshots. */
  readonly live: number;
}

/**
 * Marks packs as not needed; a prune deletes them after the grace period. The machine may fall asleep at any moment,
 * and before it wakes up others may delete the copies that made the packs redundant. So the right to mark is checked
 * immediately before the tombstone is stored, and again afterwards, since the request itself may be delayed by a sleep.
 * A mark that is no longer right is withdrawn.
 *
 * @returns the name of the tombstone
 * @throws whatever `held` throws
 */
export async function markPacks(
  repository: Repository,
  mark: PackMark,
  { held, live }: MarkRights,
  signal: AbortSignal,
): Promise<string> {
  // Even when the right is lost meanwhile, it must be known whether the mark was stored.
  const late = lateSignal(signal, LEASE_TIMES.release);
  const look = async (): Promise<void> => {
    signal.throwIfAborted();
    await held(signal);
  };
  const stored = await putTombstone(repository, { kind: 'packs', ...mark }, { live, look }, late);
  try {
    await held(late);
  } catch (error) {
    // A destination that does not answer says nothing against the mark; the next prune looks at it again.
    if (error instanceof RepositoryError) await withdraw(repository, mark, stored, live);
    throw error;
  }
  return stored.name;
}

/**
 * Withdraws a mark as a tombstone is retired: a second tombstone, which stays, names it. Unmarking packs is safe
 * whoever prunes at the moment.
 */
async function withdraw(
  repository: Repository,
  { atMs, fence }: PackMark,
  { name, position: { writer, seq } }: Appended,
  live: number,
): Promise<void> {
  const signal = AbortSignal.timeout(LEASE_TIMES.giveUp);
  const places = [{ writer, seq }];
  const record = { kind: 'snapshots' as const, names: [name], places, reason: 'withdrawn', atMs, fence };
  try {
    await putTombstone(repository, record, { live }, signal);
    await repository.destination.delete(`trash/${name}`, signal);
  } catch (cause) {
    if (!signal.aborted) throw cause;
    throw new DestinationError('unreachable', 'The destination does not answer', {
      op: 'withdraw the mark of packs',
      hint: 'Nothing is lost: the next prune checks the packs again.',
      cause,
    });
  }
}
