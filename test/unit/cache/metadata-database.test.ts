import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MetadataDatabase } from '../../../src/cache/metadata-database.ts';
import { manualClock } from '../../support/manual-clock.ts';

const DAY_MS = 86_400_000;
const key = randomBytes(32);
const clock = manualClock();
let directory: string;
let path: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-cache-'));
  path = join(directory, 'cache', 'one.db');
});
afterEach(async () => {
  await rm(directory, { recursive: true });
});

function open(options: { key?: Buffer; limitBytes?: number } = {}): MetadataDatabase {
  return new MetadataDatabase({ path, key, limitBytes: 1_000_000, clock, ...options });
}

describe('the metadata cache', () => {
  test('gives back what it was given: at once, and in the next process', () => {
    const bytes = randomBytes(5_000);
    const cache = open();
    expect(cache.read('tree/a')).toBeUndefined();
    cache.keep('tree/a', bytes);
    expect(cache.read('tree/a')).toEqual(bytes);
    cache.close();
    const next = open();
    expect(next.read('tree/a')).toEqual(bytes);
    next.close();
  });

  test('shows nothing of it to who reads the file, nor to another key', async () => {
    const cache = open();
    cache.keep('tree/a', Buffer.from('the name of a patient'));
    cache.close();
    expect((await readFile(path)).includes('patient')).toBe(false);
    const other = open({ key: randomBytes(32) });
    expect(other.read('tree/a')).toBeUndefined();
    other.close();
  });

  test('is shared by processes that use it at a time', () => {
    const limitBytes = 100_000_000;
    const [one, two] = [open({ limitBytes }), open({ limitBytes })];
    for (let i = 0; i < 10; i += 1) {
      one.keep(`tree/one-${i}`, randomBytes(1_000_000));
      two.keep(`tree/two-${i}`, randomBytes(1_000_000));
    }
    one.close();
    two.close();
    const next = open({ limitBytes });
    expect(next.read('tree/one-0')).toHaveLength(1_000_000);
    expect(next.read('tree/two-0')).toHaveLength(1_000_000);
    next.close();
  });

  test('stays below its limit, and drops what was not used for longest', async () => {
    for (let day = 0; day < 10; day += 1) {
      const cache = open();
      cache.keep(`tree/${day}`, randomBytes(200_000));
      // Used every day, so that it stays although it is the oldest.
      cache.read('tree/0');
      cache.close();
      await clock.advance(DAY_MS);
      expect((await stat(path)).size).toBeLessThan(1_100_000);
    }
    const cache = open();
    const kept = Array.from({ length: 10 }, (_, day) => cache.read(`tree/${day}`) !== undefined);
    cache.close();
    expect(kept.slice(0, 3)).toEqual([true, false, false]);
    expect(kept.at(-1)).toBe(true);
  });

  test.each([
    ['no database', async () => await writeFile(path, randomBytes(40_000))],
    ['cut short', async () => await truncate(path, 5_000)],
    ['empty', async () => await truncate(path, 0)],
  ])('is an empty one when its file is %s, and a new one after that', async (_what, damage) => {
    const cache = open();
    for (let i = 0; i < 50; i += 1) cache.keep(`tree/${i}`, randomBytes(10_000));
    cache.close();
    await damage();
    const damaged = open();
    for (let i = 0; i < 50; i += 1) {
      const found = damaged.read(`tree/${i}`);
      if (found !== undefined) expect(found).toHaveLength(10_000);
    }
    damaged.keep('tree/new', randomBytes(1_000));
    damaged.close();
    const next = open();
    next.keep('tree/next', Buffer.from('next'));
    next.close();
    const last = open();
    expect(last.read('tree/next')?.toString()).toBe('next');
    last.close();
  });

  test('is an empty one where it cannot be written', async () => {
    await writeFile(join(directory, 'cache'), 'a file in place of the directory');
    const cache = open();
    cache.keep('tree/a', Buffer.from('a'));
    expect(cache.read('tree/a')).toBeUndefined();
    cache.close();
  });
});
