/** Backups that end half way: what they stored is not stored again, and nothing of them shows. */
// Turn 7 of 8.

import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { archive } from '../../src/archiver/archive.ts';
import { SILENT } from '../../src/archiver/report/observer.ts';
import type { Destination } from '../../src/destination/destination.ts';
import { createMemoryDestination } from '../../src/destination/memory.ts';
import { compareTrees, shownDifference } from '../support/compare-trees.ts';
import { openEngine, requestFor, type Engine } from '../support/engine.ts';
import { hookedDestination } from '../support/hooked-destination.ts';
import { moduleUrl, startScript } from '../support/run-script.ts';
import { seededRandom } from '../support/seeded-random.ts';

const MiB = 1024 * 1024;
/** Of packs of 1 MiB. */
const STORED_BEFORE_THE_END = 6;

const SOURCE_BYTES = 300 * 8_000 + 12 * 300_000 + 3 * 2 * MiB;

/** Bytes that do not compress, in files of all sizes. */
function fill(source: string): void {
  const random = seededRandom(11);
  for (const directory of ['small', 'middle']) mkdirSync(join(source, directory));
  for (let index = 0; index < 300; index += 1)
    writeFileSync(join(source, 'small', `${index}`), random.bytes(8_000));
  for (let index = 0; index < 12; index += 1)
    writeFileSync(join(source, 'middle', `${index}`), random.bytes(300_000));
  for (let index = 0; index < 3; index += 1)
    writeFileSync(join(source, `large-${index}`), random.bytes(2 * MiB));
}

/** The sizes of the packs that are stored. */
async function storedPacks(destination: Pick<Destination, 'list'>): Promise<number[]> {
  const sizes: number[] = [];
  for await (const page of destination.list('packs/', new AbortController().signal))
    for (const { size } of page) sizes.push(size);
  return sizes;
}

/** Bytes of packs that are stored. */
async function storedBytes(engine: Engine): Promise<number> {
  return (await storedPacks(engine.calls)).reduce((sum, size) => sum + size, 0);
}

/** The next run finds what was stored and makes a whole snapshot. */
async function expectResumed(engine: Engine, stored: number): Promise<void> {
  expect(await engine.snapshots()).toEqual([]);
  engine.calls.reset();
  const { snapshot } = await engine.backup();
  // Everything together is the source once, and at most a tenth of what stood there twice.
  expect(engine.calls.bytes('put', 'packs/')).toBeLessThan(SOURCE_BYTES * 1.04 - stored * 0.9);
  expect(await storedBytes(engine)).toBeGreaterThan(SOURCE_BYTES);
  expect(snapshot.record.status).toBe('complete');
  const { source } = await engine.restoreTo('back', snapshot);
  expect(compareTrees(engine.source, source).map(shownDifference)).toEqual([]);
}

test('a canceled run: what it had stored is not stored again', async () => {
  const canceled = new AbortController();
  const inner = createMemoryDestination();
  let packs = 0;
  let canceledAt = Infinity;
  const destination = hookedDestination(inner, {
    put: async (key) => {
      if (!key.startsWith('packs/')) return;
      packs += 1;
      if (packs <= STORED_BEFORE_THE_END) return;
      // Those before this one are under way: they would be canceled with it.
      while ((await storedPacks(inner)).length < STORED_BEFORE_THE_END) await setTimeout(5);
      canceledAt = Math.min(canceledAt, performance.now());
      canceled.abort();
    },
  });
  await using engine = await openEngine({ destination });
  fill(engine.source);
  await expect(engine.backup(undefined, { workers: 2 }, {}, canceled.signal)).rejects.toMatchObject({
    name: 'AbortError',
  });
  expect(performance.now() - canceledAt).toBeLessThan(5_000);
  const stored = await storedBytes(engine);
  expect(stored).toBeGreaterThan((STORED_BEFORE_THE_END - 1) * 0.9 * MiB);
  expect(engine.calls.count('put', 'index/')).toBe(0);
  await expectResumed(engine, stored);
});

test('a run canceled while every reader waits for the destination ends at once', async () => {
  const canceled = new AbortController();
  const destination = hookedDestination(createMemoryDestination(), {
    put: async (key) => {
      if (!key.startsWith('packs/')) return;
      void setTimeout(300).then(() => canceled.abort());
      await new Promise((_, reject) => {
        canceled.signal.addEventListener('abort', () => reject(canceled.signal.reason as Error));
      });
    },
  });
  await using engine = await openEngine({ destination });
  fill(engine.source);
  await expect(engine.backup(undefined, { workers: 2 }, {}, canceled.signal)).rejects.toMatchObject({
    name: 'AbortError',
  });
  expect(engine.calls.calls.filter(({ outcome }) => outcome === 'pending')).toEqual([]);
});

/** Backs up to a directory, and hangs when it has stored so many packs. */
const hangingBackup = `
  import { setTimeout } from 'node:timers/promises';
  import { archive } from ${JSON.stringify(moduleUrl('src/archiver/archive.ts'))};
  import { SILENT } from ${JSON.stringify(moduleUrl('src/archiver/report/observer.ts'))};
  import { systemClock } from ${JSON.stringify(moduleUrl('src/base/clock.ts'))};
  import { openLocalDestination } from ${JSON.stringify(moduleUrl('src/destination/local/local.ts'))};
  import { openRepository } from ${JSON.stringify(moduleUrl('src/repository/opening.ts'))};
  import { requestFor } from ${JSON.stringify(moduleUrl('test/support/engine.ts'))};
  import { hookedDestination } from ${JSON.stringify(moduleUrl('test/support/hooked-destination.ts'))};
  const [store, source, secret, limit] = process.argv.slice(2);
  const { signal } = new AbortController();
  const inner = await openLocalDestination(store);
  const stored = async () => {
    let count = 0;
    for await (const page of inner.list('packs/', signal)) count += page.length;
    return count;
  };
  const enough = (await stored()) + Number(limit);
  let packs = 0;
  const destination = hookedDestination(inner, {
    put: async (key) => {
      if (!key.startsWith('packs/')) return;
      packs += 1;
      if (packs <= Number(limit)) return;
      while ((await stored()) < enough) await setTimeout(5);
      process.stdout.write('hangs');
      await setTimeout(1_000_000);
    },
  });
  const repository = await openRepository(
    destination,
    { kind: 'machine', secret: Buffer.from(secret, 'hex') },
    { clock: systemClock, stateDirectory: undefined },
    signal,
  );
  await archive(requestFor(repository, [source]), SILENT, signal);
`;

test('runs that are killed: what they had stored is not stored again', async () => {
  await using engine = await openEngine({ destination: 'local' });
  fill(engine.source);
  let stored = 0;
  for (const limit of [2, 4]) {
    const args = [engine.store, engine.source, engine.secret.secret.toString('hex'), String(limit)];
    const child = startScript(hangingBackup, { args });
    if (child.stdout === null) throw new Error('the script has no output');
    await once(child.stdout, 'data');
    child.kill('SIGKILL');
    await once(child, 'close');
    const now = await storedBytes(engine);
    expect(now).toBeGreaterThan(stored);
    stored = now;
  }
  await expectResumed(engine, stored);
});

test('two backups of one source at a time, by two writers: both are whole', async () => {
  await using engine = await openEngine();
  fill(engine.source);
  const other = await engine.open();
  const { signal } = new AbortController();
  const [one, two] = await Promise.all([
    engine.backup(),
    archive(requestFor(other, [engine.source]), SILENT, signal),
  ]);
  expect(one.snapshot.chain.writer).not.toBe(two.snapshot.chain.writer);
  for (const { snapshot } of [one, two]) expect(await engine.differences(snapshot)).toEqual([]);
  // What one of them stored the other one need not: the third run stores nothing of the source.
  const three = await engine.backup(undefined, { parent: 'none' });
  expect(three.bytesNew).toBeLessThan(100_000);
  expect(await engine.differences(three.snapshot)).toEqual([]);
});
