/**
 * Snapshots made to harm the machine that restores them. Whatever is in them, nothing is written outside of the target,
 * nothing privileged comes into being, and the restore ends soon. Lines L15 to L17 of the security checklist.
 */
// Turn 2 of 8.
import { execFileSync } from 'node:child_process';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HoldfastError } from '../../src/base/errors.ts';
import type { Repository } from '../../src/repository/repository.ts';
import type { RestoreSummary } from '../../src/restorer/request/request.ts';
import { SILENT_RESTORE } from '../../src/restorer/request/request.ts';
import { restore } from '../../src/restorer/restore.ts';
import { memoryRepository } from '../support/hand-made-snapshot.ts';
import {
  TYPE,
  hostileSnapshot,
  rawBranch,
  rawEntry,
  rawLeaf,
  rawList,
  type RawEntry,
  type RawStore,
} from '../support/hostile-snapshot.ts';
import { namesBelow } from '../support/names-below.ts';

const never = new AbortController().signal;
/** Far more than it takes on a machine that has other things to do. */
const LONGEST_MS = 60_000;

let site: string;
/** What must not change. */
let outside: string;

beforeAll(() => {
  site = mkdtempSync(join(tmpdir(), 'holdfast-hostile-'));
  outside = join(site, 'outside');
  mkdirSync(join(outside, 'sub'), { recursive: true });
  writeFileSync(join(outside, 'victim'), 'victim');
  writeFileSync(join(outside, 'sub', 'other'), 'other');
});
afterAll(() => {
  // 4,096 levels are more than a recursive function can take
  execFileSync('rm', ['-rf', site]);
});

/** Names, types, rights, owners, sizes, times and link counts of everything beside the target. */
function fingerprint(): string[] {
  const names = ['.', ...namesBelow(outside).sort()];
  const beside = readdirSync(site).filter((name) => !name.startsWith('target'));
  return [
    ...beside,
    ...names.map((name) => {
      const { mode, size, mtimeNs, ctimeNs, nlink, uid } = lstatSync(join(outside, name), { bigint: true });
      return [name, mode, size, mtimeNs, ctimeNs, nlink, uid].join(' ');
    }),
  ];
}

/** Setuid and setgid bits, devices, and links through which something was written, in the target. */
function privileged(directory: string): string[] {
  const found: string[] = [];
  const waiting: string[] = [directory];
  for (let at = waiting.pop(); at !== undefined && found.length < 10; at = waiting.pop()) {
    // 5,000 levels are more than a path can name
    if (at.length > 3_500) continue;
    for (const name of readdirSync(at)) {
      const path = join(at, name);
      const stat = lstatSync(path);
      if ((stat.mode & 0o6000) !== 0 || stat.isBlockDevice() || stat.isCharacterDevice()) found.push(path);
      if (stat.isDirectory()) waiting.push(path);
    }
  }
  return found;
}

interface Outcome {
  readonly summary: RestoreSummary | undefined;
  readonly error: HoldfastError | undefined;
  readonly target: string;
}

let runs = 0;

async function restoreHostile(
  build: (store: RawStore) => Buffer,
  prepare: (target: string) => void = () => {},
): Promise<Outcome> {
  runs += 1;
  const target = join(site, `target-${runs}`);
  mkdirSync(target);
  prepare(target);
  await using repository: AsyncDisposable & { readonly it: Repository } = await disposable();
  const snapshot = await hostileSnapshot(repository.it, build, never);
  const before = fingerprint();
  const started = performance.now();
  let summary: RestoreSummary | undefined;
  let error: HoldfastError | undefined;
  try {
    summary = await restore(
      {
        repository: repository.it,
        snapshot,
        target: { kind: 'directory', path: target },
        paths: [],
        never: [],
        include: [],
        exclude: [],
        overwrite: 'always',
        deleteExtra: false,
        dryRun: false,
        verify: true,
        restoreOwnership: false,
        ownersByName: false,
        workers: 1,
      },
      SILENT_RESTORE,
      never,
    );
  } catch (caught) {
    if (!(caught instanceof HoldfastError) || caught.side === 'bug') throw caught;
    error = caught;
  }
  expect(performance.now() - started).toBeLessThan(LONGEST_MS);
  expect(fingerprint()).toEqual(before);
  expect(privileged(target)).toEqual([]);
  return { summary, error, target };
}

async function disposable(): Promise<AsyncDisposable & { readonly it: Repository }> {
  const it = await memoryRepository(never);
  return { it, [Symbol.asyncDispose]: async () => await it.close() };
}

/** The root is a leaf of these entries. */
const root =
  (entries: (store: RawStore) => readonly RawEntry[]) =>
  (store: RawStore): Buffer =>
    store.tree(rawLeaf(entries(store).map(rawEntry)));

const file = (store: RawStore, name: string, content = 'hostile'): RawEntry => ({
  type: TYPE.file,
  name,
  size: content.length,
  ids: [store.data(Buffer.from(content))],
});

const directory = (store: RawStore, name: string, entries: readonly RawEntry[]): RawEntry => ({
  type: TYPE.directory,
  name,
  directory: store.tree(rawLeaf(entries.map(rawEntry))),
});

const link = (name: string, target: string): RawEntry => ({ type: TYPE.symlink, name, target });

/** Nothing came of it: the snapshot was refused, or what is wrong was listed. */
function expectRefused({ summary, error }: Outcome): void {
  if (error !== undefined) expect(['CORRUPT_DATA', 'LIMIT_EXCEEDED', 'NEWER_FORMAT']).toContain(error.code);
  else expect(summary?.status).toBe('partial');
}

const hostileNames = [
  '',
  '.',
  '..',
  'a/b',
  '../outside/victim',
  '/outside',
  'a\0b',
  '..\0',
  'sub/../../outside/victim',
  'n'.repeat(5_000),
];

describe('names that lead elsewhere', () => {
  const kinds: readonly (readonly [string, (store: RawStore, name: string) => RawEntry])[] = [
    ['file', (store, name) => file(store, name)],
    ['directory', (store, name) => directory(store, name, [file(store, 'victim')])],
    ['link', (_, name) => link(name, '/etc')],
    ['FIFO', (_, name) => ({ type: TYPE.fifo, name })],
  ];
  for (const [kind, entryOf] of kinds) {
    test.each(hostileNames.map((name) => [JSON.stringify(name.slice(0, 30)), name]))(
      `L15: as the name of a ${kind} %s is refused`,
      async (_, name) => {
        expectRefused(await restoreHostile(root((store) => [entryOf(store, name)])));
      },
    );
    test(`L15: do not keep the rest of the snapshot back: ${kind}`, async () => {
      const { summary, target } = await restoreHostile(
        root((store) => [file(store, 'good'), directory(store, 'sub', [entryOf(store, '..')])]),
      );
      expect(summary).toMatchObject({ status: 'partial', filesRestored: 1 });
      expect(readdirSync(target).sort()).toEqual(['good', 'sub']);
    });
  }
});

describe('links planted before what goes through them', () => {
  const out = (): string => outside;
  const cases: readonly (readonly [string, (store: RawStore) => Buffer, refused: boolean])[] = [
    [
      'a link and a directory of one name in one leaf (as in CVE-2026-19693 of extract-zip)',
      root((store) => [link('a', out()), directory(store, 'a', [file(store, 'victim')])]),
      true,
    ],
    [
      'a directory and then a link of that name',
      root((store) => [directory(store, 'a', [file(store, 'victim')]), link('a', out())]),
      true,
    ],
    [
      'a link and a file of one name',
      root((store) => [link('victim', join(out(), 'victim')), file(store, 'victim')]),
      true,
    ],
    [
      'a link in one leaf and the directory in the next',
      (store) =>
        store.tree(
          rawBranch(1, [
            ['a', store.tree(rawLeaf([rawEntry(link('a', out()))]))],
            ['aa', store.tree(rawLeaf([rawEntry(directory(store, 'a', [file(store, 'victim')]))]))],
          ]),
        ),
      true,
    ],
    [
      'a leaf that comes twice under one branch',
      (store) => {
        const leaf = store.tree(rawLeaf([rawEntry(link('a', out()))]));
        return store.tree(
          rawBranch(1, [
            ['a', leaf],
            ['b', leaf],
          ]),
        );
      },
      true,
    ],
    [
      'a link deep inside and a name with slashes that uses it',
      root((store) => [directory(store, 'd', [link('l', out())]), file(store, 'd/l/victim')]),
      true,
    ],
    [
      'a chain of links that ends outside',
      root(() => [link('a', 'b'), link('b', out()), link('c', 'a/victim')]),
      false,
    ],
    [
      'a hard link to a link that leads outside (as in CVE-2026-26960 of node-tar)',
      root((store) => [
        { ...link('a', join(out(), 'victim')), inode: 7, links: { device: 1, count: 2 } },
        { ...file(store, 'b', 'victim'), inode: 7, links: { device: 1, count: 2 } },
      ]),
      false,
    ],
    [
      'several names of one link, the second in a directory',
      root((store) => [
        { ...link('a', join(out(), 'victim')), inode: 7, links: { device: 1, count: 2 } },
        directory(store, 'd', [
          { ...link('a', join(out(), 'victim')), inode: 7, links: { device: 1, count: 2 } },
        ]),
      ]),
      false,
    ],
    ['a link with an empty target', root(() => [link('a', '')]), false],
    ['a link with a target of 60,000 bytes', root(() => [link('a', 'x'.repeat(60_000))]), false],
    ['a link with a target beyond the limit', root(() => [link('a', 'x'.repeat(70_000))]), true],
    ['a link whose target holds a NUL', root(() => [link('a', '/etc\0/passwd')]), false],
  ];
  test.each(cases)('L17: %s', async (_, build, refused) => {
    const outcome = await restoreHostile(build);
    if (refused) expectRefused(outcome);
    else expect(outcome.error).toBeUndefined();
  });

  test.each([
    ['a link to a directory', 'dir', (target: string) => symlinkSync(outside, join(target, 'dir'))],
    [
      'a link to a file',
      'name',
      (target: string) => symlinkSync(join(outside, 'victim'), join(target, 'name')),
    ],
    [
      'a link that dangles',
      'name',
      (target: string) => symlinkSync(join(site, 'not-there'), join(target, 'name')),
    ],
  ] as const)(
    'L16: %s that stands in the target is replaced, not followed (as in CVE-2026-62268 of Borg)',
    async (_, name, prepare) => {
      const { summary, target } = await restoreHostile(
        root((store) => [directory(store, 'dir', [file(store, 'victim')]), file(store, 'name')]),
        prepare,
      );
      expect(summary).toMatchObject({ status: 'complete', filesRestored: 2 });
      expect(() => readlinkSync(join(target, name))).toThrow();
    },
  );
});

describe('trees that are not trees', () => {
  const cases: readonly (readonly [string, (store: RawStore) => Buffer])[] = [
    [
      'a file twice (as in CVE-2026-19693 of extract-zip)',
      root((store) => [file(store, 'a'), file(store, 'a', 'other')]),
    ],
    [
      'a directory twice',
      root((store) => [directory(store, 'a', []), directory(store, 'a', [file(store, 'b')])]),
    ],
    ['names out of order', root((store) => [file(store, 'b'), file(store, 'a')])],
    [
      'branches out of order',
      (store) => {
        const [a, b] = [
          store.tree(rawLeaf([rawEntry(file(store, 'a'))])),
          store.tree(rawLeaf([rawEntry(file(store, 'b'))])),
        ];
        return store.tree(
          rawBranch(1, [
            ['b', b],
            ['a', a],
          ]),
        );
      },
    ],
    [
      'a branch that calls its leaf by another name',
      (store) => store.tree(rawBranch(1, [['b', store.tree(rawLeaf([rawEntry(file(store, 'a'))]))]])),
    ],
    ['a branch without children', (store) => store.tree(rawBranch(1, []))],
    ['a branch of level 0', (store) => store.tree(rawBranch(0, [['a', store.tree(rawLeaf([]))]]))],
    ['a branch of level 200', (store) => store.tree(rawBranch(200, [['a', store.tree(rawLeaf([]))]]))],
    [
      'a branch below a branch of its own level',
      (store) => {
        const inner = store.tree(rawBranch(1, [['a', store.tree(rawLeaf([rawEntry(file(store, 'a'))]))]]));
        return store.tree(rawBranch(1, [['a', inner]]));
      },
    ],
    [
      'a hundred thousand empty leaves under a branch',
      (store) => {
        const empty = store.tree(rawLeaf([]));
        const children = Array.from(
          { length: 100_000 },
          (_, i) => [String(i).padStart(6, '0'), empty] as const,
        );
        return store.tree(rawBranch(1, children));
      },
    ],
    ['a list of ids as the root', (store) => store.tree(rawList([store.data(Buffer.from('x'))]))],
    ['data as the root', (store) => store.data(rawLeaf([]))],
    ['a root that does not exist', () => Buffer.alloc(24, 7)],
    ['an empty chunk as the root', (store) => store.tree(Buffer.from([1]))],
    ['a chunk of another version', (store) => store.tree(Buffer.from([2, 0, 0]))],
    ['a chunk of an unknown form', (store) => store.tree(Buffer.from([1, 9, 0]))],
    ['bytes after the end', (store) => store.tree(Buffer.concat([rawLeaf([]), Buffer.from('more')]))],
    [
      'a leaf that announces 10^8 entries',
      (store) => store.tree(rawLeaf([rawEntry(file(store, 'a'))], 100_000_000)),
    ],
    [
      'a number in eleven bytes',
      (store) => store.tree(Buffer.concat([Buffer.from([1, 0]), Buffer.alloc(10, 0xff), Buffer.from([1])])),
    ],
    ['an entry of an unknown type', root(() => [{ type: 9, name: 'a' }])],
    ['an entry with unknown flags', root(() => [{ type: TYPE.fifo, name: 'a', flags: 64 }])],
    [
      'a directory whose tree does not exist',
      root(() => [{ type: TYPE.directory, name: 'a', directory: Buffer.alloc(24, 9) }]),
    ],
  ];
  test.each(cases)('L15: %s', async (_, build) => {
    expectRefused(await restoreHostile(build));
  });
});

describe('sizes that are not sizes', () => {
  const MAX = Number.MAX_SAFE_INTEGER;
  const cases: readonly (readonly [string, (store: RawStore) => Buffer])[] = [
    ['a size of 2^60', root(() => [{ type: TYPE.file, name: 'a', size: 2n ** 60n }])],
    ['a size of 2^100', root(() => [{ type: TYPE.file, name: 'a', size: 2n ** 100n }])],
    ['a size without content', root(() => [{ type: TYPE.file, name: 'a', size: MAX }])],
    ['a size below the content', root((store) => [{ ...file(store, 'a'), size: 3 }])],
    ['a size above the content', root((store) => [{ ...file(store, 'a'), size: 30 }])],
    ['a hole outside of the file', root((store) => [{ ...file(store, 'a'), holes: [[100, 100]] }])],
    ['a hole without length', root((store) => [{ ...file(store, 'a'), holes: [[1, 0]] }])],
    [
      'a hole that ends beyond 2^53',
      root(() => [{ type: TYPE.file, name: 'a', size: MAX, holes: [[MAX, MAX]] }]),
    ],
    [
      '10^8 holes announced',
      root(() => [{ type: TYPE.file, name: 'a', size: 10, holes: [[0, 1]], holeCount: 100_000_000 }]),
    ],
    [
      'a hole that leaves too little room',
      root((store) => [{ ...file(store, 'a', '12345'), size: 10, holes: [[0, 7]] }]),
    ],
    ['10^8 chunks announced', root((store) => [{ ...file(store, 'a'), idCount: 100_000_000 }])],
    [
      'chunks that do not exist',
      root(() => [{ type: TYPE.file, name: 'a', size: 5, ids: [Buffer.alloc(24, 5)] }]),
    ],
    [
      'a tree chunk as content',
      root((store) => {
        const leaf = rawLeaf([]);
        return [{ type: TYPE.file, name: 'a', size: leaf.length, ids: [store.tree(leaf)] }];
      }),
    ],
    ['data where a list belongs', root((store) => [{ ...file(store, 'a'), flags: 8 }])],
    [
      'a list of lists',
      root((store) => {
        const inner = store.tree(rawList([store.data(Buffer.from('hostile'))]));
        return [{ type: TYPE.file, name: 'a', flags: 8, size: 7, ids: [store.tree(rawList([inner]))] }];
      }),
    ],
    [
      'a list that does not exist',
      root(() => [{ type: TYPE.file, name: 'a', flags: 8, size: 7, ids: [Buffer.alloc(24, 3)] }]),
    ],
    [
      'a file of petabytes made of one chunk',
      root((store) => {
        const id = store.data(Buffer.alloc(4_000_000, 'bomb'));
        const list = store.tree(rawList(Array.from({ length: 40_000 }, () => id)));
        const ids = Array.from({ length: 20_000 }, () => list);
        return [{ type: TYPE.file, name: 'a', flags: 8, size: 4_000_000 * 40_000 * 20_000, ids }];
      }),
    ],
    [
      'a file of a thousand million chunks of one byte',
      root((store) => {
        const id = store.data(Buffer.from('x'));
        const list = store.tree(rawList(Array.from({ length: 40_000 }, () => id)));
        const ids = Array.from({ length: 25_000 }, () => list);
        return [{ type: TYPE.file, name: 'a', flags: 8, size: 1_000_000_000, ids }];
      }),
    ],
  ];
  test.each(cases)('L15: %s', async (_, build) => {
    const outcome = await restoreHostile(build);
    expectRefused(outcome);
    expect(readdirSync(outcome.target)).toEqual([]);
  });

  test('L15: a file of nothing but a hole takes no room', async () => {
    const { target, error } = await restoreHostile(
      root(() => [{ type: TYPE.file, name: 'a', size: 2 ** 42, holes: [[0, 2 ** 42]] }]),
    );
    expect(error).toBeUndefined();
    const there = lstatSync(join(target, 'a'), { throwIfNoEntry: false });
    if (there !== undefined) expect(there.blocks).toBeLessThan(64);
  });
});

describe('depth and number', () => {
  test('L15: 5,000 nested directories end at the limit', async () => {
    const { summary } = await restoreHostile((store) => {
      let id = store.tree(rawLeaf([rawEntry(file(store, 'bottom'))]));
      for (let depth = 0; depth < 5_000; depth += 1) {
        const entry: RawEntry = {
          type: TYPE.directory,
          name: 'd',
          directory: id,
          totals: { entries: depth + 1 },
        };
        id = store.tree(rawLeaf([rawEntry(entry)]));
      }
      return id;
    });
    expect(summary).toMatchObject({ status: 'partial', filesRestored: 0 });
    expect(summary?.errors).toMatchObject([{ code: 'TOO_DEEP' }]);
  });

  /** Sixty levels of directories that hold the next one twice: 2^60 files. */
  const bomb =
    (totals: (level: number) => number) =>
    (store: RawStore): Buffer => {
      let id = store.tree(rawLeaf([rawEntry(file(store, 'f'))]));
      for (let level = 1; level <= 60; level += 1) {
        const at = (name: string): RawEntry => ({
          type: TYPE.directory,
          name,
          directory: id,
          totals: { entries: Math.min(Number.MAX_SAFE_INTEGER, totals(level)) },
        });
        id = store.tree(rawLeaf([rawEntry(at('a')), rawEntry(at('b'))]));
      }
      return id;
    };
  test.each([
    ['honest about its size', (level: number) => 2 ** level * 2],
    ['that hides its size', () => 3],
    ['that claims as much as there is', () => 50_000],
    ['that claims nothing', () => 0],
  ])('L15: a tree that unfolds without end, %s', async (_, totals) => {
    const outcome = await restoreHostile(bomb(totals));
    expectRefused(outcome);
  });
});

describe('privileges', () => {
  const entries: readonly (readonly [string, (store: RawStore) => RawEntry])[] = [
    ['setuid', (store) => ({ ...file(store, 'a'), mode: 0o4755 })],
    ['setgid', (store) => ({ ...file(store, 'a'), mode: 0o2755 })],
    ['setuid and setgid', (store) => ({ ...file(store, 'a'), mode: 0o6777, uid: 0 })],
    ['a setgid directory', (store) => ({ ...directory(store, 'a', []), mode: 0o2777 })],
    ['a character device', () => ({ type: TYPE.character, name: 'a', major: 1, minor: 1 })],
    ['a block device', () => ({ type: TYPE.block, name: 'a', major: 8, minor: 0 })],
    [
      'a device number that does not exist',
      () => ({ type: TYPE.block, name: 'a', major: 2 ** 40, minor: 2 ** 40 }),
    ],
    [
      'capabilities',
      (store) => ({
        ...file(store, 'a'),
        xattrs: [{ name: 'security.capability', value: Buffer.alloc(20, 1) }],
      }),
    ],
    [
      'an overlay attribute',
      (store) => ({
        ...file(store, 'a'),
        xattrs: [{ name: 'trusted.overlay.redirect', value: Buffer.from('/') }],
      }),
    ],
    ['another owner', (store) => ({ ...file(store, 'a'), uid: 12_345, gid: 54_321 })],
  ];
  test.each(entries)('L17: %s is left out and reported', async (_, entryOf) => {
    const { summary, error } = await restoreHostile(root((store) => [entryOf(store)]));
    expect(error).toBeUndefined();
    expect(summary?.omissions.length).toBeGreaterThan(0);
    expect(summary?.omissions[0]?.count).toBe(1);
  });

  const metadata: readonly (readonly [string, (store: RawStore) => RawEntry])[] = [
    ['an owner beyond 32 bits', (store) => ({ ...file(store, 'a'), uid: 2 ** 40 })],
    ['a mode beyond twelve bits', (store) => ({ ...file(store, 'a'), mode: 0o177777 })],
    ['a thousand million nanoseconds', (store) => ({ ...file(store, 'a'), nanoseconds: 1_000_000_000 })],
    ['10^8 attributes announced', (store) => ({ ...file(store, 'a'), xattrs: [], xattrCount: 100_000_000 })],
    [
      'an attribute twice',
      (store) => ({
        ...file(store, 'a'),
        xattrs: [
          { name: 'user.a', value: Buffer.from('1') },
          { name: 'user.a', value: Buffer.from('2') },
        ],
      }),
    ],
    [
      'an attribute name of 5,000 bytes',
      (store) => ({
        ...file(store, 'a'),
        xattrs: [{ name: 'user.'.padEnd(5_000, 'x'), value: Buffer.from('') }],
      }),
    ],
  ];
  test.each(metadata)('L15: %s is refused', async (_, entryOf) => {
    expectRefused(await restoreHostile(root((store) => [entryOf(store)])));
  });

  const survived: readonly (readonly [string, (store: RawStore) => RawEntry])[] = [
    [
      'four megabytes of attributes',
      (store) => ({
        ...file(store, 'a'),
        xattrs: Array.from({ length: 60 }, (_, i) => ({
          name: `user.x${String(i).padStart(3, '0')}`,
          value: Buffer.alloc(65_000, i),
        })),
      }),
    ],
    [
      'twenty thousand attributes',
      (store) => ({
        ...file(store, 'a'),
        xattrs: Array.from({ length: 20_000 }, (_, i) => ({
          name: `user.x${String(i).padStart(5, '0')}`,
          value: Buffer.from('v'),
        })),
      }),
    ],
    [
      'an attribute of a megabyte',
      (store) => ({ ...file(store, 'a'), xattrs: [{ name: 'user.a', value: Buffer.alloc(1_000_000) }] }),
    ],
    [
      'an attribute without a name',
      (store) => ({ ...file(store, 'a'), xattrs: [{ name: '', value: Buffer.from('v') }] }),
    ],
    [
      'an attribute name with a NUL',
      (store) => ({ ...file(store, 'a'), xattrs: [{ name: 'user.a\0b', value: Buffer.from('v') }] }),
    ],
    [
      'an access list that is none',
      (store) => ({
        ...file(store, 'a'),
        xattrs: [{ name: 'system.posix_acl_access', value: Buffer.from('garbage') }],
      }),
    ],
    ['a time in the year 100,000,000', (store) => ({ ...file(store, 'a'), seconds: 2 ** 51 })],
    ['a time before the universe', (store) => ({ ...file(store, 'a'), seconds: -(2 ** 51) })],
  ];
  test.each(survived)('L15: %s costs at most that attribute or time', async (_, entryOf) => {
    const { summary, error, target } = await restoreHostile(root((store) => [entryOf(store)]));
    expect(error).toBeUndefined();
    expect(summary).toMatchObject({ filesRestored: 1, filesFailed: 0 });
    expect(lstatSync(join(target, 'a')).size).toBe('hostile'.length);
  });
});

describe('other names of one file', () => {
  const several = (inode: number) => ({ inode, links: { device: 1, count: 3 } });

  test('L17: whose content differs are files of their own', async () => {
    const { summary, target } = await restoreHostile(
      root((store) => [
        { ...file(store, 'a', 'one'), ...several(5) },
        { ...file(store, 'b', 'two'), ...several(5) },
        { ...file(store, 'c', 'one'), ...several(5) },
      ]),
    );
    expect(summary).toMatchObject({ status: 'complete', filesRestored: 3 });
    expect(lstatSync(join(target, 'a')).ino).not.toBe(lstatSync(join(target, 'b')).ino);
    expect(lstatSync(join(target, 'a')).ino).toBe(lstatSync(join(target, 'c')).ino);
  });

  test('L17: of one that cannot be had fail with it', async () => {
    const missing = Buffer.alloc(24, 6);
    const entry = (name: string): RawEntry => ({
      type: TYPE.file,
      name,
      size: 4,
      ids: [missing],
      ...several(5),
    });
    const { summary } = await restoreHostile(root(() => [entry('a'), entry('b')]));
    expect(summary).toMatchObject({ status: 'partial', filesFailed: 2, filesRestored: 0 });
  });
});

test('L15: there were at least 120 hostile snapshots, and none wrote a byte outside of its target', () => {
  expect(runs).toBeGreaterThanOrEqual(120);
});
