import type { ByteString } from '../base/byte-path.ts';
import { isNarrowed } from '../base/job-tag.ts';
import { countedMs, storeKey } from '../base/stored-by.ts';
import type { Snapshot } from '../repository/snapshots.ts';
import type { EntrySummary } from './entries.ts';
import type { Found } from './find.ts';

/** One state of a path, and the snapshots in which it was found. */
export interface FoundVersion {
  readonly path: ByteString;
  readonly entry: EntrySummary;
  /** The oldest and the newest of these snapshots. */
  readonly first: Snapshot;
  readonly last: Snapshot;
  readonly snapshots: number;
}

/**
 * Merges the results of a search: those with the same path, type, size, time, mode and link target, in snapshots stored
 * with full keys or with the same write-only key, become one version. Sorted by path, and the versions of each path
 * from the oldest to the newest. All are held in memory at once.
 */
export async function foundVersions(found: AsyncIterable<Found>): Promise<readonly FoundVersion[]> {
  const byPath = new Map<ByteString, FoundVersion[]>();
  for await (const { path, entry, snapshot } of found) {
    const versions = byPath.get(path) ?? [];
    if (versions.length === 0) byPath.set(path, versions);
    const at = versions.findIndex(
      (version) => looksSame(version.entry, entry) && isOneGroup(version.last, snapshot),
    );
    const known = versions[at];
    if (known === undefined) versions.push({ path, entry, first: snapshot, last: snapshot, snapshots: 1 });
    else versions[at] = withSnapshot(known, snapshot, entry);
  }
  return [...byPath]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([, versions]) => versions.sort((a, b) => timeOf(a.first) - timeOf(b.first)));
}

/**
 * Of these versions the newest ones of paths that the newest snapshot of their source no longer has.
 * @param searched all snapshots in which the search looked at everything
 */
export function deletedVersions(
  versions: readonly FoundVersion[],
  searched: readonly Snapshot[],
): ReadonlySet<FoundVersion> {
  const newest = new Map<string, Snapshot>();
  for (const snapshot of searched) {
    if (isNarrowed(snapshot.record.tags)) continue;
    const known = newest.get(sourceKey(snapshot));
    if (known === undefined || timeOf(known) <= timeOf(snapshot)) newest.set(sourceKey(snapshot), snapshot);
  }
  const deleted = new Set<FoundVersion>();
  for (const ofPath of Map.groupBy(versions, ({ path }) => path).values()) {
    const last = ofPath.reduce((a, b) => (timeOf(b.last) >= timeOf(a.last) ? b : a));
    const now = newest.get(sourceKey(last.last));
    if (now !== undefined && timeOf(now) > timeOf(last.last)) deleted.add(last);
  }
  return deleted;
}

function sourceKey({ storedBy, record }: Snapshot): string {
  return JSON.stringify([storeKey(storedBy), record.host, record.paths.toSorted()]);
}

function timeOf({ storedBy, record: { startedMs }, storedMs }: Snapshot): number {
  return countedMs(storedBy, { startedMs, storedMs });
}

function isOneGroup(a: Snapshot, b: Snapshot): boolean {
  return storeKey(a.storedBy) === storeKey(b.storedBy);
}

function looksSame(a: EntrySummary, b: EntrySummary): boolean {
  return (
    a.type === b.type &&
    a.size === b.size &&
    a.mtimeNs === b.mtimeNs &&
    a.mode === b.mode &&
    a.target === b.target
  );
}

/** For a directory, whose content may differ, the newest entry is kept. */
function withSnapshot(version: FoundVersion, snapshot: Snapshot, entry: EntrySummary): FoundVersion {
  const atMs = timeOf(snapshot);
  const isNewest = atMs >= timeOf(version.last);
  return {
    path: version.path,
    entry: isNewest ? entry : version.entry,
    first: atMs < timeOf(version.first) ? snapshot : version.first,
    last: isNewest ? snapshot : version.last,
    snapshots: version.snapshots + 1,
  };
}
