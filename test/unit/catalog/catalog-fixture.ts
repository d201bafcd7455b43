/** A catalog of hand-made snapshots, without threads. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  openForWriting,
  prepareCatalog,
  type CatalogDatabase,
} from '../../../src/catalog/tables/catalog-database.ts';
import { CatalogReader } from '../../../src/catalog/answers/catalog-reader.ts';
import { syncCatalog, type SyncReport } from '../../../src/catalog/ingest/sync.ts';
import type { SnapshotRecord } from '../../../src/format/records.ts';
import type { FileQuery } from '../../../src/jobs/agent.ts';
import type { Repository } from '../../../src/repository/repository.ts';
import type { Snapshot } from '../../../src/repository/snapshots.ts';
import {
  handMadeSnapshot,
  memoryRepository,
  type HandMadeDirectory,
} from '../../support/hand-made-snapshot.ts';
import { removeTree } from '../../support/remove-tree.ts';

export const { signal } = new AbortController();

export interface Fixture extends Disposable {
  readonly path: string;
  readonly repository: Repository;
  readonly database: CatalogDatabase;
  readonly reader: CatalogReader;
  /** Each an hour after the one before. */
  commit(root: HandMadeDirectory, record?: Partial<SnapshotRecord>): Promise<Snapshot>;
  sync(): Promise<SyncReport>;
  count(table: string): number;
}

export async function openFixture(): Promise<Fixture> {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-catalog-'));
  const path = join(directory, 'catalog.db');
  prepareCatalog(path);
  const database = openForWriting(path);
  const reader = new CatalogReader(path);
  const repository = await memoryRepository(signal);
  let hours = 0;
  return {
    path,
    repository,
    database,
    reader,
    commit: async (root, record = {}) => {
      hours += 1;
      return await handMadeSnapshot(repository, root, { startedMs: hours * 3_600_000, ...record }, signal);
    },
    sync: async () => await syncCatalog(database, repository, () => undefined, signal),
    count: (table) => Number(database.prepare(`SELECT count(*) FROM ${table}`).pluck().get()),
    [Symbol.dispose]: () => {
      reader.close();
      database.close();
      removeTree(directory);
    },
  };
}

export function query(parts: Partial<FileQuery> = {}): FileQuery {
  return { snapshot: 'latest', view: 'flat', sort: 'path', limit: 100, ...parts };
}

export function shownPaths(fixture: Fixture, parts: Partial<FileQuery> = {}): readonly string[] {
  return fixture.reader.files(query(parts)).items.map(({ path }) => path);
}
