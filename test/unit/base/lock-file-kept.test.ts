/** A lock file that stays. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type * as promises from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { withLockFile } from '../../../src/base/lock-file.ts';

let failures = 0;

vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof promises>();
  const rm: typeof real.rm = async (path, options) => {
    if (failures > 0) {
      failures -= 1;
      throw Object.assign(new Error('EROFS: read-only file system, rm'), { code: 'EROFS', syscall: 'rm' });
    }
    await real.rm(path, options);
  };
  return { ...real, rm };
});

const { signal } = new AbortController();
let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-lock-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

it('that cannot be removed takes nothing back, and holds up nobody in the same process', async () => {
  const path = join(directory, 'one.lock');
  failures = 1;
  expect(await withLockFile(path, async () => 'done', signal)).toBe('done');
  expect(failures).toBe(0);
  expect(existsSync(path)).toBe(true);
  const held = await withLockFile(path, async () => readFileSync(path, 'utf8'), AbortSignal.timeout(5_000));
  expect(held).toContain(`${process.pid} `);
  expect(existsSync(path)).toBe(false);
});

it('is waited for as long as it is held', async () => {
  const path = join(directory, 'one.lock');
  const order: string[] = [];
  await Promise.all(
    ['first', 'second'].map(async (name) => {
      const work = async (): Promise<void> => {
        order.push(`${name} begins`);
        await new Promise((resolve) => setTimeout(resolve, 50));
        order.push(`${name} ends`);
      };
      await withLockFile(path, work, signal);
    }),
  );
  const [one, two] = [order[0]?.split(' ')[0], order[2]?.split(' ')[0]];
  expect(order).toEqual([`${one} begins`, `${one} ends`, `${two} begins`, `${two} ends`]);
});
