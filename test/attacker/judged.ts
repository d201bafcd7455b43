/** How the product says who stored a snapshot, and which one is meant by `latest`. */
import { isFull } from '../../src/base/stored-by.ts';
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
