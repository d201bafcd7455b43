import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ArchiveSummary } from '../../src/archiver/archive.ts';
import { RepositoryError } from '../../src/base/errors.ts';
import { CIPHER_GCM, CIPHER_PLAIN, OBJECT_TYPES, type ObjectType } from '../../src/format/header.ts';
import { loadIndex, type KnownPack } from '../../src/repository/chunk-index.ts';
import { openObject } from '../../src/repository/objects/objects.ts';
import { compareTrees, shownDifference } from '../support/compare-trees.ts';
import { entryOf, never, openEngine, type Engine } from '../support/engine.ts';
import { seededRandom } from '../support/seeded-random.ts';

const CONTENT_BYTES = 1_300_000;
/** Stands in the source, and so in the stored bytes only where nothing is encrypted. */
const CANARY = 'canary-9f83a2b7c4d1e6';

let engine: Engine;
/** In this order; each of them is of the same source. */
let sealed: ArchiveSummary;
let plain: ArchiveSummary;
let isolated: ArchiveSummary;
let plainIsolated: ArchiveSummary;
/** Packs that each of them stored. */
const packs = new Map<ArchiveSummary, readonly KnownPack[]>();

beforeAll(async () => {
  engine = await openEngine();
  const random = seededRandom(41);
  mkdirSync(join(engine.source, 'a'));
  for (let index = 0; index < 10; index += 1)
    writeFileSync(join(engine.source, 'a', `${index}`), random.bytes(30_000));
  writeFileSync(join(engine.source, 'large'), random.bytes(1_000_000));
  writeFileSync(join(engine.source, `${CANARY}-name`), `${CANARY} content`);
  // What was touched within a tick of the file system's clock before a run is read again by the next one.
  await delay(60);

  let known = new Set<string>();
  const run = async (options: { plain: boolean; isolated: boolean }): Promise<ArchiveSummary> => {
    const summary = await engine.backup(undefined, { ...options, compression: { kind: 'none' } });
    const index = await loadIndex(engine.repository, { without: new Set() }, never);
    packs.set(
      summary,
      index.packs.filter(({ name }) => !known.has(name)),
    );
    known = new Set(index.packs.map(({ name }) => name));
    return summary;
  };
  sealed = await run({ plain: false, isolated: false });
  plain = await run({ plain: true, isolated: false });
  isolated = await run({ plain: false, isolated: true });
  plainIsolated = await run({ plain: true, isolated: true });
});
afterAll(async () => {
  await engine[Symbol.asyncDispose]();
});

test('each of them stores all of the source, though others have stored it before', () => {
  for (const summary of [sealed, plain, isolated, plainIsolated]) {
    expect(summary.bytesNew).toBeGreaterThan(CONTENT_BYTES);
    expect(summary.bytesNew).toBeLessThan(CONTENT_BYTES * 1.02);
    expect(summary.snapshot.record.counts.new).toBe(12);
  }
});

test('all of them restore to the same', async () => {
  for (const [name, { snapshot }] of Object.entries({ sealed, plain, isolated, plainIsolated })) {
    expect(await engine.differences(snapshot), name).toEqual([]);
    const { source } = await engine.restoreTo(name, snapshot);
    expect(compareTrees(engine.source, source).map(shownDifference), name).toEqual([]);
  }
});

test('no chunk has the same name in two of them', async () => {
  const ids = new Set<string>();
  const summaries = [sealed, plain, isolated, plainIsolated];
  for (const { snapshot } of summaries) {
    const file = await entryOf(engine, snapshot, join(engine.source, 'large'), 'file');
    const directory = await entryOf(engine, snapshot, join(engine.source, 'a'), 'directory');
    ids.add(file.content.toString('hex')).add(directory.id.toString('hex'));
  }
  expect(ids.size).toBe(2 * summaries.length);
});

test('the packs of a plain run are readable without a key, and those of the others are not', async () => {
  for (const summary of [sealed, isolated, plain, plainIsolated]) {
    const isPlain = summary === plain || summary === plainIsolated;
    const stored = packs.get(summary) ?? [];
    expect(stored.map(({ kind }) => kind).sort()).toContain('tree');
    let canaries = 0;
    for (const { name, cipher } of stored) {
      expect(cipher).toBe(isPlain ? CIPHER_PLAIN : CIPHER_GCM);
      const bytes = await engine.calls.get(`packs/${name.slice(0, 2)}/${name}`, undefined, never);
      if (bytes.includes(CANARY)) canaries += 1;
    }
    // The name in a tree pack, the content in a data pack.
    expect(canaries).toBe(isPlain ? 2 : 0);
  }
});

test('a plain run has a plain parent, an isolated one none', async () => {
  const parents = [sealed, plain, isolated, plainIsolated].map(({ snapshot }) => snapshot.record.parent);
  expect(parents).toEqual([undefined, undefined, undefined, undefined]);
  const again = {
    sealed: await engine.backup(undefined, {}),
    plain: await engine.backup(undefined, { plain: true }),
    isolated: await engine.backup(undefined, { isolated: true }),
  };
  expect(again.sealed.snapshot.record.parent).toBe(sealed.snapshot.id);
  expect(again.plain.snapshot.record.parent).toBe(plain.snapshot.id);
  expect(again.isolated.snapshot.record.parent).toBeUndefined();
  expect(again.isolated.bytesNew).toBeGreaterThan(CONTENT_BYTES);
  expect(again.plain.bytesRead).toBe(0);
  // A parent of the other kind is not taken even when it is asked for.
  const wrong = await engine.backup(undefined, { plain: true, parent: { snapshot: sealed.snapshot.id } });
  expect(wrong.snapshot.record.parent).toBeUndefined();
  expect(await engine.differences(wrong.snapshot)).toEqual([]);
});

test('everything but packs stays sealed: no other object may be plain', async () => {
  const { keys } = engine.repository;
  const types: readonly ObjectType[] = Object.values(OBJECT_TYPES);
  let tried = 0;
  for (const prefix of ['snapshots/', 'index/', 'heads/', 'config/', 'leases/']) {
    for await (const page of engine.calls.list(prefix, never)) {
      for (const { key } of page) {
        const bytes = await engine.calls.get(key, undefined, never);
        expect(bytes.includes(CANARY), key).toBe(false);
        expect(bytes[6], key).toBe(CIPHER_GCM);
        // Somebody who can write to the destination turns the cipher off.
        bytes[6] = CIPHER_PLAIN;
        bytes.fill(0, 44, 76);
        const type = types.find((one) => one === bytes[5]);
        if (type === undefined) throw new Error(`${key} has an unknown type`);
        expect(() => openObject(keys, type, bytes, key), key).toThrow(RepositoryError);
        tried += 1;
      }
    }
  }
  expect(tried).toBeGreaterThan(10);
});
