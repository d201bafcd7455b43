import { existsSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { withLockFile } from '../../../src/base/lock-file.ts';

/** Of the lock's time: the clock was set back since. */
const AHEAD_MS = 10 * 365 * 86_400_000;

let directory: string;
let path: string;
let looks: number;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-lock-'));
  path = join(directory, 'lock');
  looks = 0;
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(directory, { recursive: true });
});

function leaveLock(mark: string): void {
  writeFileSync(path, mark);
  const at = new Date(Date.now() + AHEAD_MS);
  utimesSync(path, at, at);
}

/** Each look at the monotonic clock is so much later. */
function letPass(ms: number): void {
  vi.spyOn(systemClock, 'monotonic').mockImplementation(() => {
    looks += 1;
    return looks * ms;
  });
}

test.each([
  { what: 'an empty lock', mark: '', stepMs: 4_000 },
  { what: 'the lock of a number that somebody else has now', mark: `${process.pid} 0`, stepMs: 400_000 },
])('$what from the future is waited for no longer than any other', async ({ mark, stepMs }) => {
  leaveLock(mark);
  letPass(stepMs);
  const { signal } = new AbortController();
  expect(await withLockFile(path, async () => await Promise.resolve('done'), signal)).toBe('done');
  // Not at once: it might have been of somebody alive.
  expect(looks).toBeGreaterThan(3);
  expect(existsSync(path)).toBe(false);
});

test('a lock whose holder is alive is not broken for its age by the clock alone: it may have slept', async () => {
  writeFileSync(path, `${process.pid} 0`);
  const before = new Date(Date.now() - 86_400_000);
  utimesSync(path, before, before);
  letPass(4_000);
  await withLockFile(path, async () => await Promise.resolve(), new AbortController().signal);
  expect(looks).toBeGreaterThan(7);
});

test('whoever was held up so long that the lock was broken leaves that of the next one alone', async () => {
  const next = `${process.ppid} 0123456789abcdef`;
  const held = async (): Promise<void> => {
    rmSync(path);
    writeFileSync(path, next);
    await Promise.resolve();
  };
  await withLockFile(path, held, new AbortController().signal);
  expect(readFileSync(path, 'utf8')).toBe(next);
});

test('a lock that is gone when it is released was released by whoever broke it', async () => {
  const held = async (): Promise<string> => {
    rmSync(path);
    return await Promise.resolve('done');
  };
  expect(await withLockFile(path, held, new AbortController().signal)).toBe('done');
  expect(existsSync(path)).toBe(false);
});
