/** Backups that meet damage in what the snapshot before is made of. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DestinationError } from '../../src/base/errors.ts';
import type { Destination } from '../../src/destination/destination.ts';
import { createMemoryDestination } from '../../src/destination/memory.ts';
import { loadForReading } from '../../src/repository/contents/index-for.ts';
import { packKey } from '../../src/repository/objects/listing.ts';
import { damagedPacks, readTombstones } from '../../src/repository/tombstones.ts';
import { never, openEngine, type Engine } from '../support/engine.ts';

const DIRECTORIES = 30;

let inner: Destination;
let engine: Engine;
/** May change what comes of a read. */
let read: (key: string, bytes: Buffer) => Buffer;
let beforePut: (key: string) => void;

beforeEach(async () => {
  inner = createMemoryDestination();
  read = (_key, bytes) => bytes;
  beforePut = () => {};
  const destination: Destination = {
    ...bound(inner),
    get: async (key, range, signal) => read(key, await inner.get(key, range, signal)),
    put: async (key, body, signal) => {
      beforePut(key);
      return await inner.put(key, body, signal);
    },
  };
  engine = await openEngine({ destination });
  for (let n = 0; n < DIRECTORIES; n += 1) {
    mkdirSync(join(engine.source, `d${n}`));
    writeFileSync(join(engine.source, `d${n}/file`), `content ${n}`);
  }
  await engine.backup();
});
afterEach(async () => {
  await engine[Symbol.asyncDispose]();
});

function bound(destination: Destination): Destination {
  return {
    properties: destination.properties,
    put: async (...words) => await destination.put(...words),
    get: async (...words) => await destination.get(...words),
    stat: async (...words) => await destination.stat(...words),
    list: (...words) => destination.list(...words),
    delete: async (...words) => await destination.delete(...words),
    close: async () => await destination.close(),
  };
}

async function treePacks(): Promise<readonly string[]> {
  const { packs: marked } = await readTombstones(engine.repository, never);
  const { packs } = await loadForReading(engine.repository, [marked], never);
  return packs.filter(({ kind }) => kind === 'tree').map(({ name }) => name);
}

/** One byte of the first segment. */
async function rot(name: string): Promise<void> {
  const bytes = Buffer.from(await inner.get(packKey(name), undefined, never));
  bytes[90] = (bytes[90] ?? 0) ^ 0xff;
  await inner.delete(packKey(name), never);
  await inner.put(packKey(name), bytes, never);
}

async function marked(): Promise<readonly string[]> {
  return [...damagedPacks(await readTombstones(engine.repository, never))];
}

test('mark the pack, rely on nothing in it, and are whole', async () => {
  const [name = ''] = await treePacks();
  await rot(name);
  const { snapshot } = await engine.backup();
  expect(await marked()).toEqual([name]);
  expect(snapshot.record.status).toBe('complete');
  expect(await engine.differences(snapshot)).toEqual([]);
});

test('find all packs of trees that are damaged, though the snapshot before no longer leads to them', async () => {
  // Each further backup that changes one directory stores a pack of trees of its own.
  for (let n = 0; n < 6; n += 1) {
    writeFileSync(join(engine.source, `d${n}/file`), `changed ${n}`);
    await engine.backup();
  }
  const names = await treePacks();
  expect(names.length).toBeGreaterThan(5);
  for (const name of names) await rot(name);
  const { snapshot } = await engine.backup();
  expect((await marked()).length).toBeGreaterThan(3);
  expect(await engine.differences(snapshot)).toEqual([]);
});

test('mark nothing when only the connection has spoiled what came, once', async () => {
  const [name = ''] = await treePacks();
  let spoiled = 0;
  read = (key, bytes) => {
    if (key !== packKey(name) || spoiled > 0) return bytes;
    spoiled += 1;
    const other = Buffer.from(bytes);
    other[other.length >> 1] = (other[other.length >> 1] ?? 0) ^ 1;
    return other;
  };
  const { snapshot } = await engine.backup();
  expect(spoiled).toBe(1);
  expect(await marked()).toEqual([]);
  expect(snapshot.record.status).toBe('complete');
  expect(await engine.differences(snapshot)).toEqual([]);
});

test('are not called complete where the pack cannot be marked: readers may still look into it', async () => {
  const [name = ''] = await treePacks();
  await rot(name);
  let refused = 0;
  beforePut = (key) => {
    if (!key.startsWith('trash/')) return;
    refused += 1;
    throw new DestinationError('denied', 'Nothing may be put there', { op: 'put' });
  };
  const { snapshot } = await engine.backup();
  expect(refused).toBeGreaterThan(0);
  expect(snapshot.record.status).toBe('partial');
  expect(snapshot.record.errors[0]?.message).toContain(
    `pack ${name} is damaged, and could not be marked as damaged`,
  );
});
