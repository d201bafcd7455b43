/**
 * After a repair the damaged packs are there until the grace period is over, beside the new ones: whatever reads takes
 * the new ones.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { treePath } from '../../src/base/tree-path.ts';
import { systemClock } from '../../src/base/clock.ts';
import { DEFAULT_COMPRESSION } from '../../src/codec/compress.ts';
import { copySnapshots, type CopyObserver } from '../../src/copier/copy.ts';
import { repairFrom } from '../../src/copier/repair.ts';
import type { Place } from '../../src/daemon/places/destinations.ts';
import { Reading } from '../../src/daemon/snapshots/reading.ts';
import { createMemoryDestination } from '../../src/destination/memory.ts';
import { openLocalDestination } from '../../src/destination/local/local.ts';
import { check } from '../../src/repository/check/check.ts';
import { SILENT_CHECK } from '../../src/repository/check/check-report.ts';
import { createRepository, openRepository } from '../../src/repository/opening.ts';
import type { Repository } from '../../src/repository/repository.ts';
import { listSnapshots, type Snapshot } from '../../src/repository/snapshots.ts';
import { never } from '../support/engine.ts';
import {
  PASSPHRASE,
  completed,
  openSite,
  startEngine,
  type EngineProcess,
  type EngineSite,
} from '../unit/engine/engine-process.ts';
import { namesBelow } from '../support/names-below.ts';
import { restoredPath } from '../support/restored-path.ts';

const silent: CopyObserver = { begin: () => {}, read: () => {}, copied: () => {}, failed: () => {} };
const content = randomBytes(300_000);
const secret = { kind: 'passphrase', text: PASSPHRASE } as const;
let engine: EngineProcess;
let site: EngineSite;
let repository: Repository;
let snapshot: Snapshot;

beforeAll(async () => {
  engine = await startEngine();
  site = openSite();
  mkdirSync(site.store);
  site.write({ 'deep/file': content });
  completed(await engine.run(site.job(site.backup(), { never: [site.store] })));
  repository = await openRepository(
    await openLocalDestination(site.store),
    secret,
    { clock: systemClock, stateDirectory: undefined, allowWeakCost: true },
    never,
  );
  const { live } = await listSnapshots(repository, never);
  if (live[0] === undefined) throw new Error('no snapshot');
  [snapshot] = live as [Snapshot];
  const other = await newRepository();
  await copyTo(other);
  const index = join(site.store, 'index');
  const before = new Set(readdirSync(index));
  harmPacks();
  const report = await check(repository, { readData: 'all' }, SILENT_CHECK, never);
  const damaged = report.packsDamaged;
  const { lost, packsReplaced } = await repairFrom({ repository, other, damaged }, silent, never);
  expect({ lost, packs: packsReplaced.length }).toEqual({ lost: 0, packs: damaged.size });
  // The packs that no index object names are met last: whoever heeds no tombstone reads the damaged ones.
  for (const name of readdirSync(index)) if (!before.has(name)) rmSync(join(index, name));
  // What is kept of the trees would hide that they are read.
  rmSync(join(site.state, 'cache'), { recursive: true, force: true });
});
afterAll(async () => {
  await repository.close();
  await engine[Symbol.asyncDispose]();
  site[Symbol.dispose]();
});

/** As the first one in everything that names chunks. */
async function newRepository(): Promise<Repository> {
  const secrets = [{ secret: { kind: 'machine', secret: randomBytes(32) }, label: 'other' }] as const;
  const cost = { m: 64, t: 1, p: 1 };
  const options = { clock: systemClock, stateDirectory: undefined, secrets, cost, like: repository };
  return await createRepository(createMemoryDestination(), options, never);
}

async function copyTo(to: Repository): Promise<Awaited<ReturnType<typeof copySnapshots>>> {
  const request = { from: repository, to, snapshots: [snapshot], compression: DEFAULT_COMPRESSION };
  return await copySnapshots(request, silent, never);
}

function harmPacks(): void {
  const packs = join(site.store, 'packs');
  for (const name of namesBelow(packs)) {
    if (!/[0-9a-f]{64}$/.test(name)) continue;
    const bytes = readFileSync(join(packs, name));
    bytes.writeUInt8(bytes.readUInt8(200) ^ 1, 200);
    writeFileSync(join(packs, name), bytes);
  }
}

test('a restore', async () => {
  const target = join(site.directory, 'restored');
  const outcome = completed(await engine.run(site.job(site.restore(snapshot.id, target))));
  expect(outcome).toMatchObject({ result: 'success', warnings: 0, files: 1 });
  expect(readFileSync(restoredPath(target, site.source, 'deep/file')).equals(content)).toBe(true);
});

test('a drill', async () => {
  const job = site.job({ type: 'drill', destination: 'default', files: 5 });
  expect(completed(await engine.run(job))).toMatchObject({ result: 'success', files: 1, warnings: 0 });
});

test('the page', async () => {
  const place: Place = {
    name: 'default',
    url: `file://${site.store}`,
    location: site.store,
    shown: site.store,
    directory: site.store,
    passphrase: null,
    access: undefined,
  };
  const { url, uploadLimit } = { url: site.store, uploadLimit: null };
  const open = { name: 'default', url, access: undefined, person: undefined, secret, repositoryId: null };
  await using reading = new Reading({
    clock: systemClock,
    stateDirectory: site.state,
    destinations: { open: async () => await Promise.resolve({ ...open, uploadLimit }) },
    weakCost: true,
  });
  const file = await reading.content(place, snapshot.id, treePath(join(site.source, 'deep/file')));
  const parts: Uint8Array[] = [];
  for await (const part of file.read(undefined, never)) parts.push(part);
  expect(Buffer.concat(parts).equals(content)).toBe(true);
});

test('a copy', async () => {
  expect(await copyTo(await newRepository())).toMatchObject({ copied: 1, failed: 0 });
});
