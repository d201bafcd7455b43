/** What the program does with a repository, each as one operation on a small one in memory. */
import { randomBytes } from 'node:crypto';
import { appendFileSync, linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { archive } from '../../src/archiver/archive.ts';
import { SILENT } from '../../src/archiver/report/observer.ts';
import { RepositoryError } from '../../src/base/errors.ts';
import { systemClock } from '../../src/base/clock.ts';
import { DEFAULT_COMPRESSION } from '../../src/codec/compress.ts';
import { copySnapshots, missingIn, type CopyObserver } from '../../src/copier/copy.ts';
import { repairFrom } from '../../src/copier/repair.ts';
import type { Destination, ListedObject } from '../../src/destination/destination.ts';
import { createMemoryDestination } from '../../src/destination/memory.ts';
import { SILENT_CHECK, type CheckReport } from '../../src/repository/check/check-report.ts';
import { check } from '../../src/repository/check/check.ts';
import { putConfig } from '../../src/repository/configuration.ts';
import type { Secret } from '../../src/repository/slots/key-slots.ts';
import { addKey, listKeys, removeKey } from '../../src/repository/keys/keys.ts';
import { prune, SILENT_PRUNE } from '../../src/repository/prune/prune.ts';
import { recover } from '../../src/repository/check/recover.ts';
import { createRepository, openRepository } from '../../src/repository/opening.ts';
import type { Repository } from '../../src/repository/repository.ts';
import { forgetSnapshots, listSnapshots, type Snapshot } from '../../src/repository/snapshots.ts';
import { SILENT_RESTORE } from '../../src/restorer/request/request.ts';
import { restore } from '../../src/restorer/restore.ts';
import { snapshotDifferences } from '../support/compare-snapshot.ts';
import { requestFor, treeOf } from '../support/engine.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import { copyAside } from './corpus.ts';
import { expectOnlyLost } from './damage-judge.ts';
import type { Workspace } from './workspace.ts';

const never = new AbortController().signal;
const COST = { m: 64, t: 1, p: 1 };
const SIZES = { packTarget: 100_000, segmentTarget: 65_536 };
const GRACE_SECONDS = 200_000;
const secret: Secret = { kind: 'machine', secret: randomBytes(32) };
const secondSecret: Secret = { kind: 'machine', secret: randomBytes(32) };
const thirdSecret: Secret = { kind: 'machine', secret: randomBytes(32) };
const silent: CopyObserver = { begin: () => {}, read: () => {}, copied: () => {}, failed: () => {} };
/** Leases of runs that died are older than they last. */
export const AN_HOUR_MS = 3_600_000;

type Stored = readonly (ListedObject & { readonly bytes: Buffer })[];

/** What every operation starts from. */
export interface CallSite {
  readonly workspace: Workspace;
  /** It has changed since the newest snapshot. */
  readonly source: string;
  readonly stored: Stored;
  /** Another repository, made alike, that holds the same snapshots. */
  readonly copy: Stored;
  /** Ids of the live snapshots, oldest first, and their trees in words. */
  readonly trees: ReadonlyMap<string, string>;
  /** A copy of the source as the newest of them has it. */
  readonly newest: string;
}

export interface Operation {
  readonly name: string;
  /** The site's repository, a new one, or none at all. */
  readonly on: 'site' | 'new' | 'nothing';
  /** Snapshots may go by it. */
  readonly forgets?: boolean;
  /** May be done again when it was done already. Throws what the operation throws, and when it says that it failed. */
  readonly run: (site: CallSite, through: Destination, target: string) => Promise<unknown>;
  /** Whether the effect is there; without it, `run` has looked. */
  readonly achieved?: (site: CallSite, destination: Destination) => Promise<boolean>;
}

/** Where an operation begins. */
export async function placeFor(site: CallSite, { on }: Pick<Operation, 'on'>): Promise<Destination> {
  if (on === 'site') return await destinationOf(site.stored);
  const destination = createMemoryDestination();
  if (on === 'new') await create(destination);
  return destination;
}

/** @param ageMs makes it all older by so much */
export async function contentsOf(destination: Destination, ageMs = 0): Promise<Stored> {
  const objects: (ListedObject & { bytes: Buffer })[] = [];
  for await (const page of destination.list('', never)) {
    for (const { key, size, modifiedMs } of page) {
      const bytes = await destination.get(key, undefined, never);
      objects.push({ key, size, modifiedMs: modifiedMs - ageMs, bytes });
    }
  }
  return objects;
}

/** A storage that holds these objects, with the times that they have. */
export async function destinationOf(stored: Stored): Promise<Destination> {
  let putMs: number | undefined;
  const destination = createMemoryDestination(() => putMs ?? Date.now());
  for (const { key, bytes, modifiedMs } of stored) {
    putMs = modifiedMs;
    await destination.put(key, bytes, never);
  }
  putMs = undefined;
  return destination;
}

export async function open(destination: Destination, by: Secret = secret): Promise<Repository> {
  return await openRepository(destination, by, { clock: systemClock, stateDirectory: undefined }, never);
}

async function create(destination: Destination, like?: Repository): Promise<Repository> {
  const secrets = [{ secret, label: 'first' }];
  const options = { clock: systemClock, stateDirectory: undefined, secrets, cost: COST, ...SIZES };
  return await createRepository(destination, like === undefined ? options : { ...options, like }, never);
}

export async function shownTree(repository: Repository, snapshot: Snapshot): Promise<string> {
  const shown = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? `${value}n` : value);
  return JSON.stringify([...(await treeOf(repository, snapshot))], shown);
}

export async function checkAll(repository: Repository): Promise<CheckReport> {
  return await check(repository, { readData: 'all', workers: 0 }, SILENT_CHECK, never);
}

/** Two live snapshots of a source that has changed since, a forgotten one, and packs of which little is needed. */
export async function makeSite(workspace: Workspace, random: SeededRandom): Promise<CallSite> {
  const source = workspace.path('every-call');
  mkdirSync(join(source, 'below', 'deep'), { recursive: true });
  for (let i = 0; i < 4; i += 1) writeFileSync(join(source, 'below', `file-${i}`), random.bytes(5_000));
  writeFileSync(join(source, 'below', 'deep', 'large'), random.bytes(300_000));
  linkSync(join(source, 'below', 'file-1'), join(source, 'twin'));
  symlinkSync('twin', join(source, 'link'));
  const destination = createMemoryDestination(() => Date.now() - AN_HOUR_MS);
  const repository = await create(destination);
  const backUp = async (): Promise<Snapshot> =>
    (await archive(requestFor(repository, [source]), SILENT, never)).snapshot;
  const first = await backUp();
  appendFileSync(join(source, 'below', 'file-2'), 'more\n');
  writeFileSync(join(source, 'below', 'deep', 'large'), random.bytes(200_000));
  await backUp();
  writeFileSync(join(source, 'below', 'new'), random.bytes(60_000));
  const last = await backUp();
  expect(await snapshotDifferences(repository, last, source, never)).toEqual([]);
  const newest = workspace.path('every-call-newest');
  copyAside(source, newest);
  appendFileSync(join(source, 'below', 'file-3'), 'even more\n');
  const second = { secret: secondSecret, label: 'second', cost: COST };
  const { repository: keyed } = await addKey(repository, second, never);
  await forgetSnapshots(keyed, [first.id], 'by the sweep', never);
  const { live } = await listSnapshots(keyed, never);
  const trees = new Map<string, string>();
  for (const one of live) trees.set(one.id, await shownTree(keyed, one));
  expect([...trees.keys()].at(-1)).toBe(last.id);
  const alike = createMemoryDestination(() => Date.now() - AN_HOUR_MS);
  await copyAll(keyed, await create(alike, keyed));
  const [stored, copy] = [await contentsOf(destination), await contentsOf(alike)];
  return { workspace, source, stored, copy, trees, newest };
}

/** All of them can be read, or the operation says which cannot. */
async function readable(repository: Repository): Promise<readonly Snapshot[]> {
  const { live, damaged } = await listSnapshots(repository, never);
  requireNone(damaged.map(({ id }) => `snapshot ${id} cannot be read`));
  return live;
}

async function copyAll(from: Repository, to: Repository): Promise<void> {
  const snapshots = missingIn(await readable(to), await readable(from));
  const request = { from, to, snapshots, compression: DEFAULT_COMPRESSION };
  const { failed } = await copySnapshots(request, silent, never);
  requireNone(failed > 0 ? [`${failed} snapshots were not copied`] : []);
}

/** What an operation says of itself, as the error that its command ends with. */
function requireNone(failures: readonly string[]): void {
  if (failures.length > 0) throw new RepositoryError('CORRUPT_DATA', failures.join('; '));
}

async function liveOf(destination: Destination): Promise<readonly Snapshot[]> {
  return (await listSnapshots(await open(destination), never)).live;
}

async function backUpAgain({ source }: CallSite, through: Destination): Promise<void> {
  const { snapshot } = await archive(requestFor(await open(through), [source]), SILENT, never);
  requireNone(snapshot.record.status === 'complete' ? [] : ['the snapshot is partial']);
}

async function newestIsNow({ source }: CallSite, destination: Destination): Promise<boolean> {
  const repository = await open(destination);
  const newest = (await listSnapshots(repository, never)).live.at(-1);
  if (newest === undefined) return false;
  expect(await snapshotDifferences(repository, newest, source, never)).toEqual([]);
  return true;
}

async function opensWith(destination: Destination, by: Secret): Promise<boolean> {
  return await open(destination, by).then(
    () => true,
    () => false,
  );
}

async function removeSecond(through: Destination): Promise<void> {
  const repository = await open(through);
  const slot = (await listKeys(repository, never)).find(({ label }) => label === 'second')?.slot;
  if (slot !== undefined) await removeKey(repository, slot, never);
}

/** What is restored is the newest snapshot but for what the restore says that it lacks. */
async function restoreNewest(site: CallSite, through: Destination, target: string): Promise<void> {
  const repository = await open(through);
  const id = [...site.trees.keys()].at(-1);
  const snapshot = (await listSnapshots(repository, never)).live.find((one) => one.id === id);
  if (snapshot === undefined) throw new RepositoryError('SNAPSHOT_NOT_FOUND', 'the newest is not there');
  const request = {
    repository,
    snapshot,
    target: { kind: 'directory', path: target } as const,
    paths: [],
    never: [],
    include: [],
    exclude: [],
    overwrite: 'never' as const,
    deleteExtra: false,
    dryRun: false,
    verify: true,
    restoreOwnership: process.getuid?.() === 0,
    ownersByName: false,
    workers: 1,
  };
  const { errors, status } = await restore(request, SILENT_RESTORE, never);
  expect(status).toBe(errors.length === 0 ? 'complete' : 'partial');
  const lost = errors.map(({ path }) => String(path));
  expectOnlyLost({ source: site.source, tree: site.newest }, target, lost, 'the restore');
  requireNone(lost);
}

export const OPERATIONS: readonly Operation[] = [
  {
    name: 'init',
    on: 'nothing',
    run: async (_, through) => {
      if (!(await opensWith(through, secret))) await create(through);
    },
    achieved: async (_, destination) => await opensWith(destination, secret),
  },
  { name: 'first backup', on: 'new', run: backUpAgain, achieved: newestIsNow },
  { name: 'incremental backup', on: 'site', run: backUpAgain, achieved: newestIsNow },
  {
    name: 'forget',
    on: 'site',
    forgets: true,
    run: async (_, through) => {
      const repository = await open(through);
      const live = await readable(repository);
      const old = live.slice(0, -1).map(({ id }) => id);
      if (old.length > 0) await forgetSnapshots(repository, old, 'by the sweep', never);
    },
    achieved: async (_, destination) => (await liveOf(destination)).length === 1,
  },
  {
    name: 'prune',
    on: 'site',
    run: async (_, through) => {
      const options = { graceSeconds: 0, noOtherWriters: true };
      return await prune(await open(through), options, SILENT_PRUNE, never);
    },
    achieved: async (_, destination) =>
      (await checkAll(await open(destination))).counts.packsUnreferenced === 0,
  },
  {
    name: 'recover',
    on: 'site',
    run: async (_, through) => {
      const { unreadable } = await recover(await open(through), never);
      requireNone(unreadable.map(({ name }) => `pack ${name} was not indexed`));
    },
  },
  {
    name: 'check',
    on: 'site',
    run: async (_, through) => {
      const { findings } = await checkAll(await open(through));
      requireNone(findings.filter(({ severity }) => severity === 'error').map(({ object }) => object));
    },
  },
  {
    name: 'keys add',
    on: 'site',
    run: async (_, through) => {
      const third = { secret: thirdSecret, label: 'third', cost: COST };
      if (!(await opensWith(through, thirdSecret))) await addKey(await open(through), third, never);
    },
    achieved: async (_, destination) => await opensWith(destination, thirdSecret),
  },
  {
    name: 'keys remove',
    on: 'site',
    run: async (_, through) => await removeSecond(through),
    achieved: async (_, destination) => !(await opensWith(destination, secondSecret)),
  },
  {
    name: 'change of the configuration',
    on: 'site',
    run: async (_, through) => {
      const repository = await open(through);
      if (repository.config.graceSeconds === GRACE_SECONDS) return;
      await putConfig(repository, { ...repository.config, graceSeconds: GRACE_SECONDS }, 2, never);
    },
    achieved: async (_, destination) => (await open(destination)).config.graceSeconds === GRACE_SECONDS,
  },
  {
    name: 'copy to it',
    on: 'new',
    run: async ({ stored }, through) =>
      await copyAll(await open(await destinationOf(stored)), await open(through)),
    achieved: async ({ trees }, destination) => (await liveOf(destination)).length === trees.size,
  },
  {
    name: 'copy from it',
    on: 'site',
    run: async ({ trees }, through) => {
      const to = await create(createMemoryDestination());
      await copyAll(await open(through), to);
      const { status, counts } = await checkAll(to);
      expect(status).toBe('ok');
      expect(counts.snapshots).toBe(trees.size);
    },
  },
  {
    name: 'repair',
    on: 'site',
    run: async ({ copy }, through) => {
      const other = await open(await destinationOf(copy));
      const request = { repository: await open(through), other, damaged: new Set<string>() };
      const { broken } = await repairFrom(request, silent, never);
      requireNone(broken.map((id) => `snapshot ${id} is broken`));
    },
  },
  { name: 'restore', on: 'site', run: restoreNewest },
];
