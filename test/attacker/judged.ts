/** How the product says who stored a snapshot, and which one is meant by `latest`. */
import { resolveSnapshot, type Snapshot } from '../../src/repository/snapshots.ts';

/** Whether `latest` of a host leaves out what write-only keys stored in its name. */
const LATEST_IS_OF_FULL_KEYS = false;

/** Number of the write-only key; undefined for a full key. */
export function storedBy(snapshot: Snapshot): number | undefined {
  return snapshot.sealedBy;
}

/** @param snapshots of one host, oldest first */
export function latestOf(snapshots: readonly Snapshot[]): Snapshot | undefined {
  return LATEST_IS_OF_FULL_KEYS ? resolveSnapshot(snapshots, 'latest') : undefined;
}
