/**
 * Times of the catalog at a million files and a hundred snapshots:
 *
 *     node test/bench/catalog-bench.ts [DIRECTORY [FILES [SNAPSHOTS]]]
 *
 * The trees are made up in memory, so that what is measured is the catalog alone. Times are processor time.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asByteString, type ByteString } from '../../src/base/byte-path.ts';
import { openForWriting, prepareCatalog } from '../../src/catalog/catalog-database.ts';
import { CatalogReader } from '../../src/catalog/catalog-reader.ts';
import { registerSnapshots } from '../../src/catalog/register.ts';
import { takeIn } from '../../src/catalog/sync.ts';
import { sweep } from '../../src/catalog/sweep.ts';
import type { DirectoryTotals, Entry, TreeChunk } from '../../src/format/tree.ts';
import { NO_RECORD } from '../../src/format/records.ts';
import type { FileQuery } from '../../src/jobs/agent.ts';
import type { Snapshot } from '../../src/repository/snapshots.ts';
import type { TreeReader } from '../../src/repository/tree-reader.ts';
import { seededRandom } from '../support/seeded-random.ts';

const [place = mkdtempSync(join(tmpdir(), 'holdfast-catalog-bench-')), files = '1000000', snapshots = '100'] =
  process.argv.slice(2);
const FILES = Number(files);
const SNAPSHOTS = Number(snapshots);
const FILES_PER_DIRECTORY = 40;
/** Of the files, with every snapshot; in a twentieth as many directories. */
const CHANGED = 0.01;
const ROUNDS = 25;

const random = seededRandom(20_260_101);
const { signal } = new AbortController();
const WORDS = Array.from({ length: 4_000 }, () => word());
const ENDINGS = [
  '.jpg',
  '.jpg',
  '.jpg',
  '.txt',
  '.ts',
  '.js',
  '.json',
  '.pdf',
  '.docx',
  '.mp3',
  '.tar.gz',
  '',
];
const COMMON = ['index.js', 'package.json', 'README.md', 'index.ts', 'LICENSE'];

interface Folder {
  readonly name: ByteString;
  readonly above: Folder | undefined;
  readonly folders: Folder[];
  readonly entries: Map<string, Entry>;
  id: Buffer;
  totals: DirectoryTotals;
  stale: boolean;
  changedNs: bigint;
}

const chunks = new Map<string, TreeChunk>();
let ids = 0;

function word(): string {
  const parts = ['ba', 'ko', 'ri', 'ne', 'sta', 'mul', 'tor', 'ven', 'qua', 'zi', 'ple', 'gho', 'ju', 'wex'];
  return Array.from({ length: 2 + random.below(2) }, () => parts[random.below(parts.length)]).join('');
}

function pick<T>(from: readonly T[]): T {
  const one = from[random.below(from.length)];
  if (one === undefined) throw new Error('nothing to pick from');
  return one;
}

function newId(): Buffer {
  ids += 1;
  return createHash('sha256').update(String(ids)).digest().subarray(0, 24);
}

function fileNamed(name: string): Entry {
  const mtimeNs = BigInt(1_500_000_000 + random.below(200_000_000)) * 1_000_000_000n;
  return {
    type: 'file',
    name: asByteString(name),
    mode: 0o644,
    uid: 1_000,
    gid: 1_000,
    mtimeNs,
    ctimeNs: mtimeNs,
    inode: 1,
    size: Math.floor(2 ** (random.next() * 24)),
    content: newId(),
    indirect: false,
    changedWhileRead: false,
  };
}

function newName(): string {
  if (random.next() < 0.05) return pick(COMMON);
  if (random.next() < 0.1) return `IMG_${random.below(10_000)}.JPG`;
  return `${pick(WORDS)}-${pick(WORDS)}${random.below(1_000)}${pick(ENDINGS)}`;
}

function folder(name: string, above: Folder | undefined): Folder {
  const one: Folder = {
    name: asByteString(name),
    above,
    folders: [],
    entries: new Map(),
    id: newId(),
    totals: { files: 0, bytes: 0, entries: 0 },
    stale: true,
    changedNs: BigInt(1_500_000_000 + random.below(200_000_000)) * 1_000_000_000n,
  };
  above?.folders.push(one);
  return one;
}

/** Directories of ten directories each, and files in all of them. */
function makeTree(): { readonly root: Folder; readonly all: readonly Folder[] } {
  const root = folder('', undefined);
  const all = [folder('home', root)];
  const count = Math.ceil(FILES / FILES_PER_DIRECTORY);
  for (let i = 1; i < count; i += 1) {
    const above = all[Math.floor((i - 1) / 10)];
    all.push(folder(`${pick(WORDS)}${i}`, above));
  }
  for (const one of all) {
    for (let i = 0; i < FILES_PER_DIRECTORY; i += 1) {
      const name = newName();
      one.entries.set(name, fileNamed(name));
    }
  }
  return { root, all };
}

function store(one: Folder): void {
  if (!one.stale) return;
  one.stale = false;
  const totals = { files: 0, bytes: 0, entries: 0 };
  for (const below of one.folders) {
    store(below);
    const mtimeNs = below.changedNs;
    one.entries.set(below.name, {
      type: 'directory',
      name: below.name,
      mode: 0o755,
      uid: 1_000,
      gid: 1_000,
      mtimeNs,
      ctimeNs: mtimeNs,
      inode: 1,
      id: below.id,
      totals: below.totals,
    });
  }
  for (const entry of one.entries.values()) {
    totals.entries += entry.type === 'directory' ? entry.totals.entries + 1 : 1;
    totals.files += entry.type === 'directory' ? entry.totals.files : 1;
    totals.bytes += entry.type === 'directory' ? entry.totals.bytes : entry.type === 'file' ? entry.size : 0;
  }
  chunks.delete(one.id.toString('latin1'));
  one.id = newId();
  one.totals = totals;
  const entries = [...one.entries.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  chunks.set(one.id.toString('latin1'), { form: 'leaf', entries });
}

/** Changes, adds and removes files in some directories. */
function change(all: readonly Folder[], number: number): void {
  const changes = FILES * CHANGED;
  for (let done = 0; done < changes; done += 20) {
    const one = pick(all);
    for (let at: Folder | undefined = one; at !== undefined; at = at.above) at.stale = true;
    one.changedNs = BigInt(1_700_000_000 + number * 3_600) * 1_000_000_000n;
    const names = [...one.entries.values()].filter(({ type }) => type === 'file').map(({ name }) => name);
    for (let i = 0; i < 14 && names.length > 0; i += 1) {
      const name = pick(names);
      one.entries.set(name, { ...fileNamed(name), mtimeNs: one.changedNs });
    }
    for (let i = 0; i < 3; i += 1) {
      const name = newName();
      one.entries.set(name, fileNamed(name));
      if (names.length > 0) one.entries.delete(pick(names));
    }
  }
}

function snapshotOf(root: Folder, number: number): Snapshot {
  const startedMs = 1_700_000_000_000 + number * 3_600_000;
  return {
    id: createHash('sha256').update(`snapshot ${number}`).digest('hex'),
    chain: { writer: '0'.repeat(32), seq: number + 1, prev: NO_RECORD },
    record: {
      tool: 'bench',
      host: 'host',
      user: 'user',
      paths: [asByteString('/home')],
      startedMs,
      finishedMs: startedMs,
      root: root.id,
      plain: false,
      tags: [],
      pinned: false,
      status: 'complete',
      errors: [],
      errorsMore: 0,
      counts: {
        files: root.totals.files,
        directories: 0,
        links: 0,
        others: 0,
        bytes: root.totals.bytes,
        new: 0,
        changed: 0,
        unchanged: 0,
        failed: 0,
      },
      owners: { users: {}, groups: {} },
      omitted: [],
      kind: 'files',
    },
  };
}

// The cursor asks for nothing but chunks.
const reader = {
  chunk: async (id: Buffer): Promise<TreeChunk> => {
    const chunk = chunks.get(id.toString('latin1'));
    if (chunk === undefined) throw new Error('no such tree');
    return chunk;
  },
} as unknown as TreeReader;

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Of processor time, which other work on the machine does not count for. */
function milliseconds(work: () => unknown): number {
  const began = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1_000;
}

function report(what: string, times: readonly number[]): void {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): string => (sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(1);
  say(`${what.padEnd(52)} p50 ${at(0.5).padStart(7)} ms   p95 ${at(0.95).padStart(7)} ms   max ${at(1)} ms`);
}

const path = join(place, 'catalog.db');
prepareCatalog(path);
const database = openForWriting(path);
const { root, all } = makeTree();
const live: Snapshot[] = [];
const ingested: number[] = [];
for (let number = 0; number < SNAPSHOTS; number += 1) {
  if (number > 0) change(all, number);
  store(root);
  live.push(snapshotOf(root, number));
  const { pending } = registerSnapshots(database, live);
  const began = process.cpuUsage();
  await takeIn(database, { reader: () => reader }, pending, () => undefined, signal);
  const { user, system } = process.cpuUsage(began);
  ingested.push((user + system) / 1_000);
}
const [first = 0, ...others] = ingested;
say(
  `first snapshot, ${root.totals.files} files in ${all.length} directories: ${(first / 1_000).toFixed(1)} s`,
);
report('each other snapshot', others);
database.pragma('wal_checkpoint(TRUNCATE)');
const count = (table: string): unknown => database.prepare(`SELECT count(*) FROM ${table}`).pluck().get();
say(
  `${(statSync(path).size / 1e6).toFixed(0)} MB, ${String(count('node'))} paths, ${String(count('version'))} versions`,
);

const catalog = new CatalogReader(path, 'bench');
say(
  `names into memory: ${milliseconds(() => {
    while (catalog.warm());
  }).toFixed(0)} ms`,
);

const last = live.at(-1)?.id ?? '';
const middle = live[Math.floor(live.length / 2)]?.id ?? '';
function query(parts: Partial<FileQuery>): FileQuery {
  return { snapshot: last, view: 'flat', sort: 'path', limit: 100, ...parts };
}
const everything: number[] = [];
function time(what: string, ask: () => unknown): void {
  const times = Array.from({ length: ROUNDS }, () => milliseconds(ask));
  everything.push(...times);
  report(what, times);
}

const NEEDLES: Readonly<Record<string, () => string>> = {
  'one letter (a)': () => 'a',
  'one letter, rare (J)': () => 'J',
  'one digit': () => String(random.below(10)),
  'two letters': () => pick(WORDS).slice(0, 2),
  'two letters nobody has (漢字)': () => '漢字',
  'an ending (.jpg)': () => '.jpg',
  'a glob (*.pdf)': () => '*.pdf',
  'a glob (IMG_12*)': () => `IMG_${random.below(100)}*`,
  'a common name (index.js)': () => 'index.js',
  'half a per cent': () => pick(WORDS),
  'two per thousand': () => `${pick(WORDS)}-`,
  'one name': () => `${pick(WORDS)}-${pick(WORDS)}${random.below(1_000)}`,
  nothing: () => 'no such name',
};
for (const [what, needle] of Object.entries(NEEDLES)) {
  for (const sort of ['path', 'name', 'size', 'modified'] as const) {
    time(`search ${what}, by ${sort}`, () => catalog.files(query({ q: needle(), sort })));
  }
}
report('search, all of these', everything);
time('search in another snapshot', () => catalog.files(query({ snapshot: middle, q: pick(WORDS) })));
time('search a word in a directory', () => catalog.files(query({ path: pathOf(pick(all)), q: pick(WORDS) })));
for (const sort of ['path', 'name', 'size', 'modified'] as const) {
  time(`all files, by ${sort}`, () => catalog.files(query({ sort })));
  time(`files of a directory and below, by ${sort}`, () =>
    catalog.files(query({ sort, path: pathOf(pick(all)) })),
  );
  time(`tree view of a directory, by ${sort}`, () =>
    catalog.files(query({ sort, view: 'tree', path: pathOf(pick(all)) })),
  );
}
time('page in the middle of a list', () => {
  const from = pick(all);
  return catalog.files(query({ path: pathOf(from.above ?? from) }));
});
time('versions of a file', () => {
  const one = pick(all);
  return catalog.versions(`${pathOf(one)}/${pick([...one.entries.keys()])}`, undefined);
});
time('versions of a directory', () => catalog.versions(pathOf(pick(all)), undefined));
time('difference of neighbours', () => {
  const at = 1 + random.below(live.length - 1);
  const [a, b] = [live[at - 1], live[at]];
  return catalog.diff({ id: b?.id ?? '', base: a?.id, limit: 100, after: undefined });
});
time('difference of the first and the last', () =>
  catalog.diff({ id: last, base: live[0]?.id, limit: 100, after: undefined }),
);
time('snapshots', () => catalog.snapshots({ limit: 100 }));
catalog.close();

const kept = live.filter((_, i) => i % 2 === 1);
say(`forgetting half: ${milliseconds(() => registerSnapshots(database, kept)).toFixed(0)} ms`);
const swept = performance.now();
await sweep(database, signal);
say(
  `removing what only they had: ${((performance.now() - swept) / 1_000).toFixed(1)} s, ${String(count('version'))} versions left`,
);
database.close();
rmSync(place, { recursive: true });

function pathOf(one: Folder): string {
  const names: string[] = [];
  for (let at: Folder | undefined = one; at?.above !== undefined; at = at.above) names.unshift(at.name);
  return `/${names.join('/')}`;
}
