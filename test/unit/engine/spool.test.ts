import { createHash, randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createMemoryDestination } from '../../../src/destination/memory.ts';
import { beginSpool, readSpool, type SpoolLimits } from '../../../src/engine/spool.ts';
import { watchPacks } from '../../../src/engine/watched-packs.ts';
import { DestinationError } from '../../../src/base/errors.ts';
import { never } from '../../support/engine.ts';
import { recordingDestination } from '../../support/recording-destination.ts';
import { removeTree } from '../../support/remove-tree.ts';

const GIB = 1024 * 1024 * 1024;

let root: string;
/** Of one pass. */
let directory: string;
let notes: string[];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'holdfast-spool-'));
  directory = join(root, 'spool', 'pass');
  notes = [];
});
afterEach(() => removeTree(root));

const begin = async (limits: SpoolLimits = {}) =>
  await beginSpool(
    directory,
    (text) => {
      notes.push(text);
    },
    { free: async () => await Promise.resolve(100 * GIB), ...limits },
  );

interface Pack {
  readonly key: string;
  readonly name: string;
  readonly bytes: Buffer;
}

function pack(length = 1_000): Pack {
  const bytes = randomBytes(length);
  const name = createHash('sha256').update(bytes).digest('hex');
  return { key: `packs/${name.slice(0, 2)}/${name}`, name, bytes };
}

describe('what was kept', () => {
  test('comes back byte for byte, whole and in parts, from files that nobody else can read', async () => {
    const { key, name, bytes } = pack();
    await (await begin()).keep(key, bytes);
    expect(statSync(join(directory, name)).mode & 0o777).toBe(0o600);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    const spool = readSpool(directory);
    expect(await spool.read(key, undefined, never)).toEqual(bytes);
    expect(await spool.read(key, { offset: 10, length: 20 }, never)).toEqual(bytes.subarray(10, 30));
    expect(await spool.read(key, { offset: -20, length: 20 }, never)).toEqual(bytes.subarray(-20));
    expect(await spool.read(key, { offset: 990, length: 20 }, never)).toBeUndefined();
    expect(await spool.read(key, { offset: -2_000, length: 20 }, never)).toBeUndefined();
  });

  test.each([
    ['changed', (path: string) => writeFileSync(path, flipped(readFileSync(path)))],
    ['cut short', (path: string) => truncateSync(path, 500)],
    [
      'replaced by a directory',
      (path: string) => {
        rmSync(path);
        mkdirSync(path);
      },
    ],
    ['gone', (path: string) => rmSync(path)],
  ])('and was then %s is not there for anybody', async (_how, spoil) => {
    const { key, name, bytes } = pack();
    await (await begin()).keep(key, bytes);
    spoil(join(directory, name));
    expect(await readSpool(directory).read(key, undefined, never)).toBeUndefined();
    expect(await readSpool(directory).read(key, { offset: 0, length: 10 }, never)).toBeUndefined();
  });

  test('goes when the next reader begins', async () => {
    const { key, bytes } = pack();
    await (await begin()).keep(key, bytes);
    await begin();
    expect(readdirSync(directory)).toEqual([]);
  });
});

describe('a spool', () => {
  test('takes no more than its limit, those of other passes counted', async () => {
    const other = join(root, 'spool', 'other');
    mkdirSync(other, { recursive: true });
    writeFileSync(join(other, 'x'), Buffer.alloc(3_000));
    const spool = await begin({ mostBytes: 5_500 });
    // Several are on their way at a time.
    await Promise.all(
      [pack(), pack(), pack(), pack(400)].map(async ({ key, bytes }) => await spool.keep(key, bytes)),
    );
    expect(keptIn(directory)).toBe(2_400);
    expect(readdirSync(directory)).toHaveLength(3);
    expect(notes).toEqual([]);
  });

  test('takes no more than a tenth of what is free', async () => {
    const spool = await begin({ free: async (path) => await Promise.resolve(25_000 - keptIn(path)) });
    for (let count = 0; count < 5; count += 1) {
      const { key, bytes } = pack();
      await spool.keep(key, bytes);
    }
    expect(readdirSync(directory)).toHaveLength(2);
  });

  test('that cannot be made or written says so once and lets everything go on', async () => {
    writeFileSync(join(root, 'spool'), 'a file in its place');
    const spool = await begin();
    for (const { key, bytes } of [pack(), pack()]) await spool.keep(key, bytes);
    expect(notes).toEqual([expect.stringMatching(/^Packs are not kept for other destinations: /)]);
    expect(await readSpool(directory).read(pack().key, undefined, never)).toBeUndefined();
  });

  test('that breaks later keeps nothing half', async () => {
    const spool = await begin();
    const [first, second] = [pack(), pack()];
    await spool.keep(first.key, first.bytes);
    removeTree(directory);
    await spool.keep(second.key, second.bytes);
    expect(notes).toHaveLength(1);
    expect(existsSync(directory)).toBe(false);
  });
});

describe('a destination with a spool', () => {
  test('keeps the packs that are stored, and nothing else', async () => {
    const { watched, useSpool } = watchPacks(createMemoryDestination());
    const { key, name, bytes } = pack();
    useSpool(await begin());
    await watched.put(key, bytes, never);
    await watched.put('snapshots/x', bytes, never);
    useSpool(undefined);
    await watched.put(pack().key, bytes, never);
    expect(readdirSync(directory)).toEqual([name]);
  });

  test('does not keep what could not be stored', async () => {
    const inner = createMemoryDestination();
    const { watched, useSpool, hasThrown } = watchPacks(inner);
    const { key, bytes } = pack();
    await inner.put(key, bytes, never);
    useSpool(await begin());
    const error: unknown = await watched.put(key, bytes, never).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(DestinationError);
    expect(hasThrown(new Error('outer', { cause: error }))).toBe(true);
    expect(hasThrown(new Error('another'))).toBe(false);
    expect(readdirSync(directory)).toEqual([]);
  });

  test('is asked only for what is not kept, or is damaged', async () => {
    const calls = recordingDestination(createMemoryDestination());
    const { watched, useSpool } = watchPacks(calls);
    const [whole, damaged, missing] = [pack(), pack(), pack()];
    for (const { key, bytes } of [whole, damaged, missing]) await watched.put(key, bytes, never);
    const spool = await begin();
    for (const { key, bytes } of [whole, damaged]) await spool.keep(key, bytes);
    const spoiled = join(directory, damaged.name);
    writeFileSync(spoiled, flipped(readFileSync(spoiled)));
    useSpool(readSpool(directory));
    for (const { key, bytes } of [whole, damaged, missing]) {
      expect(await watched.get(key, undefined, never)).toEqual(bytes);
      expect(await watched.get(key, { offset: 5, length: 7 }, never)).toEqual(bytes.subarray(5, 12));
    }
    const asked = calls.calls.filter(({ method }) => method === 'get').map(({ key }) => key);
    expect(asked).toEqual([damaged.key, damaged.key, missing.key, missing.key]);
  });
});

function flipped(bytes: Buffer): Buffer {
  const changed = Buffer.from(bytes);
  changed.writeUInt8(changed.readUInt8(100) ^ 1, 100);
  return changed;
}

function keptIn(path: string): number {
  return readdirSync(path).reduce((sum, name) => sum + statSync(join(path, name)).size, 0);
}
