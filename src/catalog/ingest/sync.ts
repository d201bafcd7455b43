/** Brings the catalog up to date with the repository. */
import { textOfBytes } from '../../base/byte-path.ts';
import { countedMs, isFull, type StoredBy, storeKey } from '../../base/stored-by.ts';
import { pathText } from '../../base/tree-path.ts';
import { SnapshotTrees } from '../../browse/snapshot-trees.ts';
import type { ChunkIndex } from '../../repository/chunk-index.ts';
import { loadForReading } from '../../repository/contents/index-for.ts';
import type { Repository } from '../../repository/repository.ts';
import { listSnapshots, type Snapshot } from '../../repository/snapshots.ts';
import { lastPacks, type LastPacks } from '../../repository/tombstones.ts';
import type { CatalogDatabase } from '../tables/catalog-database.ts';
import { lastOrdinal, SNAPSHOT_STATE } from '../tables/schema.ts';
import { type IngestObserver, ingestTree } from './ingest-tree.ts';
import { countOf, note, noteGaps, pendingOf, type PendingSnapshot, registerSnapshots } from './register.ts';
import { sweep, wantsSweep } from './sweep.ts';
import { countLacking, listUnreadAgain } from './unread-trees.ts';
import { VersionWriter } from './version-writer.ts';

/** A directory that could not be read. The catalog has the rest of its snapshot, and takes that in again once it can be read. */
export interface UnreadableDirectory {
  readonly snapshotId: string;
  /** Lossy where it is not UTF-8. */
  readonly path: string;
  readonly message: string;
}

/** What this run could not read. */
interface Unreadable {
  /** The first 1,000 directories that could not be read. */
  readonly unreadable: readonly UnreadableDirectory[];
  readonly unreadableCount: number;
}

export interface SyncReport extends Unreadable {
  /** Snapshots of the repository, including those that the catalog knew before. */
  readonly snapshots: number;
  /** Bytes of their files, each snapshot counted separately. */
  readonly bytes: number;
  /** Ids of the snapshots that were taken in. */
  readonly added: readonly string[];
  /** Snapshots that are gone from the repository. */
  readonly forgotten: number;
  /** Ids of snapshot objects that cannot be read, so that the catalog knows nothing about them. */
  readonly damagedSnapshots: readonly string[];
  /** Snapshots of the catalog that could not be read completely, this time or before. */
  readonly incomplete: number;
  readonly claims: readonly HostClaim[];
}

export interface SyncProgress {
  readonly snapshotsDone: number;
  readonly snapshotsTotal: number;
  /** Entries processed in directories that changed. */
  readonly entries: number;
}

const LISTED_UNREADABLE = 1_000;

/**
 * Lists the snapshots, takes in those that are new or have become readable further than before, and removes those that
 * are gone. If a run is interrupted by the signal, an error or the end of the process, the next one continues where it
 * stopped.
 */
export async function syncCatalog(
  database: CatalogDatabase,
  repository: Repository,
  onProgress: (progress: SyncProgress) => void,
  signal: AbortSignal,
): Promise<SyncReport> {
  const { live, damaged, tombstones } = await listSnapshots(repository, signal);
  const { forgotten } = registerSnapshots(database, live);
  const trees = treesOf(repository, lastPacks(tombstones), signal);
  await listUnreadAgain(database, repository, trees, live, signal);
  const pending = pendingOf(database, live);
  const taken = await takeIn(database, trees, pending, onProgress, signal);
  if (wantsSweep(database)) await sweep(database, signal);
  return {
    snapshots: live.length,
    bytes: countedBytes(live),
    added: pending.map(({ snapshot }) => snapshot.id),
    forgotten,
    damagedSnapshots: damaged.map(({ id }) => id),
    incomplete: countLacking(database),
    claims: hostClaims(live),
    ...taken,
  };
}

/** Sums up the sizes. What snapshots of write-only keys claim is not added to what full keys stored. */
function countedBytes(live: readonly Snapshot[]): number {
  const full = live.filter(({ storedBy }) => isFull(storedBy));
  const counted = full.length > 0 ? full : live;
  return counted.reduce((sum, { record }) => sum + record.counts.bytes, 0);
}

function treesOf(repository: Repository, last: LastPacks, signal: AbortSignal): SnapshotTrees {
  let loading: Promise<ChunkIndex> | undefined;
  // Loaded on first use: trees of which this machine has copies do not need the index.
  const index = async (): Promise<ChunkIndex> => await (loading ??= loadForReading(repository, last, signal));
  return new SnapshotTrees(repository, index);
}

/** Takes in the trees of snapshots that are already listed. */
export async function takeIn(
  database: CatalogDatabase,
  trees: Pick<SnapshotTrees, 'reader'>,
  pending: readonly PendingSnapshot[],
  onProgress: (progress: SyncProgress) => void,
  signal: AbortSignal,
): Promise<Unreadable> {
  const unreadable: UnreadableDirectory[] = [];
  let unreadableCount = 0;
  let entries = 0;
  for (const [snapshotsDone, one] of pending.entries()) {
    const observer: IngestObserver = {
      onEntries: (count) => {
        entries += count;
        onProgress({ snapshotsDone, snapshotsTotal: pending.length, entries });
      },
      onUnreadable: (path, error) => {
        unreadableCount += 1;
        if (unreadable.length >= LISTED_UNREADABLE) return;
        unreadable.push({ snapshotId: one.snapshot.id, path: pathText(path), message: error.message });
      },
    };
    await ingest(database, trees, one, observer, signal);
    complete(database, one.ordinal);
  }
  return { unreadable, unreadableCount };
}

async function ingest(
  database: CatalogDatabase,
  trees: Pick<SnapshotTrees, 'reader'>,
  { snapshot, ordinal, lineage, root }: PendingSnapshot,
  observer: IngestObserver,
  signal: AbortSignal,
): Promise<void> {
  database.transaction(() => {
    database.prepare('UPDATE snapshot SET state = ? WHERE ordinal = ?').run(SNAPSHOT_STATE.begun, ordinal);
    // The gaps that an interrupted run noted are dropped, as those directories are read again.
    noteGaps(database, ordinal, snapshot.record);
  })();
  const writer = new VersionWriter(database, ordinal, lastOrdinal(lineage));
  try {
    await ingestTree({ snapshot, reader: trees.reader(snapshot), root }, writer, observer, signal);
  } finally {
    // Commits what is done so far, whatever ended the run.
    writer.commit();
  }
}

/** Makes the snapshot visible instead of the one that it replaces. */
function complete(database: CatalogDatabase, ordinal: number): void {
  database.transaction(() => {
    const replaced = database
      .prepare<[number], number | null>('SELECT replaces FROM snapshot WHERE ordinal = ?')
      .pluck()
      .get(ordinal);
    if (typeof replaced === 'number') {
      database.prepare('DELETE FROM snapshot WHERE ordinal = ?').run(replaced);
      database.prepare('DELETE FROM gap WHERE ordinal = ?').run(replaced);
      note(database, 'forgotten', countOf(database, 'forgotten') + 1);
    }
    database
      .prepare<[number]>(
        `UPDATE snapshot SET state = ${SNAPSHOT_STATE.complete}, replaces = NULL,
           unreadable = (SELECT count(*) FROM gap g WHERE g.ordinal = snapshot.ordinal AND g.damaged = 1)
         WHERE ordinal = ?`,
      )
      .run(ordinal);
  })();
}

/** What one key stored under one host name. */
export interface HostClaim {
  readonly storedBy: StoredBy;
  readonly host: string;
  /** When the first of them is taken to have been made, in milliseconds since 1970. */
  readonly firstMs: number;
  /** The one that was made last. */
  readonly newest: { readonly id: string; readonly atMs: number };
  /** Sets of source paths; not necessarily all. */
  readonly sources: readonly string[];
}

const SOURCES_KEPT = 100;

/**
 * Collects which keys stored snapshots in the name of which host, as far as the snapshots say it.
 * @param live oldest first
 */
export function hostClaims(live: readonly Snapshot[]): readonly HostClaim[] {
  const claims = new Map<string, HostClaim>();
  for (const { id, record, storedBy, storedMs } of live) {
    const name = JSON.stringify([storeKey(storedBy), record.host]);
    const known = claims.get(name);
    const atMs = countedMs(storedBy, { startedMs: record.startedMs, storedMs });
    const source = record.paths.map(textOfBytes).toSorted().join(', ');
    const sources = known?.sources ?? [];
    claims.set(name, {
      storedBy,
      host: record.host,
      firstMs: Math.min(atMs, known?.firstMs ?? atMs),
      newest: { id, atMs },
      sources: sources.includes(source) || sources.length >= SOURCES_KEPT ? sources : [...sources, source],
    });
  }
  return [...claims.values()];
}
