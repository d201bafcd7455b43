/** A machine with a write-only key while others change the keys of the repository, and seal anew what it stored. */

import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { storedByText } from '../../src/base/stored-by.ts';
import { check } from '../../src/repository/check/check.ts';
import { SILENT_CHECK } from '../../src/repository/check/check-report.ts';
import { surveyGenerations, type GenerationUse } from '../../src/repository/keys/generations.ts';
import { removeKey, rotateKeys } from '../../src/repository/keys/keys.ts';
import { SILENT_PRUNE, prune } from '../../src/repository/prune/prune.ts';
import { SILENT_REKEY, planRekey, rekey } from '../../src/repository/renew/rekey.ts';
import { rewriteSnapshot } from '../../src/repository/renew/replace-snapshot.ts';
import { commitSnapshot, listSnapshots, type Snapshot } from '../../src/repository/snapshots.ts';
import { compareTrees } from '../support/compare-trees.ts';
import { readRepository } from '../support/independent-reader.ts';
import { never, openEngine, type Engine } from '../support/engine.ts';
import { writeOnlyHost, type WriteOnlyHost } from '../support/write-only-host.ts';

let engine: Engine;
let host: WriteOnlyHost;
const at = (name: string): string => join(engine.source, name);

beforeEach(async () => {
  engine = await openEngine();
  mkdirSync(at('data'));
  const large = createHash('shake256', { outputLength: 2_500_000 }).update('large').digest();
  writeFileSync(at('data/large'), large);
  for (let i = 0; i < 5; i += 1) writeFileSync(at(`data/small-${i}`), `the secret of file ${i}\n`);
  // Files that changed just now are read again by the next run.
  await delay(60);
  host = await writeOnlyHost(engine, 'server');
});
afterEach(async () => {
  await engine[Symbol.asyncDispose]();
});

async function live(): Promise<readonly Snapshot[]> {
  const { live: found, damaged } = await listSnapshots(host.full, never);
  expect(damaged).toEqual([]);
  return found;
}

/** A check of every byte finds nothing, and the newest snapshot gives back what lies in the source. */
async function expectSound(name: string): Promise<void> {
  const { findings } = await check(host.full, { readData: 'all', workers: 0 }, SILENT_CHECK, never);
  expect(findings.filter(({ severity }) => severity !== 'note')).toEqual([]);
  const newest = (await live()).at(-1);
  if (newest === undefined) throw new Error('there is no snapshot');
  const { source } = await engine.restoreTo(name, newest, { repository: host.full });
  expect(compareTrees(engine.source, source)).toEqual([]);
}

async function use(generation: number): Promise<GenerationUse | undefined> {
  return (await surveyGenerations(host.full, never)).find((one) => one.generation === generation);
}

async function packNames(): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const page of engine.calls.list('packs/', never)) names.push(...page.map(({ key }) => key));
  return names.sort();
}

/** Two prunes, the second of which deletes what the first has marked. */
async function pruneTwice(): Promise<void> {
  const options = { noOtherWriters: true, graceSeconds: 0 };
  await prune(host.full, options, SILENT_PRUNE, never);
  await delay(5);
  await prune(host.full, options, SILENT_PRUNE, never);
}

test('after a rotation it goes on by itself, and stores only what is new under the new keys', async () => {
  await host.backup();
  await rotateKeys(host.full, never);
  await delay(60);
  writeFileSync(at('more'), 'more');
  const second = await host.backup();

  expect(second.bytesRead).toBe(4);
  const [first, newest] = await live();
  expect([first?.generation, newest?.generation]).toEqual([1, 2]);
  expect(newest).toMatchObject({ id: second.snapshot.id, storedBy: { number: 1 } });
  await expectSound('after');
});

test('a rotation in the middle of its backup loses nothing', async () => {
  let rotated = false;
  const rotating = {
    ...engine.calls,
    put: async (key: string, bytes: Uint8Array, signal: AbortSignal) => {
      if (!rotated && key.startsWith('packs/')) {
        rotated = true;
        await rotateKeys(host.full, never);
      }
      return await engine.calls.put(key, bytes, signal);
    },
  };
  await host.backup({}, { destination: rotating });
  expect(rotated).toBe(true);
  await expectSound('during');
  expect((await host.backup()).snapshot.generation).toBe(2);
  await expectSound('after');
});

test('what a key in use stored keeps its packs when all else is sealed anew; the machine still finds its chunks', async () => {
  const first = await host.backup();
  const [before] = await live();
  const packs = await packNames();
  await rotateKeys(host.full, never);
  await delay(5);
  const plan = await planRekey(host.full, never);
  expect(plan.packs).toEqual([]);
  expect(plan.writeOnly).toHaveLength(packs.length);
  const { snapshots, left, retired } = await rekey(host.full, {}, SILENT_REKEY, never);
  expect(snapshots.map(({ old }) => old)).toEqual([first.snapshot.id]);
  expect(left.writeOnly).toHaveLength(packs.length);
  expect(retired).toEqual([{ generation: 1, outcome: 'in use' }]);
  const [again] = await live();
  expect(again).toMatchObject({ generation: 2, storedBy: { number: 1 }, storedMs: before?.storedMs });
  expect(again?.record.original).toBe(first.snapshot.id);
  await pruneTwice();
  expect(await packNames()).toEqual(packs);

  const second = await host.backup();
  expect(second.bytesRead).toBe(0);
  await expectSound('after');
});

test('what a removed key stored is sealed anew, and still counts as what that key stored', async () => {
  await host.backup();
  writeFileSync(at('more'), 'more');
  await host.backup();
  const before = await live();
  await removeKey(host.full, host.slot, never);
  await delay(5);
  const { packs, snapshots, left } = await rekey(host.full, {}, SILENT_REKEY, never);
  expect(packs).toBeGreaterThan(2);
  expect(snapshots).toHaveLength(2);
  expect(left).toEqual({ packs: 0, young: [], postponed: [], writeOnly: [], unreadable: [] });
  await pruneTwice();

  expect(await use(1)).toMatchObject({ packs: 0, markedPacks: 0, snapshots: 0, forgottenSnapshots: 0 });
  const after = await live();
  expect(after.map(({ generation }) => generation)).toEqual([2, 2]);
  expect(after.map(({ storedBy, storedMs }) => [storedByText(storedBy), storedMs])).toEqual(
    before.map(({ storedMs }) => [expect.stringContaining('write-only key 1'), storedMs]),
  );
  await expectSound('after');
  // A new key of that machine stores everything again, in chunks of its own.
  const old = host;
  host = await writeOnlyHost(engine, 'server again', old.full);
  const third = await host.backup();
  expect(third.bytesRead).toBeGreaterThan(2_500_000);
  await expectSound('third');
});

test('a reader that knows the page alone reads what was sealed anew', async () => {
  await using local = await openEngine({ destination: 'local' });
  writeFileSync(join(local.source, 'file'), 'the content');
  const server = await writeOnlyHost(local, 'server');
  const one = await server.backup();
  await removeKey(server.full, server.slot, never);
  await delay(5);
  await rekey(server.full, {}, SILENT_REKEY, never);
  const other = await writeOnlyHost(local, 'other', server.full);
  const two = await other.backup();
  const { live: both } = await listSnapshots(other.full, never);
  const entries = [...readRepository(local.store, { machine: local.secret.secret })];
  const files = entries.filter(({ path }) => path.endsWith('/file'));
  expect(files.map(({ snapshot }) => snapshot).sort()).toEqual(both.map(({ id }) => id).sort());
  expect(files.map(({ content }) => content?.toString())).toEqual(['the content', 'the content']);
  expect(both.map(({ record, id }) => record.original ?? id)).toEqual([one.snapshot.id, two.snapshot.id]);
});

test('other tags do not hide which key stored a snapshot, and when', async () => {
  await host.backup();
  const [before] = await live();
  if (before === undefined) throw new Error('there is no snapshot');
  await delay(5);
  await rewriteSnapshot(host.full, before, { tags: ['kept'] }, never);
  const [after] = await live();
  expect(after).toMatchObject({
    storedBy: { number: 1 },
    storedMs: before.storedMs,
    record: { tags: ['kept'] },
  });
  if (after === undefined) throw new Error('there is no snapshot');
  await rewriteSnapshot(host.full, after, { pinned: true }, never);
  expect((await live())[0]).toMatchObject({ storedBy: { number: 1 }, storedMs: before.storedMs });
});

test('what it says itself of the key and the time counts for nothing', async () => {
  const { snapshot } = await host.backup();
  const own = await host.open();
  const record = { ...snapshot.record, writeOnly: { number: 7, storedMs: 1 } };
  const { id, storedMs } = await commitSnapshot(own, record, { live: 0 }, never);
  const planted = (await live()).find((one) => one.id === id);
  expect(planted).toMatchObject({ storedBy: { number: 1 }, storedMs, record: { writeOnly: undefined } });
  expect(storedMs).toBeGreaterThan(1);
});

test('a copy of its state in use elsewhere is noticed, and it goes on under another identity of its key', async () => {
  await host.backup();
  const copy = join(engine.directory, 'copy');
  cpSync(host.state, copy, { recursive: true });
  await host.backup();
  // From here on the machine is the copy: it gives the number that was given since.
  rmSync(host.state, { recursive: true });
  cpSync(copy, host.state, { recursive: true });
  const third = await host.backup();
  expect(third.foreign).toMatchObject({ seq: 2, record: null });
  const fourth = await host.backup();
  expect(fourth.foreign).toBeUndefined();
  const found = await live();
  expect(found).toHaveLength(4);
  const writers = found.map(({ chain }) => chain.writer);
  expect(new Set(writers).size).toBe(2);
  expect(new Set(writers.map((writer) => writer.slice(0, 16))).size).toBe(1);
});
