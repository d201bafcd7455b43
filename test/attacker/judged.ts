/** How the product says who stored a snapshot, and which one is meant by `latest`. */
import { isFull } from '../../src/base/stored-by.ts';
import type { ChunkIndex } from '../../src/repository/chunk-index.ts';
import { loadForReading } from '../../src/repository/contents/index-for.ts';
import type { Repository } from '../../src/repository/repository.ts';
import { lastPacks, readTombstones } from '../../src/repository/tombstones.ts';
import { resolveSnapshot } from '../../src/repository/resolve-snapshot.ts';
import type { Snapshot } from '../../src/repository/snapshots.ts';

/** Number of the write-only key; undefined for a full key. */
export function storedBy(snapshot: Snapshot): number | undefined {
  return isFull(snapshot.storedBy) ? undefined : snapshot.storedBy.number;
}

/** @param snapshots of one host, oldest first, one of a full key among them */
export function latestOf(snapshots: readonly Snapshot[]): Snapshot {
  return resolveSnapshot(snapshots, 'latest');
}

/** The index that every reader of the product uses: packs that are marked, damaged ones among them, come last. */
export async function readingIndex(repository: Repository, signal: AbortSignal): Promise<ChunkIndex> {
  return await loadForReading(repository, lastPacks(await readTombstones(repository, signal)), signal);
}
