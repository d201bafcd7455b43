import { describe, expect, it, vi } from 'vitest';
import { asByteString } from '../../../src/base/byte-path.ts';
import { SnapshotTrees } from '../../../src/browse/snapshot-trees.ts';
import { pathVersions, type VersionOrder } from '../../../src/browse/versions.ts';
import type { SnapshotRecord } from '../../../src/format/records.ts';
import { loadIndex } from '../../../src/repository/chunk-index.ts';
import { listNamed } from '../../../src/repository/objects/listing.ts';
import type { Repository } from '../../../src/repository/repository.ts';
import type { Snapshot } from '../../../src/repository/snapshots.ts';
import { TreeReader } from '../../../src/repository/contents/tree-reader.ts';
import { collect } from '../../support/collect.ts';
import {
  HAND_MADE_NS,
  directory,
  file,
  handMadeSnapshot,
  memoryRepository,
  type HandMadeDirectory,
  type HandMadeNode,
} from '../../support/hand-made-snapshot.ts';

const { signal } = new AbortController();

type Made = readonly [root: HandMadeDirectory, record?: Partial<SnapshotRecord>];

async function commitAll(made: readonly Made[], repository: Repository): Promise<Snapshot[]> {
  const snapshots = [];
  for (const [i, [root, record]] of made.entries()) {
    snapshots.push(await handMadeSnapshot(repository, root, { startedMs: i, ...record }, signal));
  }
  return snapshots;
}

/** `<state> <first>-<last> (<number of snapshots>)`, the snapshots by number. */
async function versions(
  made: readonly Made[],
  path: string,
  order: VersionOrder = 'oldest-first',
  without: (repository: Repository) => Promise<ReadonlySet<string>> = async () => new Set(),
): Promise<string[]> {
  const repository = await memoryRepository(signal);
  const lost = await without(repository);
  const snapshots = await commitAll(made, repository);
  const trees = new SnapshotTrees(repository, await loadIndex(repository, { without: lost }, signal));
  const told = [];
  for await (const version of pathVersions(trees, snapshots, asByteString(path), order, signal)) {
    const detail =
      version.state === 'present' && version.entry.type === 'file'
        ? ` ${version.entry.size}`
        : version.state === 'failed'
          ? ` ${version.problem.code}`
          : '';
    const [first, last] = [snapshots.indexOf(version.first), snapshots.indexOf(version.last)];
    told.push(`${version.state}${detail} ${first}-${last} (${version.snapshots})`);
  }
  return told;
}

const at = (node: HandMadeNode | undefined): HandMadeDirectory =>
  directory({ home: directory({ u: directory(node === undefined ? {} : { f: node }) }) });

const life: readonly Made[] = [
  [at(undefined)],
  [at(file('1'))],
  [at(file('1'))],
  [at(file('12'))],
  [at(file('12', { mode: 0o600 }))],
  [at(undefined)],
  [at(undefined)],
  [at(file('12', { mode: 0o600 }))],
];

describe('pathVersions', () => {
  it('tells each version once, with the snapshots that have it, and when there was none', async () => {
    expect(await versions(life, '/home/u/f')).toEqual([
      'absent 0-0 (1)',
      'present 1 1-2 (2)',
      'present 2 3-3 (1)',
      'present 2 4-4 (1)',
      'absent 5-6 (2)',
      'present 2 7-7 (1)',
    ]);
  });

  it('tells the newest first when asked to', async () => {
    expect(await versions(life, '/home/u/f', 'newest-first')).toEqual(
      (await versions(life, '/home/u/f')).toReversed(),
    );
  });

  it('takes another time or content of the same length as another version, and other owners as the same', async () => {
    expect(
      await versions(
        [
          [at(file('a'))],
          [at(file('a', { mtimeNs: HAND_MADE_NS + 1n }))],
          [at(file('b', { mtimeNs: HAND_MADE_NS + 1n }))],
        ],
        '/home/u/f',
      ),
    ).toHaveLength(3);
    expect(await versions([[at(file('a'))], [at(file('a', { uid: 0, inode: 9 }))]], '/home/u/f')).toEqual([
      'present 1 0-1 (2)',
    ]);
  });

  it('takes a directory as changed when something below it changed', async () => {
    expect(await versions(life.slice(1, 4), '/home')).toEqual(['present 0-1 (2)', 'present 2-2 (1)']);
  });

  it('passes over snapshots of other places', async () => {
    const made: Made[] = [
      [at(file('1'))],
      [directory({ etc: directory({}) }), { paths: [asByteString('/etc')] }],
      [at(file('1')), { paths: [asByteString('/home/u')] }],
      [at(undefined), { paths: [asByteString('/home/u')] }],
    ];

    expect(await versions(made, '/home/u/f')).toEqual(['present 1 0-2 (2)', 'absent 3-3 (1)']);
    expect(await versions(made, '/srv')).toEqual(['absent 0-0 (1)']);
  });

  it('does not take a file for deleted that could not be read at the time', async () => {
    const failed = { errors: [{ path: asByteString('/home/u'), code: 'EACCES', message: 'denied' }] };

    expect(
      await versions([[at(file('1'))], [at(undefined), failed], [at(undefined), failed]], '/home/u/f'),
    ).toEqual(['present 1 0-0 (1)', 'failed EACCES 1-2 (2)']);
  });

  it('does so too where more could not be read than a snapshot lists', async () => {
    const more = { errorsMore: 1 };

    expect(
      await versions([[at(file('1'))], [at(undefined), more], [at(file('1'))], [at(undefined)]], '/home/u/f'),
    ).toEqual(['present 1 0-2 (2)', 'absent 3-3 (1)']);
  });

  it('says where a snapshot is damaged instead of taking the path for absent', async () => {
    const tree = at(file('1'));
    const lose = async (repository: Repository): Promise<ReadonlySet<string>> => {
      await handMadeSnapshot(repository, tree, {}, signal);
      return new Set((await listNamed(repository.destination, 'packs/', signal)).keys());
    };

    expect(await versions([[tree], [at(file('12'))]], '/home/u/f', 'oldest-first', lose)).toEqual([
      'unreadable 0-0 (1)',
      'present 2 1-1 (1)',
    ]);
  });

  it('keeps the histories of several hosts apart', async () => {
    const on = (host: string, content: string): Made => [at(file(content)), { host }];

    expect(await versions([on('a', '1'), on('b', '12'), on('a', '1'), on('b', '12')], '/home/u/f')).toEqual([
      'present 1 0-2 (2)',
      'present 2 1-3 (2)',
    ]);
  });

  it('recognises a version across snapshots that name their chunks by different keys', async () => {
    expect(
      await versions(
        [[at(file('1'))], [at(file('1')), { plain: true }], [at(file('1')), { salt: Buffer.alloc(16) }]],
        '/home/u/f',
      ),
    ).toEqual(['present 1 0-2 (3)']);
  });

  it('takes nothing for changed because snapshots before had a salt of their own, or another one', async () => {
    const own: Made = [at(file('1'))];
    const salted: Made = [at(file('1')), { salt: Buffer.alloc(16, 1) }];
    const other: Made = [at(file('1')), { salt: Buffer.alloc(16, 2) }];
    const plain: Made = [at(file('1')), { plain: true }];
    for (const made of [
      [own, salted, salted],
      [salted, own, own],
      [own, salted, own, salted],
      [salted, salted, other, other],
      [own, own, plain, plain, own],
    ]) {
      for (const order of ['oldest-first', 'newest-first'] as const) {
        for (const path of ['/home', '/home/u/f']) {
          expect(await versions(made, path, order)).toHaveLength(1);
        }
      }
    }
  });

  it('sees what changed under a salt that hid it', async () => {
    const made: Made[] = [[at(file('a'))], [at(file('b')), { salt: Buffer.alloc(16) }], [at(file('b'))]];
    expect(await versions(made, '/home/u/f')).toEqual(['present 1 0-1 (2)', 'present 1 2-2 (1)']);
  });

  it('reads no further than the first directory that is as in the snapshot before', async () => {
    const repository = await memoryRepository(signal);
    const made = Array.from({ length: 20 }, (_, i): Made => [
      directory({ home: directory({ u: directory({ f: file('1') }) }), n: file(`${i}`) }),
    ]);
    const snapshots = await commitAll(made, repository);
    const trees = new SnapshotTrees(repository, await loadIndex(repository, { without: new Set() }, signal));
    const reads = vi.spyOn(TreeReader.prototype, 'chunk');

    const found = pathVersions(trees, snapshots, asByteString('/home/u/f'), 'oldest-first', signal);
    expect(await collect(found)).toMatchObject([{ state: 'present', snapshots: 20 }]);
    // Every root, and twice a directory on the way.
    expect(reads).toHaveBeenCalledTimes(22);
    reads.mockRestore();
  });

  it('refuses the root', async () => {
    await expect(versions(life, '/')).rejects.toMatchObject({ code: 'INVALID_PATH' });
  });
});
