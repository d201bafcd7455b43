/** A small repository with every kind of object in it, and another one of the same make. */
import { appendFileSync, closeSync, mkdirSync, openSync, readSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { openLocalDestination } from '../../src/destination/local.ts';
import { traverseTrees } from '../../src/repository/check-trees.ts';
import { loadIndex } from '../../src/repository/chunk-index.ts';
import { newLeaseRecord, putLease } from '../../src/repository/lease-objects.ts';
import { packKey } from '../../src/repository/listing.ts';
import { openRepository, putConfig, type Repository } from '../../src/repository/repository.ts';
import { listSnapshots } from '../../src/repository/snapshots.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import { changeCorpus, copyAside, makeCorpus } from './corpus.ts';
import { snapshotIds } from './oracle.ts';
import { jsonLines, PASSPHRASE, succeed, type Place } from './program.ts';
import { listRepository } from './stored-objects.ts';
import type { Workspace } from './workspace.ts';

export const OTHER_PASSPHRASE = 'sweep: the second passphrase';

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
  /** The key slot that PASSPHRASE opens; OTHER_PASSPHRASE opens the other. */
  readonly firstSlot: string;
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
  const backUp = async (directory: string, words: readonly string[] = []): Promise<string> => {
    const outcome = await succeed(place, ['backup', '--json', ...words, directory]);
    return String(jsonLines(outcome).at(-1)?.['snapshot_id']);
  };
  const keep = async (version: number, directory: string, words?: readonly string[]): Promise<void> => {
    const tree = workspace.path(`${name}-version-${version}`);
    copyAside(directory, tree);
    snapshots.set(await backUp(directory, words), { source: directory, tree });
  };
  await keep(1, source);
  changeCorpus(source, 2, random);
  appendFileSync(join(source, 'deep', 'deeper', 'deepest', 'file.txt'), 'and more\n');
  await keep(2, source);
  await keep(3, plainSource, ['--no-encryption']);
  for (let i = 0; i < 2; i += 1) await succeed(place, ['forget', await backUp(source)]);
  const [firstSlot = ''] = slotsOf(place);
  const passphraseFile = workspace.path(`${name}-passphrase`);
  writeFileSync(passphraseFile, OTHER_PASSPHRASE, { mode: 0o600 });
  await succeed(place, ['keys', 'add', '--new-password-file', passphraseFile]);
  rmSync(passphraseFile);
  const neededPacks = await addRecords(place);
  if (snapshots.size !== (await snapshotIds(place)).length) throw new Error('a snapshot is missing');
  return { place, objects: objectsOf(place), snapshots, neededPacks, firstSlot };
}

function slotsOf({ repository }: Place): string[] {
  return [...listRepository(repository).objects.keys()].filter((key) => /^keys\/[0-9a-f]{32}$/.test(key));
}

/** Adds a second configuration and the leases of two processes that died. Returns the packs that snapshots need. */
async function addRecords(place: Place): Promise<ReadonlySet<string>> {
  const repository = await openSite(place);
  try {
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
  } finally {
    await repository.close();
  }
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
