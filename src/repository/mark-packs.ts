import { DestinationError, RepositoryError } from '../base/errors.ts';
import type { TombstoneRecord } from '../format/records.ts';
import type { Appended } from './chain.ts';
import { LEASE_TIMES, lateSignal } from './lease-objects.ts';
import { putTombstone } from './put-tombstone.ts';
import type { Repository } from './repository.ts';

/** Packs to mark, in what a tombstone of them says. */
export type PackMark = Omit<TombstoneRecord, 'kind' | 'places'>;

export interface MarkRights {
  /** Throws a `RepositoryError` when what was seen of the repository no longer counts. */
  readonly held: (signal: AbortSignal) => Promise<void>;
  /** The number of this writer's live snapshots. */
  readonly live: number;
}

/**
 * Marks packs as not needed; a prune deletes them after the grace period. The machine may fall asleep at any moment, and
 * others may delete the copies that made the packs needless before it wakes up. So the right to mark is looked at
 * immediately before the tombstone is stored, and again afterwards, since a request, too, may be sent only then: a mark
 * that is no longer right is withdrawn.
 *
 * @returns the name of the tombstone
 * @throws what `held` throws
 */
export async function markPacks(
  repository: Repository,
  mark: PackMark,
  { held, live }: MarkRights,
  signal: AbortSignal,
): Promise<string> {
  // Whoever loses the right meanwhile has to know whether the mark was stored.
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

/** As whoever retires a tombstone: another one names it, and stays. To unmark packs harms nobody, whoever prunes now. */
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
      hint: 'Nothing is lost: the next prune looks at the packs again.',
      cause,
    });
  }
}
