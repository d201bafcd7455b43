/** A repository that is damaged: the files that need what is lost are named, and all others come back. */
// Turn 4 of 8.
import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { textOfBytes } from '../../src/base/byte-path.ts';
import { DestinationError } from '../../src/base/errors.ts';
import type { Destination } from '../../src/destination/destination.ts';
import { createMemoryDestination } from '../../src/destination/memory.ts';
import { loadIndex } from '../../src/repository/chunk-index.ts';
import { packKey } from '../../src/repository/objects/listing.ts';
import type { Snapshot } from '../../src/repository/snapshots.ts';
import { SILENT_RESTORE } from '../../src/restorer/request/request.ts';
import { restore } from '../../src/restorer/restore.ts';
import { compareTrees } from '../support/compare-trees.ts';
import { never, openEngine, type Engine } from '../support/engine.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { wholeRestore } from '../support/whole-restore.ts';

type Get = Destination['get'];

let engine: Engine;
/** Put between the restore and the destination. */
let get: (inner: Get) => Get;

beforeEach(async () => {
  get = (inner) => inner;
  const memory = createMemoryDestination();
  const plainGet: Get = async (key, range, signal) => await memory.get(key, range, signal);
  engine = await openEngine({
    destination: { ...memory, get: async (key, range, signal) => await get(plainGet)(key, range, signal) },
  });
});
afterEach(async () => {
  await engine[Symbol.asyncDispose]();
});

const random = seededRandom(21);

async function manyFiles(): Promise<Snapshot> {
  for (let i = 0; i < 120; i += 1) {
    mkdirSync(join(engine.source, `dir${i % 5}`), { recursive: true });
    writeFileSync(join(engine.source, `dir${i % 5}`, `file${i}`), random.bytes(15_000));
  }
  writeFileSync(join(engine.source, 'large'), random.bytes(4_000_000));
  return (await engine.backup()).snapshot;
}

/** The data packs, largest first. */
async function dataPacks(): Promise<readonly { readonly key: string; readonly length: number }[]> {
  const { packs } = await loadIndex(engine.repository, { without: new Set() }, never);
  return packs
    .filter(({ kind }) => kind === 'data')
    .map(({ name, length }) => ({ key: packKey(name), length }))
    .sort((a, b) => b.length - a.length);
}

async function treePacks(): Promise<readonly string[]> {
  const { packs } = await loadIndex(engine.repository, { without: new Set() }, never);
  return packs.filter(({ kind }) => kind === 'tree').map(({ name }) => packKey(name));
}

/** As a local destination says it. */
function unread(key: string, errno: string): DestinationError {
  const kind = errno === 'EACCES' ? 'denied' : 'corrupt-reply';
  return new DestinationError(kind, `Cannot read ${key} (${errno})`, { details: { errno, key } });
}

/** What is wrong with the restored tree must be exactly what was listed. */
function expectOnlyListed(restored: string, errors: readonly { readonly path: string }[]): void {
  const wrong = compareTrees(engine.source, restored)
    .filter(({ aspect }) => aspect === 'missing')
    .map(({ path }) => textOfBytes(path));
  const listed = errors.map(({ path }) => textOfBytes(path as never).slice(engine.source.length + 1));
  expect(wrong.sort()).toEqual(listed.sort());
  expect(compareTrees(engine.source, restored).filter(({ aspect }) => aspect !== 'missing')).toEqual([]);
}

describe('damage in a pack', () => {
  test.each([
    ['a flipped bit at its start', 0.02],
    ['a flipped bit in its middle', 0.5],
    ['a flipped bit in its third quarter', 0.75],
  ])('%s costs the files in that segment', async (_, where) => {
    const snapshot = await manyFiles();
    const [pack] = await dataPacks();
    const at = Math.floor((pack?.length ?? 0) * where);
    let flipped = 0;
    get = (inner) => async (key, range, signal) => {
      const bytes = await inner(key, range, signal);
      const start = range?.offset ?? 0;
      if (key !== pack?.key || at < start || at >= start + bytes.length) return bytes;
      flipped += 1;
      bytes[at - start] = (bytes[at - start] ?? 0) ^ 4;
      return bytes;
    };
    const { source, summary } = await engine.restoreTo('out', snapshot, { workers: 2 });
    expect(flipped).toBeGreaterThan(0);
    expect(summary.status).toBe('partial');
    expect(summary.filesFailed).toBeGreaterThan(0);
    expect(summary.filesFailed).toBe(summary.errors.length);
    expect(summary.filesRestored).toBe(121 - summary.filesFailed);
    expect(new Set(summary.errors.map(({ code }) => code))).toEqual(new Set(['CORRUPT_DATA']));
    expectOnlyListed(source, summary.errors);
    expect(readdirSync(source).filter((name) => name.startsWith('.holdfast-'))).toEqual([]);
  });

  test('a pack that vanishes costs its files, and a later run completes them', async () => {
    const snapshot = await manyFiles();
    const [pack] = await dataPacks();
    let asked = 0;
    get = (inner) => async (key, range, signal) => {
      if (key !== pack?.key) return await inner(key, range, signal);
      asked += 1;
      throw new DestinationError('not-found', `there is no ${key}`);
    };
    const { source, summary } = await engine.restoreTo('out', snapshot);
    expect(asked).toBeGreaterThan(0);
    expect(summary.status).toBe('partial');
    expectOnlyListed(source, summary.errors);
    get = (inner) => inner;
    const again = await engine.restoreTo('out', snapshot, { overwrite: 'if_changed' });
    expect(again.summary).toMatchObject({ status: 'complete', filesRestored: summary.filesFailed });
    expect(compareTrees(engine.source, source)).toEqual([]);
  });

  test.each(['EIO', 'EACCES'])(
    'a place that the disk cannot read (%s) costs the files in that segment, and no others',
    async (errno) => {
      const snapshot = await manyFiles();
      const [, pack] = await dataPacks();
      const at = Math.floor((pack?.length ?? 0) / 2);
      get = (inner) => async (key, range, signal) => {
        const start = range?.offset ?? 0;
        const isThere = at >= start && at < start + (range?.length ?? Number.POSITIVE_INFINITY);
        if (key === pack?.key && isThere) throw unread(key, errno);
        return await inner(key, range, signal);
      };
      const { source, summary } = await engine.restoreTo('out', snapshot);
      expect(summary.status).toBe('partial');
      expect(summary.filesFailed).toBeGreaterThan(0);
      expect(summary.filesFailed).toBeLessThan(20);
      expect(new Set(summary.errors.map(({ code }) => code))).toEqual(new Set(['CORRUPT_DATA']));
      expect(summary.errors[0]?.message).toContain(errno);
      expectOnlyListed(source, summary.errors);
    },
  );

  test.each([false, true])(
    'a directory does not give way to a file that the repository has lost, dry run %s',
    async (dryRun) => {
      writeFileSync(join(engine.source, 'a'), random.bytes(5_000));
      const { snapshot } = await engine.backup();
      for (const { key } of await dataPacks()) await engine.calls.delete(key, never);
      const inTheWay = join(engine.directory, 'out', engine.source, 'a');
      mkdirSync(inTheWay, { recursive: true });
      writeFileSync(join(inTheWay, 'kept'), 'kept');
      const { summary } = await engine.restoreTo('out', snapshot, {
        overwrite: 'always',
        deleteExtra: true,
        dryRun,
      });
      expect(summary).toMatchObject({ status: 'partial', filesFailed: 1, deleted: [] });
      expect(summary.errors.map(({ code }) => code)).toEqual(['CORRUPT_DATA']);
      expect(readFileSync(join(inTheWay, 'kept'), 'utf8')).toBe('kept');
    },
  );

  test('a drive of which nothing can be read any more ends the restore with its own error', async () => {
    const snapshot = await manyFiles();
    const lost = new Set((await dataPacks()).map(({ key }) => key));
    expect(lost.size).toBeGreaterThanOrEqual(5);
    get = (inner) => async (key, range, signal) => {
      if (lost.has(key)) throw unread(key, 'EIO');
      return await inner(key, range, signal);
    };
    await expect(engine.restoreTo('out', snapshot)).rejects.toThrow('(EIO)');
  });

  test.each(['not-found', 'EIO'] as const)(
    'directories whose entries cannot be read (%s) are named, and the others come back',
    async (why) => {
      mkdirSync(join(engine.source, 'lost'));
      writeFileSync(join(engine.source, 'lost', 'file'), 'gone');
      await engine.backup();
      const before = await treePacks();
      mkdirSync(join(engine.source, 'other'));
      writeFileSync(join(engine.source, 'other', 'file'), 'there');
      const { snapshot } = await engine.backup();
      get = (inner) => async (key, range, signal) => {
        if (!before.includes(key)) return await inner(key, range, signal);
        throw why === 'EIO' ? unread(key, why) : new DestinationError(why, `there is no ${key}`);
      };
      const { source, summary } = await engine.restoreTo('out', snapshot);
      expect(summary).toMatchObject({ status: 'partial', filesRestored: 1 });
      expect(summary.errors.map(({ path, code }) => [textOfBytes(path), code])).toEqual([
        [join(engine.source, 'lost'), 'CORRUPT_DATA'],
      ]);
      expect(readFileSync(join(source, 'other', 'file'), 'utf8')).toBe('there');
    },
  );

  test('a destination that cannot be reached ends the restore with its own error', async () => {
    const snapshot = await manyFiles();
    const [pack] = await dataPacks();
    get = (inner) => async (key, range, signal) => {
      if (key === pack?.key) throw new DestinationError('unreachable', 'no answer');
      return await inner(key, range, signal);
    };
    await expect(engine.restoreTo('out', snapshot)).rejects.toMatchObject({
      code: 'DESTINATION_UNREACHABLE',
    });
  });
});

describe('damage in what is to replace a file that stands', () => {
  const content = random.bytes(4_000_000);
  const changedAt = (...places: readonly number[]): Buffer => {
    const bytes = Buffer.from(content);
    for (const at of places) bytes.fill('newer', at, at + 1_000);
    return bytes;
  };

  test.each([
    ['of which nothing is the same', Buffer.alloc(3_500_000, 'newer')],
    ['that differs in several places', changedAt(100_000, 2_000_000, 3_900_000)],
    ['that is longer and differs in one place', Buffer.concat([changedAt(2_000_000), Buffer.alloc(100)])],
  ])('leaves a file %s as it is', async (_, newer) => {
    writeFileSync(join(engine.source, 'large'), content, { mode: 0o640 });
    const { snapshot } = await engine.backup();
    const place = join(engine.directory, 'out', engine.source);
    const path = join(place, 'large');
    mkdirSync(place, { recursive: true });
    writeFileSync(path, newer, { mode: 0o604 });
    const before = statSync(path, { bigint: true });
    const data = new Set((await dataPacks()).map(({ key }) => key));
    for (const overwrite of ['if_changed', 'always'] as const) {
      let last: { readonly key: string; readonly offset: number } | undefined;
      get = (inner) => async (key, range, signal) => {
        const bytes = await inner(key, range, signal);
        if (data.has(key)) last = { key, offset: range?.offset ?? 0 };
        return bytes;
      };
      // What comes last is known from a restore over the same file elsewhere, which reads the same.
      const elsewhere = `elsewhere-${overwrite}`;
      const beside = join(engine.directory, elsewhere, engine.source);
      mkdirSync(beside, { recursive: true });
      writeFileSync(join(beside, 'large'), newer);
      await engine.restoreTo(elsewhere, snapshot, { overwrite });
      const hit = last;
      let damaged = 0;
      get = (inner) => async (key, range, signal) => {
        const bytes = await inner(key, range, signal);
        const isLate = data.has(key) && (key === hit?.key || newer.length > content.length);
        if (!isLate) return bytes;
        damaged += 1;
        for (let at = 0; at < bytes.length; at += 64) bytes[at] = (bytes[at] ?? 0) ^ 1;
        return bytes;
      };
      const { summary } = await engine.restoreTo('out', snapshot, { overwrite });
      expect(damaged).toBeGreaterThan(0);
      expect(summary).toMatchObject({ status: 'partial', filesRestored: 0, filesFailed: 1 });
      expect(summary.errors).toMatchObject([{ code: 'CORRUPT_DATA' }]);
      expect(readFileSync(path).equals(newer)).toBe(true);
      const { ino, mode, mtimeNs } = statSync(path, { bigint: true });
      expect({ ino, mode, mtimeNs }).toEqual({
        ino: before.ino,
        mode: before.mode,
        mtimeNs: before.mtimeNs,
      });
      expect(readdirSync(place)).toEqual(['large']);
    }
    get = (inner) => inner;
    const { source, summary } = await engine.restoreTo('out', snapshot, { overwrite: 'if_changed' });
    expect(summary).toMatchObject({ status: 'complete', filesRestored: 1 });
    expect(compareTrees(engine.source, source)).toEqual([]);
  });
});

describe('ending early', () => {
  test('an abort rejects with its reason and leaves no descriptor open', async () => {
    const snapshot = await manyFiles();
    const open = (): number => readdirSync('/proc/self/fd').length;
    const before = process.platform === 'linux' ? open() : 0;
    const stop = new AbortController();
    get = (inner) => async (key, range, signal) => {
      const bytes = await inner(key, range, signal);
      if (range !== undefined && range.length > 100_000) stop.abort();
      return bytes;
    };
    const running = restore(
      wholeRestore(engine.repository, snapshot, join(engine.directory, 'out'), {
        restoreOwnership: true,
        workers: 2,
      }),
      SILENT_RESTORE,
      stop.signal,
    );
    await expect(running).rejects.toMatchObject({ name: 'AbortError' });
    expect(stop.signal.aborted).toBe(true);
    if (process.platform === 'linux') expect(open()).toBeLessThanOrEqual(before + 1);
    get = (inner) => inner;
    const { source, summary } = await engine.restoreTo('out', snapshot);
    expect(summary.status).toBe('complete');
    expect(compareTrees(engine.source, source)).toEqual([]);
  });
});
