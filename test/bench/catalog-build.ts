/**
 * Fills a catalog with trees that are made up in memory, in a thread of its own: its objects would make every collection
 * of what is measured afterwards slow.
 */
import { createHash } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import { asByteString, type ByteString } from '../../src/base/byte-path.ts';
import { openForWriting, prepareCatalog } from '../../src/catalog/tables/catalog-database.ts';
import { registerSnapshots } from '../../src/catalog/ingest/register.ts';
import { takeIn } from '../../src/catalog/ingest/sync.ts';
import type { DirectoryTotals, Entry, TreeChunk } from '../../src/format/tree.ts';
import type { Snapshot } from '../../src/repository/snapshots.ts';
import type { TreeReader } from '../../src/repository/contents/tree-reader.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { COMMON, WORDS, snapshotOf, type BuildReport, type BuildSetup } from './catalog-material.ts';

const setup: BuildSetup = workerData;
const { path, files: FILES, snapshots: SNAPSHOTS } = setup;
const FILES_PER_DIRECTORY = 40;
/** Of the files, with every snapshot; in a twentieth as many directories. */
const CHANGED = 0.01;
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

const random = seededRandom(20_260_102);
const { signal } = new AbortController();

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
function change(all: readonly Folder[], number: number, changes: number): void {
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

// The cursor asks for nothing but chunks.
const reader = {
  chunk: async (id: Buffer): Promise<TreeChunk> => {
    const chunk = chunks.get(id.toString('latin1'));
    if (chunk === undefined) throw new Error('no such tree');
    return chunk;
  },
} as unknown as TreeReader;

/** Of processor time, which other work on the machine does not count for. */
async function milliseconds(work: () => Promise<unknown>): Promise<number> {
  const began = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1_000;
}

prepareCatalog(path);
const database = openForWriting(path);
const { root, all } = makeTree();
const live: Snapshot[] = [];
const times: number[] = [];
for (let number = 0; number < SNAPSHOTS; number += 1) {
  // The last one tells what a backup costs in which next to nothing changed.
  if (number > 0) change(all, number, number < SNAPSHOTS - 1 ? FILES * CHANGED : 20);
  store(root);
  live.push(snapshotOf(number, root.id, root.totals));
  const { pending } = registerSnapshots(database, live);
  times.push(
    await milliseconds(
      async () => await takeIn(database, { reader: () => reader }, pending, () => undefined, signal),
    ),
  );
}
database.close();
const report: BuildReport = { times, files: root.totals.files, directories: all.length };
parentPort?.postMessage(report, []);
