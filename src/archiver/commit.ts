import { listNamed } from '../repository/listing.ts';
import type { ChunkIndex } from '../repository/chunk-index.ts';
import type { Repository } from '../repository/repository.ts';
import type { SnapshotList } from '../repository/snapshots.ts';
import { readTombstones } from '../repository/tombstones.ts';
import type { Parent } from './parent.ts';

/** A pack this run relies on went away before the commit: the run starts again and stores those chunks itself. */
export class ReliedPackGone extends Error {
  override readonly name = 'ReliedPackGone';
}

/**
 * Just before the commit: every pack that chunks were found in must still be listed with its length and carry no
 * tombstone, and the parent, whose subtrees were taken over unseen, must still be a live snapshot.
 *
 * @throws {ReliedPackGone}
 */
export async function requireRelied(
  repository: Repository,
  index: ChunkIndex,
  parent: Parent | undefined,
  signal: AbortSignal,
): Promise<void> {
  const listed = await listNamed(repository.destination, 'packs/', signal);
  const tombstones = await readTombstones(repository, signal);
  for (const number of index.table.reliedPacks()) {
    const pack = index.packs[number];
    if (pack === undefined) continue;
    if (listed.get(pack.name)?.size !== pack.length || tombstones.packs.has(pack.name)) {
      throw new ReliedPackGone(pack.name);
    }
  }
  if (parent === undefined) return;
  const { id } = parent.snapshot;
  const present = await listNamed(repository.destination, 'snapshots/', signal);
  if (!present.has(id) || tombstones.snapshots.has(id)) throw new ReliedPackGone(`snapshot ${id}`);
}

/** Live snapshots of this writer, for the head. */
export function liveCount(repository: Repository, snapshots: SnapshotList): number {
  return snapshots.live.filter((one) => one.chain.writer === repository.writer.memory.writer).length;
}
