/** Hosts, their disks and a storage as they are when an attack begins: made once a process, and the same for every seed. */
import { archive } from '../../src/archiver/archive.ts';
import { SILENT } from '../../src/archiver/report/observer.ts';
import { readPackDirectory } from '../../src/repository/chunk-index.ts';
import type { Secret } from '../../src/repository/slots/key-slots.ts';
import { addKey, rotateKeys } from '../../src/repository/keys/keys.ts';
import { listNamed } from '../../src/repository/objects/listing.ts';
import { prune, SILENT_PRUNE } from '../../src/repository/prune/prune.ts';
import { createRepository, openRepository } from '../../src/repository/opening.ts';
import type { Repository } from '../../src/repository/repository.ts';
import { forgetSnapshots } from '../../src/repository/snapshots.ts';
import { FIRST_MOMENT_MS, STATE_ROOT } from '../simulator/machine.ts';
import { enterSimulation } from '../simulator/process-hooks.ts';
import type { Manifest } from '../simulator/source-tree.ts';
import { ObjectStorage } from '../simulator/storage.ts';
import { HOUR, MINUTE } from '../simulator/times.ts';
import { World } from '../simulator/world.ts';
import { requestOf } from './backup-request.ts';
import { QuickMachine } from './quick-machine.ts';
import { runAlone } from './run-alone.ts';
import { forgetAsBefore, oldConfig } from './signed-before.ts';
import { Sealing } from './sealing.ts';
import { Lies, viewOf } from './storage-view.ts';

export const HOSTS = ['admin', 'db1', 'web', 'server'] as const;
export type Host = (typeof HOSTS)[number];

/** Whose machine was broken into. */
export const THIEF = 'server';
export const THIEF_KEY = 1;
export const WEB_KEY = 2;

const full: Secret = { kind: 'machine', secret: Buffer.alloc(32, 7) };
export const SECRETS: Readonly<Record<Host, Secret>> = {
  admin: full,
  db1: full,
  server: { kind: 'write-only', secret: Buffer.alloc(32, 8) },
  web: { kind: 'write-only', secret: Buffer.alloc(32, 9) },
};

const cost = { m: 64, t: 1, p: 1 };
const { signal } = new AbortController();

/** A backup that somebody honest made. */
export interface Run {
  readonly tag: string;
  readonly host: Host;
  readonly manifest: Manifest;
}

export interface KnownChunk {
  readonly id: Buffer;
  readonly kind: 'data' | 'tree';
  readonly length: number;
}

export interface Scene {
  /** Oldest first. */
  readonly objects: readonly { readonly key: string; readonly body: Buffer; readonly storedMs: number }[];
  /** Everything that there ever was, for whoever kept it. */
  readonly kept: ReadonlyMap<string, Buffer>;
  readonly machines: ReadonlyMap<Host, QuickMachine>;
  /** The first one is forgotten. */
  readonly runs: readonly Run[];
  /** Id of the snapshot of the first one. */
  readonly forgotten: string;
  readonly slotOfThief: string;
  readonly chunks: readonly KnownChunk[];
  /** With the stolen key. */
  readonly sealing: Sealing;
  readonly nowMs: number;
}

let present: World | undefined;
let isEntered = false;
const scenes = new Map<Age, Promise<Scene>>();

/** `old`: made by a version that signed configurations for no number, and tombstones for no place. */
export type Age = 'new' | 'old';

/** From now on programs run in this world. */
export function enterWorld(world: World): void {
  present = world;
}

function enterOnce(): true {
  enterSimulation(() => present?.current);
  return true;
}

export async function sceneOf(age: Age): Promise<Scene> {
  const scene = scenes.get(age) ?? makeScene(age);
  scenes.set(age, scene);
  return await scene;
}

async function makeScene(age: Age): Promise<Scene> {
  const world = new World({ traced: false });
  enterWorld(world);
  const machines = new Map(HOSTS.map((name, n) => [name, new QuickMachine(world, name, n + 1)]));
  const storage = new ObjectStorage(world, { coarseTimes: false });
  const kept = new Map<string, Buffer>();
  const runs: Run[] = [];
  const lies = new Lies();
  const watch = {
    called: () => undefined,
    stored: (_: string, key: string) => void kept.set(key, storage.get(key)?.body ?? Buffer.alloc(0)),
    deleted: () => {},
    read: () => {},
  };
  const machineOf = (name: Host): QuickMachine => {
    const machine = machines.get(name);
    if (machine === undefined) throw new Error(`there is no ${name}`);
    return machine;
  };
  world.current = machineOf('admin');
  isEntered ||= enterOnce();
  const as = async <T>(name: Host, work: (machine: QuickMachine) => Promise<T>): Promise<T> => {
    world.nowMs += MINUTE;
    const machine = machineOf(name);
    return await runAlone(world, machine, async () => await work(machine));
  };
  const destinationOf = (machine: QuickMachine) =>
    viewOf({ machine, storage, lies, watch, conditionalCreate: true });
  const open = async (name: Host): Promise<Repository> => {
    const machine = machineOf(name);
    const options = { clock: machine.clock, stateDirectory: STATE_ROOT };
    return await openRepository(destinationOf(machine), SECRETS[name], options, signal);
  };
  const backup = async (name: Host): Promise<string> =>
    await as(name, async (machine) => {
      const tag = `${name}-before-${runs.length}`;
      const run = { tag, host: name, manifest: machine.sources.manifest() };
      const { snapshot } = await archive(requestOf(await open(name), machine, tag), SILENT, signal);
      runs.push(run);
      return snapshot.id;
    });

  // What it remembers of the number of the configuration is forgotten with it.
  const maker = new QuickMachine(world, 'maker', 99);
  await runAlone(world, maker, async () => {
    const machine = maker;
    const options = {
      clock: machine.clock,
      stateDirectory: STATE_ROOT,
      packTarget: 65_536,
      segmentTarget: 65_536,
    };
    const secrets = [{ secret: full, label: 'full' }];
    const made = await createRepository(destinationOf(machine), { ...options, secrets, cost }, signal);
    const config = oldConfig(made);
    if (age === 'old')
      for (const key of ['config/1', 'copies/config/1']) {
        storage.put(key, config);
        watch.stored('', key);
      }
  });
  const slotOfThief = await as('admin', async () => {
    const keyOf = (name: Host) => ({ secret: SECRETS[name], label: name, cost });
    const { repository, slot } = await addKey(await open('admin'), keyOf(THIEF), signal);
    await addKey(repository, keyOf('web'), signal);
    return slot;
  });
  for (const machine of machines.values()) {
    const random = machine.chance;
    for (const path of ['one', 'a/two', 'a/b/three'])
      machine.sources.write(`${machine.sources.root}/${path}`, random.bytes(500 + random.below(1_500)));
  }
  const gone = await backup('admin');
  for (const name of HOSTS) {
    const { sources, chance } = machineOf(name);
    sources.write(`${sources.root}/one`, chance.bytes(1_200));
    await backup(name);
  }
  if (age === 'old') {
    await as('db1', async () => await forgetAsBefore(await open('db1'), [gone], signal));
  } else {
    await as('admin', async () => await forgetSnapshots(await open('admin'), [gone], 'by hand', signal));
    await as('admin', async () => await prune(await open('admin'), {}, SILENT_PRUNE, signal));
  }
  await as('admin', async () => await rotateKeys(await open('admin'), signal));
  world.nowMs += HOUR;
  for (const name of ['db1', 'web', THIEF] as const) await backup(name);
  world.nowMs += HOUR;
  const objects = storage
    .keys()
    .map((key) => ({ key, object: storage.get(key) }))
    .flatMap(({ key, object }) =>
      object === undefined ? [] : [{ key, body: object.body, storedMs: object.modifiedMs - FIRST_MOMENT_MS }],
    )
    .sort((a, b) => a.storedMs - b.storedMs);
  const chunks = await as('admin', async () => await chunksOf(await open('admin')));
  const sealing = await as(THIEF, async () => new Sealing(await open(THIEF)));
  const { nowMs } = world;
  return { objects, kept, machines, runs, forgotten: gone, slotOfThief, chunks, sealing, nowMs };
}

async function chunksOf(repository: Repository): Promise<KnownChunk[]> {
  const chunks: KnownChunk[] = [];
  for (const key of await listNamed(repository.destination, 'packs/', signal)) {
    const [name, { size }] = key;
    const { directory } = await readPackDirectory(repository, name, size, signal);
    for (const [n, length] of directory.lengths.entries())
      chunks.push({ id: directory.ids.subarray(n * 24, n * 24 + 24), kind: directory.kind, length });
  }
  return chunks;
}
