/** Answers questions over a database connection of its own. Each answer reflects one moment. */
import type { ByteString } from '../../base/byte-path.ts';
import { isFull, isStoredByAny } from '../../base/stored-by.ts';
import {
  newestFirst,
  type AskedPaths,
  type ChangePage,
  type FileItem,
  type FileQuery,
  type NewestRequest,
  type SnapshotRequest,
} from '../../jobs/agent.ts';
import { openForReading, type CatalogDatabase } from '../tables/catalog-database.ts';
import { previewForgetting, type ForgettingPreview, type ForgettingRequest } from './forgetting-preview.ts';
import {
  directoryEntries,
  DirectoryOrder,
  type EntriesPage,
  type EntriesRequest,
} from './directory-entries.ts';
import { findEntry, listFiles, type ListedFiles } from './file-list.ts';
import {
  newestOf,
  prepareVersions,
  searchFiles,
  type FoundFile,
  type FoundFiles,
  type SearchRequest,
} from './file-search.ts';
import { goneFiles, prepareEnded } from './gone-files.ts';
import { prepareHits, type HitQueries } from './hits.ts';
import {
  chooseSnapshots,
  hasSource,
  newestSnapshots,
  requireMadeBy,
  requireSnapshot,
  summaryOf,
  type CatalogSnapshot,
  type Holdings,
  type KnownSnapshot,
  type SnapshotChoice,
} from './known-snapshots.ts';
import { readSnapshots } from './snapshot-rows.ts';
import { LIMITS, type ListSource } from './list-search.ts';
import { NameIndex } from './name-index.ts';
import { prepareOrders, type Orders } from './orders.ts';
import { pathStates, type PathState } from './path-versions.ts';
import { Places } from './places.ts';
import { diffPage } from './snapshot-diff.ts';
import { UnreadDirectories } from './unread-directories.ts';

export interface DiffRequest {
  readonly id: string;
  readonly base: string | undefined;
  readonly limit: number;
  readonly after: string | undefined;
}

export class CatalogReader {
  readonly #database: CatalogDatabase;
  readonly #limits: ListSource['limits'];
  readonly #queries: HitQueries;
  readonly #orders: Orders;
  readonly #places: Places;
  readonly #names: NameIndex;
  readonly #order = new DirectoryOrder();
  readonly #unread: UnreadDirectories;
  readonly #versions: ReturnType<typeof prepareVersions>;
  readonly #ended: ReturnType<typeof prepareEnded>;
  readonly #epoch: string;
  #seen: unknown;
  #snapshots: readonly KnownSnapshot[] = [];

  constructor(path: string, limits = LIMITS) {
    this.#database = openForReading(path);
    this.#limits = limits;
    try {
      this.#queries = prepareHits(this.#database);
      this.#orders = prepareOrders(this.#database, this.#queries);
      this.#places = new Places(this.#database);
      this.#names = new NameIndex(this.#database);
      this.#unread = new UnreadDirectories(this.#database);
      this.#versions = prepareVersions(this.#database);
      this.#ended = prepareEnded(this.#database);
      this.#epoch = String(
        this.#database.prepare(`SELECT value FROM meta WHERE key = 'epoch'`).pluck().get(),
      );
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  files(query: FileQuery, chosen?: readonly string[]): ListedFiles {
    return this.#at((source) => listFiles(source, query, chosen));
  }

  chosen(choice: SnapshotChoice): readonly CatalogSnapshot[] {
    return this.#at(({ snapshots }) => chooseSnapshots(snapshots, choice).map(summaryOf));
  }

  entry(snapshot: string, path: string, leadsTo?: AskedPaths['leadsTo']): FileItem {
    return this.#at((source) => findEntry(source, { snapshot, path, leadsTo }));
  }

  entries(request: EntriesRequest): EntriesPage {
    return this.#at((source) => directoryEntries(source, this.#order, request));
  }

  search(request: SearchRequest): FoundFiles {
    return this.#at((source) =>
      request.isGone && request.q === ''
        ? goneFiles(source, { versions: this.#versions, ended: this.#ended }, request)
        : searchFiles(source, this.#versions, request),
    );
  }

  newestOf(paths: readonly string[], source: string | undefined): readonly FoundFile[] {
    return this.#at((from) => newestOf(from, this.#versions, paths as readonly ByteString[], source));
  }

  states(path: string, source: string | undefined, leadsTo?: AskedPaths['leadsTo']): readonly PathState[] {
    return this.#at((from) => pathStates(this.#database, from, { path, source, leadsTo }));
  }

  diff({ id, base, limit, after }: DiffRequest): ChangePage {
    return this.#at((source) => diffPage(source, id, base, limit, after));
  }

  snapshots({
    source,
    host,
    storedBy = [],
    limit,
    behind,
    leadsTo,
  }: SnapshotRequest): readonly CatalogSnapshot[] {
    return this.#at(({ snapshots }) =>
      snapshots
        .filter(
          (one) =>
            hasSource(one, source, leadsTo) &&
            (host === undefined || one.host === host) &&
            isStoredByAny(one.storedBy, storedBy),
        )
        .filter(
          ({ started, id }) => behind === undefined || newestFirst({ created_at: started, id }, behind) > 0,
        )
        .slice(-limit)
        .toReversed()
        .map(summaryOf),
    );
  }

  newest(request: NewestRequest): readonly CatalogSnapshot[] {
    return this.#at(({ snapshots }) => newestSnapshots(snapshots, request).map(summaryOf));
  }

  holdings(): Holdings {
    return this.#at(({ snapshots }) => ({
      snapshots: snapshots.length,
      bytes: bytesOf(snapshots),
      incomplete: snapshots.filter(({ unreadable }) => unreadable > 0).length,
    }));
  }

  snapshot(id: string): CatalogSnapshot {
    return this.#at(({ snapshots }) => summaryOf(requireSnapshot(snapshots, id)));
  }

  snapshotOfBackup(backupId: string): CatalogSnapshot {
    return this.#at(({ snapshots }) => summaryOf(requireMadeBy(snapshots, backupId)));
  }

  forgetting(request: ForgettingRequest): ForgettingPreview {
    return this.#at(({ snapshots }) => previewForgetting(snapshots, request));
  }

  close(): void {
    this.#database.close();
  }

  #at<T>(answer: (source: ListSource) => T): T {
    return this.#database.transaction(() => {
      this.#look();
      return answer({
        epoch: this.#epoch,
        queries: this.#queries,
        orders: this.#orders,
        places: this.#places,
        names: this.#names,
        snapshots: this.#snapshots,
        unread: this.#unread,
        limits: this.#limits,
      });
    })();
  }

  /** Reads the snapshots again if something was written to the database. */
  #look(): void {
    const seen: unknown = this.#database.pragma('data_version', { simple: true });
    if (seen === this.#seen) return;
    this.#seen = seen;
    this.#snapshots = readSnapshots(this.#database);
    this.#names.outdate();
    this.#order.outdate();
  }
}

/** Sums up the sizes. What snapshots of write-only keys claim is not added to what full keys stored. */
function bytesOf(snapshots: readonly KnownSnapshot[]): number {
  const full = snapshots.filter(({ storedBy }) => isFull(storedBy));
  return (full.length > 0 ? full : snapshots).reduce((sum, { bytes }) => sum + bytes, 0);
}
