/** Brings the catalog up to date with the repository. */
import { textOfBytes } from '../../base/byte-path.ts';
import { isFull } from '../../base/stored-by.ts';
import { SnapshotTrees } from '../../browse/snapshot-trees.ts';
import type { ChunkIndex } from '../../repository/chunk-index.ts';
import { loadForReading } from '../../repository/contents/index-for.ts';
import type { Repository } from '../../repository/repository.ts';
import { listSnapshots, type Snapshot } from '../../repository/snapshots.ts';
import { lastPacks, type LastPacks } from '../../repository/tombstones.ts';
import type { CatalogDatabase } from '../tables/catalog-database.ts';
import { hostClaims, type HostClaim } from './host-claims.ts';
import { ingestTree, type IngestObserver } from './ingest-tree.ts';
import { countOf, note, noteGaps, pendingOf, registerSnapshots, type PendingSnapshot } from './register.ts';
import { SNAPSHOT_STATE, lastOrdinal } from '../tables/schema.ts';
import { sweep, wantsSweep } from './sweep.ts';
import { countLacking, listUnreadAgain } from './unread-trees.ts';
import { VersionWriter } from './version-writer.ts';

/** A directory that could not be read; the catalog has the rest of that snapshot, and takes it in again once it can be. */
export interface UnreadableDirectory {
  readonly snapshotId: string;
  /** Lossy where it is not UTF-8. */
  readonly path: string;
  readonly message: string;
}

/** What could not be read this time. */
interface Unreadable {
  /** The first 1,000. */
  readonly unreadable: readonly UnreadableDirectory[];
  readonly unreadableCount: number;
}

export interface SyncReport extends Unreadable {
  /** Of the repository, those that the catalog knew before among them. */
  readonly snapshots: number;
  /** Of their files, each snapshot counted by itself. */
  readonly bytes: number;
  /** Ids of the snapshots that were taken in. */
  readonly added: readonly string[];
  /** Snapshots that are not there any more. */
  readonly forgotten: number;
  /** Ids of snapshot objects of the repository that cannot be read, so that the catalog knows nothing of them. */
  readonly damagedSnapshots: readonly string[];
  /** Snapshots of the catalog of which something could not be read, this time or before. */
  readonly incomplete: number;
  readonly claims: readonly HostClaim[];
}

export interface SyncProgress {
  readonly snapshotsDone: number;
  readonly snapshotsTotal: number;
  /** Entries gone through in directories that changed. */
  readonly entries: number;
}

const LISTED_UNREADABLE = 1_000;

/**
 * Lists the snapshots, takes in those that are new, or can be read further than before, and removes those that are gone. When it is interrupted, by the
 * signal, an error or the end of the process, the next one goes on where it stopped.
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

/** What a write-only key says of its sizes is not added to what full keys stored. */
function countedBytes(live: readonly Snapshot[]): number {
  const full = live.filter(({ storedBy }) => isFull(storedBy));
  const counted = full.length > 0 ? full : live;
  return counted.reduce((sum, { record }) => sum + record.counts.bytes, 0);
}

function treesOf(repository: Repository, last: LastPacks, signal: AbortSignal): SnapshotTrees {
  let loading: Promise<ChunkIndex> | undefined;
  // Trees that this machine has copies of do without.
  const index = async (): Promise<ChunkIndex> => await (loading ??= loadForReading(repository, last, signal));
  return new SnapshotTrees(repository, index);
}

/** Takes in the trees of snapshots that are listed already. */
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
        unreadable.push({ snapshotId: one.snapshot.id, path: textOfBytes(path), message: error.message });
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
    // What an interrupted run could not read is read again.
    noteGaps(database, ordinal, snapshot.record);
  })();
  const writer = new VersionWriter(database, ordinal, lastOrdinal(lineage));
  try {
    await ingestTree({ snapshot, reader: trees.reader(snapshot), root }, writer, observer, signal);
  } finally {
    // What is done so far is worth keeping, whatever came in between.
    writer.commit();
  }
}

/** From here on the snapshot is seen, and no longer what it replaces. */
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
