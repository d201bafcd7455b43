/** An empty list of snapshots, and whether it is what is left of a longer one. */
import { randomBytes } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import type { Destination } from '../../../src/destination/destination.ts';
import { createMemoryDestination } from '../../../src/destination/memory.ts';
import type { Secret } from '../../../src/repository/slots/key-slots.ts';
import { createRepository, openRepository } from '../../../src/repository/opening.ts';
import type { Repository } from '../../../src/repository/repository.ts';
import { forgetSnapshots, listSnapshots } from '../../../src/repository/snapshots.ts';
import { haveAllVanished } from '../../../src/repository/chains/lost-records.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { tinyBackup } from '../../support/tiny-archiver.ts';

const { signal } = new AbortController();
const clock = manualClock();
const secret: Secret = { kind: 'machine', secret: randomBytes(32) };

let memory: Destination;
let writer: Repository;
/** Of a machine that remembers nothing. */
let reader: Repository;

beforeEach(async () => {
  memory = createMemoryDestination();
  const options = { clock, stateDirectory: undefined };
  const secrets = [{ secret, label: 'test' }];
  writer = await createRepository(memory, { ...options, secrets, cost: { m: 64, t: 1, p: 1 } }, signal);
  reader = await openRepository(memory, secret, { ...options, allowWeakCost: true }, signal);
});

async function backUp(): Promise<string> {
  return (await tinyBackup(writer, { file: randomBytes(100) }, {}, signal)).id;
}

async function vanished(): Promise<boolean> {
  return await haveAllVanished(reader, await listSnapshots(reader, signal), signal);
}

test('a repository in which nothing was saved yet has lost nothing', async () => {
  expect(await vanished()).toBe(false);
});

test('snapshots that are gone are missed', async () => {
  const id = await backUp();
  expect(await vanished()).toBe(false);
  await memory.delete(`snapshots/${id}`, signal);
  expect(await vanished()).toBe(true);
});

test('what was forgotten is not missed', async () => {
  const id = await backUp();
  await forgetSnapshots(writer, [id], 'test', signal);
  expect((await listSnapshots(reader, signal)).live).toEqual([]);
  expect(await vanished()).toBe(false);
});

test('what was stored after the list was read is not missed', async () => {
  const before = await listSnapshots(reader, signal);
  await backUp();
  expect(await haveAllVanished(reader, before, signal)).toBe(false);
});
