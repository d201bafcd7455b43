/** Stores a snapshot again, with other tags or under newer keys, to replace the existing one. */
import { RepositoryError } from '../../base/errors.ts';
import { holdfastThere } from '../../base/holdfast-command.ts';
import { replacedReason, type SnapshotRecord, type TombstoneRecord } from '../../format/records.ts';
import { leaveCopiedIdentity } from '../chain.ts';
import { ForgottenMeanwhile } from '../forgotten-meanwhile.ts';
import { LEASE_TIMES, lateSignal } from '../lease-objects.ts';
import { putTombstone } from '../put-tombstone.ts';
import type { Repository } from '../repository.ts';
import { commitSnapshot, forgetSnapshots, listSnapshots, recordAgain, type Snapshot } from '../snapshots.ts';
import { isWhole } from '../check/whole-snapshot.ts';

export interface Replacement {
  readonly old: Snapshot;
  readonly record: SnapshotRecord;
  /** The new snapshot, if a run that died had stored it but not yet forgotten the old one. */
  readonly twin?: Snapshot | undefined;
  readonly forgotten: ForgottenMeanwhile;
  /** The number of this writer's live snapshots before the change. */
  readonly own: number;
  /** Epoch of the prune lease, 0 without one. */
  readonly fence: number;
  /** Throws when the right to make the change is lost. */
  readonly held?: (signal: AbortSignal) => Promise<void>;
}

/**
 * Stores the new snapshot, then forgets the old one; in between both exist. The machine may fall asleep at any moment,
 * and before it wakes up others may have forgotten the old one and pruned data that both need. So this is checked
 * immediately before the new snapshot is stored, and again afterwards, since the request itself may be delayed by a
 * sleep. A new snapshot whose predecessor was removed in the meantime is forgotten at once.
 *
 * @throws {RepositoryError} SNAPSHOT_NOT_FOUND when others have forgotten the old one meanwhile; whatever `held` throws
 */
export async function replaceSnapshot(
  repository: Repository,
  { old, record, twin, forgotten, own, fence, held }: Replacement,
  signal: AbortSignal,
): Promise<Snapshot> {
  // After an abort, or when the right is lost, what was stored still has to be settled, also on a slow destination.
  const late = lateSignal(signal, LEASE_TIMES.giveUp);
  const look = async (): Promise<void> => {
    signal.throwIfAborted();
    await held?.(signal);
    if (await forgotten.includes(old.id, signal)) throw removedMeanwhile(old.id);
  };
  if (twin !== undefined) await look();
  const stored = twin ?? (await commitSnapshot(repository, record, { live: own + 1, look }, late));
  const { writer } = repository.writer.memory;
  const live = own + (twin === undefined ? 1 : 0) - (old.chain.writer === writer ? 1 : 0);
  const tombstone: TombstoneRecord = {
    kind: 'snapshots',
    names: [old.id],
    places: [old.chain],
    reason: replacedReason(stored.id),
    replacedBy: stored.id,
    atMs: repository.clock.now(),
    fence,
  };
  forgotten.passOver((await putTombstone(repository, tombstone, { live }, late)).name);
  if (!(await forgotten.includes(old.id, late))) return stored;
  // Another host has replaced the old snapshot too, by this or another one: both replacements stay, rather than none.
  if (forgotten.isReplaced(old.id)) return stored;
  if (forgotten.isUnexplained(old.id) && (await isWhole(repository, stored, late))) return stored;
  // The host that forgot the old snapshot did not know of the new one, so that is forgotten as well.
  await forgetSnapshots(repository, [stored.id], 'forgotten while it was being stored again', late);
  throw removedMeanwhile(old.id);
}

function removedMeanwhile(id: string): RepositoryError {
  return new RepositoryError('SNAPSHOT_NOT_FOUND', `Snapshot ${id} was removed in the meantime`, {
    hint: `List the snapshots with: ${holdfastThere`snapshots`}`,
  });
}

/**
 * Stores a snapshot anew with other tags or another pin.
 * @throws {RepositoryError} SNAPSHOT_NOT_FOUND when others have forgotten it meanwhile
 */
export async function rewriteSnapshot(
  repository: Repository,
  snapshot: Snapshot,
  changes: { readonly tags?: readonly string[]; readonly pinned?: boolean },
  signal: AbortSignal,
): Promise<Snapshot> {
  const { live, tombstones } = await listSnapshots(repository, signal);
  if (tombstones.snapshots.has(snapshot.id)) throw removedMeanwhile(snapshot.id);
  const old = live.find(({ id }) => id === snapshot.id) ?? snapshot;
  await leaveCopiedIdentity(repository, live, signal);
  const own = live.filter((one) => one.chain.writer === repository.writer.memory.writer).length;
  const record: SnapshotRecord = { ...recordAgain(old, repository.clock.now()), ...changes };
  const forgotten = new ForgottenMeanwhile(repository, tombstones);
  return await replaceSnapshot(repository, { old, record, forgotten, own, fence: 0 }, signal);
}
