/** Random histories, and whether the catalog answers what the trees say: the property of the catalog. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { RepositoryError } from '../../src/base/errors.ts';
import { SnapshotTrees } from '../../src/browse/snapshot-trees.ts';
import { openForWriting, prepareCatalog } from '../../src/catalog/tables/catalog-database.ts';
import { CatalogReader } from '../../src/catalog/answers/catalog-reader.ts';
import { sweep } from '../../src/catalog/ingest/sweep.ts';
import { loadIndex } from '../../src/repository/chunk-index.ts';
import { listSnapshots } from '../../src/repository/snapshots.ts';
import { liveThrough, step, type Step } from './catalog-history.ts';
import { compareAll, compareNewest, compareRows, query } from './catalog-model.ts';
import { memoryRepository } from './hand-made-snapshot.ts';
import { removeTree } from './remove-tree.ts';

const { signal } = new AbortController();

/** Few enough that all ways of making a list are taken. */
const limit = fc.constantFrom(0, 2, 5_000);

export async function judgeCatalogs(numRuns: number): Promise<void> {
  const place = mkdtempSync(join(tmpdir(), 'holdfast-catalog-'));
  let run = 0;
  try {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 2, maxLength: 9 }),
        fc.record({ filtered: limit, below: limit, listed: limit, soon: limit }),
        async (steps, limits) => {
          run += 1;
          const path = join(place, `${run}.db`);
          prepareCatalog(path);
          const reader = new CatalogReader(path, limits);
          try {
            await judge(path, reader, steps);
          } finally {
            reader.close();
          }
        },
      ),
      { numRuns },
    );
  } finally {
    removeTree(place);
  }
}

async function judge(path: string, reader: CatalogReader, steps: readonly Step[]): Promise<void> {
  const repository = await memoryRepository(signal);
  const database = openForWriting(path);
  try {
    // What the reader remembers from before must not show up later.
    await liveThrough(database, repository, steps, () => {
      for (const sort of ['path', 'size'] as const) lookFor(reader, sort);
    });
    const { live } = await listSnapshots(repository, signal);
    const trees = new SnapshotTrees(repository, await loadIndex(repository, { without: new Set() }, signal));
    const contents = await compareAll(reader, trees, live);
    await sweep(database, signal);
    compareRows(database);
    compareNewest(reader, contents);
  } finally {
    database.close();
  }
}

function lookFor(reader: CatalogReader, sort: 'path' | 'size'): void {
  try {
    reader.files(query({ q: 'b', sort, type: 'directory' }));
  } catch (error) {
    // Where the root of a snapshot could not be read so far.
    if (!(error instanceof RepositoryError) || error.code !== 'CORRUPT_DATA') throw error;
  }
}
