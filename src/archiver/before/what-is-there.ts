import type { ChunkIndex } from '../../repository/chunk-index.ts';
import { loadForWriting } from '../../repository/contents/index-for.ts';
import { loadLedger } from '../../repository/ledger.ts';
import type { Repository } from '../../repository/repository.ts';
import { listSnapshots, type SnapshotList } from '../../repository/snapshots.ts';
import { readTombstones } from '../../repository/tombstones.ts';

/**
 * What a run can build on: all snapshots and chunks. With a write-only key, no snapshots, and only the chunks that this
 * machine has stored itself. Chunks of packs that are about to be deleted count as absent.
 * @param options as for `listSnapshots`; `damaged` packs count as absent, too
 */
export async function whatIsThere(
  repository: Repository,
  signal: AbortSignal,
  options: { readonly remembered?: boolean; readonly damaged?: ReadonlySet<string> } = {},
): Promise<{ readonly snapshots: SnapshotList; readonly index: ChunkIndex }> {
  if (repository.isWriteOnly) {
    const tombstones = await readTombstones(repository, signal);
    const index = await loadLedger(repository, tombstones.packs, signal);
    return { snapshots: { live: [], damaged: [], forgotten: [], tombstones }, index };
  }
  const { damaged = new Set(), ...listing } = options;
  const snapshots = await listSnapshots(repository, signal, listing);
  const { packs: marked } = snapshots.tombstones;
  const index = await loadForWriting(repository, new Set([...marked, ...damaged]), signal);
  return { snapshots, index };
}
