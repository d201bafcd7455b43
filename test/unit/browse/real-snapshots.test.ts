import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { archive } from '../../../src/archiver/archive.ts';
import { NO_EXCLUSIONS } from '../../../src/exclude/excluder.ts';
import { SILENT } from '../../../src/archiver/report/observer.ts';
import { bytesOfText } from '../../../src/base/byte-path.ts';
import { treePath } from '../../../src/base/tree-path.ts';
import { fileContent } from '../../../src/browse/cat.ts';
import { diffSnapshots } from '../../../src/browse/diff.ts';
import { findEntries } from '../../../src/browse/find.ts';
import { findPath } from '../../../src/browse/locate.ts';
import { SnapshotTrees } from '../../../src/browse/snapshot-trees.ts';
import { pathVersions } from '../../../src/browse/versions.ts';
import { loadIndex, type ChunkIndex } from '../../../src/repository/chunk-index.ts';
import type { Repository } from '../../../src/repository/repository.ts';
import type { Snapshot } from '../../../src/repository/snapshots.ts';
import { collect } from '../../support/collect.ts';
import { memoryRepository } from '../../support/hand-made-snapshot.ts';
import { seededRandom } from '../../support/seeded-random.ts';

const { signal } = new AbortController();
const random = seededRandom(4_711);

let root: string;
let repository: Repository;
let index: ChunkIndex;
let snapshots: Snapshot[];
let image: Buffer;

async function backUp(isolated = false): Promise<Snapshot> {
  const request = {
    host: 'host',
    user: 'user',
    tool: 'test',
    tags: [],
    pinned: false,
    plain: false,
    workers: 1,
  };
  const { snapshot } = await archive(
    {
      ...request,
      repository,
      sources: [treePath(root)],
      compression: { kind: 'zstd', level: 1 },
      isolated,
      exclude: NO_EXCLUSIONS,
      parent: 'auto',
    },
    SILENT,
    signal,
  );
  return snapshot;
}

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'holdfast-browse-'));
  repository = await memoryRepository(signal);
  mkdirSync(join(root, 'docs'));
  writeFileSync(join(root, 'docs/report.md'), 'first');
  writeFileSync(join(root, 'docs/stays'), 'the same');
  symlinkSync('report.md', join(root, 'docs/link'));
  writeFileSync(join(root, 'big'), random.bytes(3_000_000));
  const first = await backUp();

  writeFileSync(join(root, 'docs/report.md'), 'second');
  rmSync(join(root, 'docs/link'));
  chmodSync(join(root, 'docs/stays'), 0o600);
  // Data, half a megabyte of nothing, data, a hole up to the end.
  image = Buffer.concat([
    random.bytes(900_000),
    Buffer.alloc(524_288),
    random.bytes(70_000),
    Buffer.alloc(1_000_000),
  ]);
  writeFileSync(join(root, 'big'), image.subarray(0, -1_000_000));
  truncateSync(join(root, 'big'), image.length);
  const second = await backUp();

  snapshots = [first, second, await backUp(true)];
  index = await loadIndex(repository, { without: new Set() }, signal);
});

afterAll(() => {
  rmSync(root, { recursive: true, force: true });
});

const at = (path: string) => treePath(join(root, path));

describe('snapshots made by the archiver', () => {
  it('are compared by what happened in between', async () => {
    const trees = new SnapshotTrees(repository, index);
    const [first, second, isolated] = snapshots;
    if (first === undefined || second === undefined || isolated === undefined)
      throw new Error('no snapshots');
    const whole = (snapshot: Snapshot) => ({ snapshot, path: bytesOfText('/') });
    const told = async (left: Snapshot, right: Snapshot): Promise<string[]> => {
      const changes = diffSnapshots(trees, whole(left), whole(right), { directoryTimes: false }, signal);
      return (await collect(changes)).map(({ kind, path }) => `${kind} ${path.slice(root.length)}`);
    };

    expect(await told(first, second)).toEqual([
      'modified /big',
      'removed /docs/link',
      'modified /docs/report.md',
      'metadata /docs/stays',
    ]);
    expect(await told(second, isolated)).toEqual([]);
  });

  it('give back the bytes of a large file with holes, whole and in parts', async () => {
    for (const snapshot of snapshots.slice(1)) {
      const { entry } = await findPath(
        new SnapshotTrees(repository, index).reader(snapshot),
        snapshot,
        at('big'),
        signal,
      );
      if (entry?.type !== 'file') throw new Error('the file is not there');
      expect(entry.holes?.length).toBeGreaterThan(0);
      const read = async (range?: { offset: number; length: number }): Promise<Buffer> =>
        Buffer.concat(await collect(fileContent(repository, index, snapshot, entry, range, signal)));

      expect((await read()).equals(image)).toBe(true);
      expect((await read()).equals(readFileSync(join(root, 'big')))).toBe(true);
      for (let i = 0; i < 20; i += 1) {
        const offset = random.below(image.length);
        const length = random.below(600_000);
        expect((await read({ offset, length })).equals(image.subarray(offset, offset + length))).toBe(true);
      }
    }
  });

  it('are searched, and show the versions of a file', async () => {
    const trees = new SnapshotTrees(repository, index);

    const found = await collect(findEntries(trees, snapshots, { patterns: ['docs/l*', '*.md'] }, {}, signal));
    const versions = await collect(
      pathVersions(trees, snapshots, at('docs/report.md'), 'newest-first', signal),
    );

    expect(found.map(({ snapshot, path }) => [snapshots.indexOf(snapshot), path.slice(root.length)])).toEqual(
      [
        [0, '/docs/link'],
        [0, '/docs/report.md'],
        [1, '/docs/report.md'],
        [2, '/docs/report.md'],
      ],
    );
    expect(versions).toMatchObject([
      { state: 'present', entry: { size: 6 }, snapshots: 2, last: snapshots[2] },
      { state: 'present', entry: { size: 5 }, snapshots: 1, first: snapshots[0] },
    ]);
  });
});
