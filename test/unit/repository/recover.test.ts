import { beforeEach, describe, expect, it } from 'vitest';
import type { Destination } from '../../../src/destination/destination.ts';
import { createMemoryDestination } from '../../../src/destination/memory.ts';
import { loadIndex } from '../../../src/repository/chunk-index.ts';
import { listNamed, packKey } from '../../../src/repository/objects/listing.ts';
import { recover } from '../../../src/repository/check/recover.ts';
import type { Repository } from '../../../src/repository/repository.ts';
import type { Snapshot } from '../../../src/repository/snapshots.ts';
import { memoryRepository } from '../../support/hand-made-snapshot.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { lostFiles, tinyBackup, type TinyTree } from '../../support/tiny-archiver.ts';

const { signal } = new AbortController();
let destination: Destination;
let repository: Repository;
let snapshot: Snapshot;
const random = seededRandom(1);
const tree: TinyTree = { a: random.bytes(50_000), d: { b: random.bytes(70_000) } };

beforeEach(async () => {
  destination = createMemoryDestination();
  repository = await memoryRepository(signal, destination);
  await tinyBackup(repository, { a: tree['a'] ?? {} }, {}, signal);
  snapshot = await tinyBackup(repository, tree, {}, signal);
});

async function names(prefix: Parameters<typeof listNamed>[1]): Promise<string[]> {
  return [...(await listNamed(destination, prefix, signal)).keys()];
}

async function damage(key: string, at: number): Promise<void> {
  const bytes = await destination.get(key, undefined, signal);
  bytes.writeUInt8(bytes.readUInt8(bytes.length + at) ^ 1, bytes.length + at);
  await destination.delete(key, signal);
  await destination.put(key, bytes, signal);
}

describe('recover', () => {
  it('makes a new index from the packs alone and supersedes the old ones without deleting them', async () => {
    const before = await names('index/');
    const report = await recover(repository, signal);
    expect(report).toMatchObject({ packs: 4, superseded: before.length, unreadable: [], keptFromIndex: [] });
    const index = await loadIndex(repository, { without: new Set() }, signal);
    expect(index.indexNames).toEqual(report.written);
    expect(index.uncovered).toEqual([]);
    expect(await names('index/')).toEqual(expect.arrayContaining([...before, ...report.written]));
    expect(await lostFiles(repository, snapshot, tree, signal)).toEqual([]);
  });

  it('needs no index object, and does not mind damaged ones', async () => {
    const [first = '', second = ''] = await names('index/');
    await destination.delete(`index/${first}`, signal);
    await damage(`index/${second}`, -1);
    const report = await recover(repository, signal);
    expect(report).toMatchObject({ packs: 4, superseded: 1, unreadable: [] });
    expect(await lostFiles(repository, snapshot, tree, signal)).toEqual([]);
  });

  it('keeps what an index object says of a pack whose own directory is damaged', async () => {
    const [pack = ''] = await names('packs/');
    await damage(packKey(pack), -40);
    const report = await recover(repository, signal);
    expect(report.keptFromIndex.map(({ name }) => name)).toEqual([pack]);
    expect(report.packs).toBe(4);
    expect(await lostFiles(repository, snapshot, tree, signal)).toEqual([]);
  });

  it('reports packs that nothing describes any more', async () => {
    const [pack = ''] = await names('packs/');
    for (const name of await names('index/')) await destination.delete(`index/${name}`, signal);
    await damage(packKey(pack), -40);
    const report = await recover(repository, signal);
    expect(report.unreadable).toEqual([{ name: pack, reason: expect.stringContaining('directory') }]);
    expect(report.packs).toBe(3);
  });
});
