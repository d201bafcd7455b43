/** A small repository with every kind of object in it, and another one of the same make. */
import { appendFileSync, closeSync, mkdirSync, openSync, readSync, writeFileSync, utimesSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { archive } from '../../src/archiver/archive.ts';
import { NO_EXCLUSIONS } from '../../src/exclude/excluder.ts';
import { SILENT } from '../../src/archiver/report/observer.ts';
import { treePath } from '../../src/base/tree-path.ts';
import { systemClock } from '../../src/base/clock.ts';
import { DEFAULT_COMPRESSION } from '../../src/codec/compress.ts';
import { openLocalDestination } from '../../src/destination/local/local.ts';
import { traverseTrees } from '../../src/repository/check/check-trees.ts';
import { loadIndex } from '../../src/repository/chunk-index.ts';
import { addKey } from '../../src/repository/keys/keys.ts';
import { newLeaseRecord, putLease } from '../../src/repository/lease-objects.ts';
import { packKey } from '../../src/repository/objects/listing.ts';
import { putConfig } from '../../src/repository/configuration.ts';
import { openRepository } from '../../src/repository/opening.ts';
import type { Repository } from '../../src/repository/repository.ts';
import { forgetSnapshots, listSnapshots } from '../../src/repository/snapshots.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import { changeCorpus, copyAside, makeCorpus } from './corpus.ts';
import { PASSPHRASE, type Place } from './program.ts';
import { listRepository } from './stored-objects.ts';
import { WEAK_COST, type Workspace } from './workspace.ts';

const OTHER_PASSPHRASE = 'sweep: the second passphrase';

export const OBJECT_KINDS = [
  'key slot',
  'ring',
  'config',
  'data pack',
  'tree pack',
  'plain data pack',
  'plain tree pack',
  'index',
  'snapshot',
  'head',
  'tombstone',
  'lease',
  'second copy',
] as const;
export type ObjectKind = (typeof OBJECT_KINDS)[number];

export interface SiteObject {
  readonly kind: ObjectKind;
  readonly key: string;
  readonly size: number;
}

/** A directory that was backed up, and the copy of what it held then. */
export interface Origin {
  readonly source: string;
  readonly tree: string;
}

export interface Site {
  readonly place: Place;
  readonly objects: readonly SiteObject[];
  /** Live snapshots, oldest first. */
  readonly snapshots: ReadonlyMap<string, Origin>;
  /** Keys of the packs that live snapshots need. */
  readonly neededPacks: ReadonlySet<string>;
}

const never = new AbortController().signal;
const SCALE = { smallFiles: 30, largeFiles: 3, largeBytes: 60_000 };
/** Small, so that a few files fill several packs of several segments, and a file has several chunks. */
const SIZES = {
  packTarget: 160_000,
  segmentTarget: 65_536,
  chunker: { min: 16_384, avg: 65_536, max: 262_144 },
};

/** Opens the repository as the machine that knows it, with the given passphrase. */
export async function openSite({ repository, state }: Place, passphrase = PASSPHRASE): Promise<Repository> {
  const destination = await openLocalDestination(repository);
  const options = { clock: systemClock, stateDirectory: state, allowWeakCost: true };
  try {
    return await openRepository(destination, { kind: 'passphrase', text: passphrase }, options, never);
  } catch (error) {
    await destination.close();
    throw error;
  }
}

/** Two snapshots of one tree as it changed, one without encryption of another, and two forgotten ones. */
export async function makeSite(workspace: Workspace, name: string, random: SeededRandom): Promise<Site> {
  const source = workspace.path(`${name}-source`);
  const plainSource = workspace.path(`${name}-plain`);
  makeCorpus(source, SCALE, random);
  makeCorpus(plainSource, SCALE, random);
  writeFileSync(join(source, 'stays', 'many-chunks.bin'), random.bytes(400_000));
  mkdirSync(join(source, 'deep', 'deeper', 'deepest'), { recursive: true });
  writeFileSync(join(source, 'deep', 'deeper', 'deepest', 'file.txt'), 'down here\n');
  const place = await workspace.create(name, SIZES);
  const snapshots = new Map<string, Origin>();
  const repository = await openSite(place);
  const keep = async (version: number, directory: string, plain: boolean): Promise<void> => {
    const tree = workspace.path(`${name}-version-${version}`);
    copyAside(directory, tree);
    snapshots.set(await backUp(repository, directory, plain), { source: directory, tree });
  };
  try {
    await keep(1, source, false);
    changeCorpus(source, 2, random);
    appendFileSync(join(source, 'deep', 'deeper', 'deepest', 'file.txt'), 'and more\n');
    await keep(2, source, false);
    await keep(3, plainSource, true);
    for (let i = 0; i < 2; i += 1)
      await forgetSnapshots(repository, [await backUp(repository, source, false)], 'by the sweep', never);
    const secret = { kind: 'passphrase', text: OTHER_PASSPHRASE } as const;
    await addKey(repository, { secret, label: 'second', cost: WEAK_COST }, never);
    const neededPacks = await addRecords(repository);
    const objects = objectsOf(place);
    // The processes died an hour ago: nobody has to wait for them.
    const then = new Date(Date.now() - 3_600_000);
    for (const { key, kind } of objects)
      if (kind === 'lease') utimesSync(join(place.repository, key), then, then);
    return { place, objects, snapshots, neededPacks };
  } finally {
    await repository.close();
  }
}

async function backUp(repository: Repository, directory: string, plain: boolean): Promise<string> {
  const request = {
    repository,
    sources: [treePath(directory)],
    // As the program has it, so that it finds the parent of its own backups.
    host: hostname(),
    user: 'sweep',
    tool: 'sweep',
    tags: [],
    pinned: false,
    compression: DEFAULT_COMPRESSION,
    plain,
    isolated: false,
    exclude: NO_EXCLUSIONS,
    parent: 'auto',
    workers: 1,
  } as const;
  const { snapshot } = await archive(request, SILENT, never);
  return snapshot.id;
}

/** Adds a second configuration and the leases of two processes that died. Returns the packs that snapshots need. */
async function addRecords(repository: Repository): Promise<ReadonlySet<string>> {
  await putConfig(repository, { ...repository.config, graceSeconds: 200_000 }, 2, never);
  await putLease(repository, 'prune', 7, newLeaseRecord(repository, '0123456789abcdef'), never);
  const session = 'fedcba9876543210';
  await putLease(repository, `session.${session}`, 3, newLeaseRecord(repository, session), never);
  const index = await loadIndex(repository, { without: new Set() }, never);
  const { live } = await listSnapshots(repository, never);
  const { referenced } = await traverseTrees(repository, index, live, never);
  const needed = new Set<string>();
  referenced.forEach((slot) => {
    const pack = index.packs[index.table.locationAt(slot).pack];
    if (pack !== undefined) needed.add(packKey(pack.name));
  });
  return needed;
}

function objectsOf({ repository }: Place): readonly SiteObject[] {
  return [...listRepository(repository).objects.values()]
    .map(({ key, size }) => ({ kind: kindOf(repository, key), key, size }))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
}

function kindOf(repository: string, key: string): ObjectKind {
  const top = key.slice(0, key.indexOf('/'));
  switch (top) {
    case 'keys':
      return key.startsWith('keys/ring-') ? 'ring' : 'key slot';
    case 'packs':
      return packKind(repository, key);
    case 'snapshots':
      return 'snapshot';
    case 'heads':
      return 'head';
    case 'trash':
      return 'tombstone';
    case 'leases':
      return 'lease';
    case 'copies':
      return 'second copy';
    case 'config':
    case 'index':
      return top;
    default:
      throw new Error(`an object of unknown kind: ${key}`);
  }
}

/** Type and cipher stand in the clear. */
function packKind(repository: string, key: string): ObjectKind {
  const file = openSync(join(repository, key), 'r');
  try {
    const start = Buffer.alloc(8);
    readSync(file, start, 0, start.length, 0);
    const kind = start[5] === 2 ? 'tree pack' : 'data pack';
    return start[6] === 0 ? `plain ${kind}` : kind;
  } finally {
    closeSync(file);
  }
}
