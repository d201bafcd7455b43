/** A machine that adds backups which it cannot read, beside one that reads them all. */
// Turn 7 of 8.

import { createHash } from 'node:crypto';
import { chmodSync, linkSync, mkdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { archive } from '../../src/archiver/archive.ts';
import { SILENT } from '../../src/archiver/report/observer.ts';
import { DestinationError } from '../../src/base/errors.ts';
import { DEFAULT_COMPRESSION } from '../../src/codec/compress.ts';
import { copySnapshots } from '../../src/copier/copy.ts';
import { loadIndex } from '../../src/repository/chunk-index.ts';
import { surveyGenerations } from '../../src/repository/keys/generations.ts';
import { listKeys, removeKey, rotateKeys } from '../../src/repository/keys/keys.ts';
import type { PrunePlan } from '../../src/repository/prune/prune-plan.ts';
import { planPrune, prune, SILENT_PRUNE } from '../../src/repository/prune/prune.ts';
import { SILENT_REKEY, planRekey, rekey } from '../../src/repository/renew/rekey.ts';
import { check } from '../../src/repository/check/check.ts';
import { SILENT_CHECK, type CheckReport } from '../../src/repository/check/check-report.ts';
import { forgetSnapshots, listSnapshots } from '../../src/repository/snapshots.ts';
import { compareTrees } from '../support/compare-trees.ts';
import { readRepository } from '../support/independent-reader.ts';
import { never, openEngine, requestFor, type Engine } from '../support/engine.ts';
import { writeOnlyHost, type WriteOnlyHost } from '../support/write-only-host.ts';

let engine: Engine;
let host: WriteOnlyHost;
const at = (name: string): string => join(engine.source, name);

const testBytes = (name: string, outputLength: number): Buffer =>
  createHash('shake256', { outputLength }).update(name).digest();

beforeEach(async () => {
  engine = await openEngine();
  mkdirSync(at('data'));
  writeFileSync(at('data/large'), testBytes('large', 2_500_000));
  for (let i = 0; i < 20; i += 1) writeFileSync(at(`data/small-${i}`), `the secret of file ${i}\n`.repeat(i));
  linkSync(at('data/small-3'), at('data/another-name'));
  symlinkSync('data/large', at('link'));
  chmodSync(at('data/small-5'), 0o640);
  // Files that changed just now are read again by the next run.
  await delay(60);
  host = await writeOnlyHost(engine, 'server');
});
afterEach(async () => {
  await engine[Symbol.asyncDispose]();
});

/** What `check --read-data` finds with the key that reads everything. */
async function damage(): Promise<CheckReport> {
  return await check(host.full, { readData: 'all', workers: 0 }, SILENT_CHECK, never);
}

async function restored(id: string, name: string): Promise<readonly unknown[]> {
  const { live } = await listSnapshots(host.full, never);
  const snapshot = live.find((one) => one.id === id);
  if (snapshot === undefined) throw new Error('the snapshot is not listed');
  const { source } = await engine.restoreTo(name, snapshot, { repository: host.full });
  return compareTrees(engine.source, source);
}

test('backs up again and again, and stores only what is new', async () => {
  const first = await host.backup();
  expect(first.bytesRead).toBeGreaterThan(2_500_000);
  writeFileSync(at('data/new'), testBytes('new', 50_000));
  const second = await host.backup();

  expect(second.bytesRead).toBe(50_000);
  expect(second.snapshot.record.counts).toMatchObject({ new: 1, unchanged: 22, changed: 0, failed: 0 });
  expect(second.bytesUploaded).toBeLessThan(first.bytesUploaded / 10);
  const differences = await restored(first.snapshot.id, 'first');
  expect(differences).toMatchObject([{ path: 'data', aspect: 'mtime' }, { path: 'data/new' }]);
  expect(await restored(second.snapshot.id, 'second')).toEqual([]);
});

test('without its notes it stores everything again, and loses nothing', async () => {
  const first = await host.backup();
  rmSync(join(host.state, 'cache'), { recursive: true });
  const second = await host.backup();

  expect(second.bytesRead).toBe(first.bytesRead);
  expect(second.bytesUploaded).toBeGreaterThan(first.bytesUploaded * 0.9);
  expect(await restored(second.snapshot.id, 'second')).toEqual([]);
  const { status, findings } = await damage();
  expect(status).toBe('ok');
  expect(findings).toMatchObject([{ severity: 'note', object: 'index/' }]);
});

test('a file that changes in place is read again, also when it changed while the last run was at work', async () => {
  const { size } = statSync(at('data/small-7'));
  const change = (phase: string): void => {
    if (phase === 'scanning') writeFileSync(at('data/small-7'), 'x'.repeat(size));
  };
  await host.backup();
  const second = await host.backup({}, { observer: { phase: change } });
  expect(second.bytesRead).toBe(size);
  await delay(60);
  // It could have changed again within the same tick of the clock.
  const third = await host.backup();
  expect(third.bytesRead).toBe(size);
  const fourth = await host.backup();
  expect(fourth.bytesRead).toBe(0);
  expect(await restored(fourth.snapshot.id, 'fourth')).toEqual([]);
});

test('notes that name packs which are gone are not believed', async () => {
  const first = await host.backup();
  for await (const page of engine.calls.list('packs/', never))
    for (const { key } of page) await engine.calls.delete(key, never);
  const second = await host.backup();
  expect(second.bytesRead).toBe(first.bytesRead);
  expect(await restored(second.snapshot.id, 'second')).toEqual([]);
});

test('a run that was broken off goes on with what it had stored', async () => {
  const stored: number[] = [];
  let packs = 0;
  const failing = {
    ...engine.calls,
    put: async (key: string, bytes: Uint8Array, signal: AbortSignal) => {
      if (!key.startsWith('packs/')) return await engine.calls.put(key, bytes, signal);
      packs += 1;
      if (packs <= 2) {
        const reply = await engine.calls.put(key, bytes, signal);
        stored.push(bytes.length);
        return reply;
      }
      // The first two are under way: they would be broken off with this one.
      while (stored.length < 2) await delay(5);
      throw new DestinationError('full', 'The disk is full');
    },
  };
  await expect(host.backup({}, { destination: failing })).rejects.toMatchObject({ kind: 'full' });
  expect(packs).toBeGreaterThan(2);
  const storedBytes = stored.reduce((sum, size) => sum + size, 0);
  expect(storedBytes).toBeGreaterThan(1_000_000);
  const resumed = await host.backup();
  const whole = await archive(requestFor(host.full, [engine.source]), SILENT, never);

  expect(resumed.bytesUploaded).toBeLessThan(whole.bytesUploaded - storedBytes * 0.9);
  expect(await restored(resumed.snapshot.id, 'resumed')).toEqual([]);
  expect((await damage()).status).toBe('ok');
});

test('a reader made from the description of the format alone reads what it stored', async () => {
  await using place = await openEngine({ destination: 'local' });
  mkdirSync(join(place.source, 'd'));
  writeFileSync(join(place.source, 'd/f'), 'content');
  const server = await writeOnlyHost(place, 'server');
  const { snapshot } = await server.backup();
  for (const places of ['directories', 'index'] as const) {
    if (places === 'index') await prune(server.full, {}, SILENT_PRUNE, never);
    const entries = [...readRepository(place.store, { machine: place.secret.secret }, { places })];
    const [file] = entries.filter(({ path }) => path.endsWith('/d/f'));
    expect(file?.snapshot).toBe(snapshot.id);
    expect(file?.content?.toString()).toBe('content');
  }
});

describe('beside a machine that reads everything', () => {
  test('that machine names its packs in index objects, and prune takes nothing away from it', async () => {
    const first = await host.backup();
    writeFileSync(at('more'), testBytes('more', 200_000));
    const full = await archive(requestFor(host.full, [engine.source]), SILENT, never);
    expect(full.bytesNew).toBeGreaterThan(2_500_000);
    expect((await damage()).findings).toEqual([]);

    const result = await prune(host.full, { noOtherWriters: true, graceSeconds: 0 }, SILENT_PRUNE, never);
    expect(result.plan).toMatchObject({ mark: [], remove: [], repack: [], unreadable: [] });
    expect((await damage()).status).toBe('ok');
    const again = await host.backup();
    expect(again.bytesRead).toBe(200_000);
    expect(await restored(again.snapshot.id, 'again')).toEqual([]);
    expect(first.snapshot.record.parent).toBeUndefined();
  });

  test('prune names its packs in an index object, so that nobody reads all their directories again', async () => {
    await host.backup();
    expect((await damage()).findings).toMatchObject([{ severity: 'note', object: 'index/' }]);
    await prune(host.full, {}, SILENT_PRUNE, never);
    expect((await damage()).findings).toEqual([]);
    const { uncovered } = await loadIndex(host.full, { without: new Set() }, never);
    expect(uncovered).toEqual([]);
  });

  test('prune sees that it is at work, and leaves what it stores', async () => {
    let plan: PrunePlan | undefined;
    const planNow = async (): Promise<void> => {
      plan ??= await planPrune(host.full, { noOtherWriters: true, graceSeconds: 0 }, never);
    };
    const watching = {
      ...engine.calls,
      put: async (key: string, bytes: Uint8Array, signal: AbortSignal) => {
        if (key.startsWith('snapshots/')) await planNow();
        return await engine.calls.put(key, bytes, signal);
      },
    };
    await host.backup({}, { destination: watching });
    expect(plan?.sessions).toHaveLength(1);
    expect(plan?.young.length).toBeGreaterThan(2);
    expect(plan).toMatchObject({ mark: [], remove: [] });
  });

  test('a pack that was marked for deletion is not relied on', async () => {
    const first = await host.backup();
    await forgetSnapshots(host.full, [first.snapshot.id], 'test', never);
    const marked = await prune(host.full, { noOtherWriters: true }, SILENT_PRUNE, never);
    expect(marked.plan.mark.length).toBeGreaterThan(2);
    const second = await host.backup();
    expect(second.bytesRead).toBe(first.bytesRead);

    await prune(host.full, { noOtherWriters: true, graceSeconds: 0 }, SILENT_PRUNE, never);
    expect(await restored(second.snapshot.id, 'second')).toEqual([]);
    expect((await damage()).status).toBe('ok');
  });

  test('packs of a key that is in use are not written anew by prune; those of a key that was removed are', async () => {
    await host.backup();
    for (const name of ['large', ...Array.from({ length: 18 }, (_, i) => `small-${i}`)])
      rmSync(at(`data/${name}`));
    const { live } = await listSnapshots(host.full, never);
    await host.backup();
    await forgetSnapshots(
      host.full,
      live.map(({ id }) => id),
      'test',
      never,
    );
    const options = { noOtherWriters: true, graceSeconds: 0, repackBelow: 1 };
    expect((await planPrune(host.full, options, never)).repack).toEqual([]);

    const { repository } = await removeKey(host.full, host.slot, never);
    const { plan } = await prune(repository, options, SILENT_PRUNE, never);
    expect(plan.repack.length).toBeGreaterThan(0);
    host = { ...host, full: repository };
    await prune(repository, options, SILENT_PRUNE, never);
    expect((await damage()).status).toBe('ok');
    const [left] = (await listSnapshots(repository, never)).live;
    expect(await restored(left?.id ?? '', 'left')).toEqual([]);
  });

  test('what is hidden of a removed key keeps its packs until somebody gives it up', async () => {
    const { snapshot } = await host.backup();
    const { repository } = await removeKey(host.full, host.slot, never);
    const key = `snapshots/${snapshot.id}`;
    const hidden = await engine.calls.get(key, undefined, never);
    await engine.calls.delete(key, never);
    const options = { noOtherWriters: true, graceSeconds: 0 };
    await expect(prune(repository, options, SILENT_PRUNE, never)).rejects.toMatchObject({
      code: 'CORRUPT_DATA',
    });
    await engine.calls.put(key, hidden, never);
    await prune(repository, options, SILENT_PRUNE, never);
    host = { ...host, full: repository };
    expect((await damage()).status).toBe('ok');
    expect(await restored(snapshot.id, 'found again')).toEqual([]);
  });

  test('copies of its snapshots can be made where it has no key', async () => {
    const { snapshot } = await host.backup();
    await using other = await openEngine();
    const { live } = await listSnapshots(host.full, never);
    const quiet = { begin: () => {}, read: () => {}, copied: () => {}, failed: () => {} };
    const request = {
      from: host.full,
      to: other.repository,
      snapshots: live,
      compression: DEFAULT_COMPRESSION,
    };
    await copySnapshots(request, quiet, never);
    const [copied] = await other.snapshots();
    if (copied === undefined) throw new Error('nothing was copied');
    expect(copied.record.root.equals(snapshot.record.root)).toBe(false);
    expect(copied).toMatchObject({ storedBy: { number: 1 }, storedMs: live[0]?.storedMs });
    expect(await other.differences(copied, engine.source)).toEqual([]);
  });
});

describe('its key', () => {
  test('is listed among the keys, and opens nothing once it was removed', async () => {
    const keys = await listKeys(host.full, never);
    expect(keys.map(({ kind, label, state }) => [kind, label, state])).toEqual([
      ['machine', 'test', 'sound'],
      ['write-only', 'server', 'sound'],
    ]);
    const { repository } = await removeKey(host.full, host.slot, never);
    expect((await listKeys(repository, never)).map(({ kind }) => kind)).toEqual(['machine']);
    await expect(host.backup()).rejects.toMatchObject({ code: 'WRONG_PASSPHRASE' });
  });

  test('reads nothing: every way to it says what to do', async () => {
    await host.backup();
    const own = await host.open();
    const ways = [
      async () => await listSnapshots(own, never),
      async () => await loadIndex(own, { without: new Set() }, never),
      async () => await check(own, { readData: false, workers: 0 }, SILENT_CHECK, never),
      async () => await planPrune(own, {}, never),
      async () => await listKeys(own, never),
      async () => await removeKey(own, host.slot, never),
      async () => await rotateKeys(own, never),
      async () => await planRekey(own, never),
      async () => await rekey(own, {}, SILENT_REKEY, never),
      async () => await surveyGenerations(own, never),
      async () => await archive(requestFor(own, [engine.source], { plain: true }), SILENT, never),
      async () => await archive(requestFor(own, [engine.source], { isolated: true }), SILENT, never),
    ];
    for (const way of ways) {
      await expect(way()).rejects.toMatchObject({ code: 'REFUSED' });
    }
  });

  test('goes on under a new key generation, and what it stored before stays readable', async () => {
    const first = await host.backup();
    const other = await writeOnlyHost(engine, 'other', host.full);
    const { repository } = await removeKey(other.full, other.slot, never);
    host = { ...host, full: repository };
    await delay(60);
    writeFileSync(at('more'), 'more');
    const second = await host.backup();

    expect(repository.keys.generation).toBe(2);
    expect(second.bytesRead).toBe(4);
    const generation = async (id: string): Promise<number> =>
      (await engine.calls.get(`snapshots/${id}`, { offset: 8, length: 4 }, never)).readUInt32BE(0);
    expect(await generation(first.snapshot.id)).toBe(1);
    expect(await generation(second.snapshot.id)).toBe(2);
    expect(await restored(second.snapshot.id, 'second')).toEqual([]);
    expect((await damage()).status).toBe('ok');
  });

  test('is never made with a number that another one had', async () => {
    const { repository } = await removeKey(host.full, host.slot, never);
    const next = await writeOnlyHost(engine, 'next', repository);
    expect(next.full.keyring.writeOnly).toMatchObject({ last: 2, keys: [{ number: 2, label: 'next' }] });
  });
});
