/** Answers questions from a connection of its own; each answer is of one moment. */
import type { ByteString } from '../base/byte-path.ts';
import type { FileItem, FilePage, FileQuery, FileVersion } from '../jobs/agent.ts';
import { openForReading, type CatalogDatabase } from './catalog-database.ts';
import { previewForgetting, type ForgettingPreview, type ForgettingRequest } from './forgetting-preview.ts';
import {
  directoryEntries,
  DirectoryOrder,
  type EntriesPage,
  type EntriesRequest,
} from './directory-entries.ts';
import { findEntry, listFiles } from './file-list.ts';
import { prepareVersions, searchFiles, type SearchRequest } from './file-search.ts';
import { prepareHits, type HitQueries } from './hits.ts';
import {
  hasSource,
  readSnapshots,
  requireSnapshot,
  summaryOf,
  type CatalogSnapshot,
  type Holdings,
  type KnownSnapshot,
} from './known-snapshots.ts';
import { LIMITS, type ListSource } from './list-search.ts';
import { NameIndex } from './name-index.ts';
import { prepareOrders, type Orders } from './orders.ts';
import { pathVersions } from './path-versions.ts';
import { Places } from './places.ts';
import { diffPage, type DiffPage } from './snapshot-diff.ts';

/** Newest first; `before` is the last id of the page before. */
export interface SnapshotRequest {
  readonly source?: string | undefined;
  readonly limit: number;
  readonly before?: string | undefined;
}

export interface DiffRequest {
  readonly id: string;
  readonly base: string | undefined;
  readonly limit: number;
  readonly after: string | undefined;
}

export class CatalogReader {
  readonly #database: CatalogDatabase;
  readonly #destination: string;
  readonly #limits: ListSource['limits'];
  readonly #queries: HitQueries;
  readonly #orders: Orders;
  readonly #places: Places;
  readonly #names: NameIndex;
  readonly #order = new DirectoryOrder();
  readonly #versions: ReturnType<typeof prepareVersions>;
  readonly #epoch: string;
  #seen: unknown;
  #snapshots: readonly KnownSnapshot[] = [];

  /** @param destination the name under which summaries tell where a snapshot is */
  constructor(path: string, destination: string, limits = LIMITS) {
    this.#database = openForReading(path);
    this.#destination = destination;
    this.#limits = limits;
    this.#queries = prepareHits(this.#database);
    this.#orders = prepareOrders(this.#database, this.#queries);
    this.#places = new Places(this.#database);
    this.#names = new NameIndex(this.#database);
    this.#versions = prepareVersions(this.#database);
    this.#epoch = String(this.#database.prepare(`SELECT value FROM meta WHERE key = 'epoch'`).pluck().get());
  }

  files(query: FileQuery): FilePage {
    return this.#at((source) => listFiles(source, query));
  }

  entry(snapshot: string, path: string): FileItem {
    return this.#at((source) => findEntry(source, snapshot, path));
  }

  entries(request: EntriesRequest): EntriesPage {
    return this.#at((source) => directoryEntries(source, this.#order, request));
  }

  search(request: SearchRequest): FilePage {
    return this.#at((source) => searchFiles(source, this.#versions, request));
  }

  versions(path: string, source: string | undefined): readonly FileVersion[] {
    return this.#at(({ snapshots }) =>
      pathVersions(this.#database, this.#places, snapshots, path as ByteString, source),
    );
  }

  diff({ id, base, limit, after }: DiffRequest): DiffPage {
    return this.#at((source) => diffPage(source, id, base, limit, after));
  }

  snapshots({ source, limit, before }: SnapshotRequest): readonly CatalogSnapshot[] {
    return this.#at(({ snapshots }) => {
      const end =
        before === undefined ? snapshots.length : snapshots.indexOf(requireSnapshot(snapshots, before));
      return snapshots
        .slice(0, end)
        .filter((one) => hasSource(one, source))
        .slice(-limit)
        .toReversed()
        .map((one) => summaryOf(one, this.#destination));
    });
  }

  holdings(): Holdings {
    return this.#at(({ snapshots }) => ({
      snapshots: snapshots.length,
      bytes: snapshots.reduce((sum, { bytes }) => sum + bytes, 0),
    }));
  }

  snapshot(id: string): CatalogSnapshot {
    return this.#at(({ snapshots }) => summaryOf(requireSnapshot(snapshots, id), this.#destination));
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
        limits: this.#limits,
      });
    })();
  }

  /** Reads the snapshots again when something was written. */
  #look(): void {
    const seen: unknown = this.#database.pragma('data_version', { simple: true });
    if (seen === this.#seen) return;
    this.#seen = seen;
    this.#snapshots = readSnapshots(this.#database);
    this.#names.outdate();
    this.#order.outdate();
  }
}
