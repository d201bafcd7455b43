/** What begins a backup when watching starts over. */
// Turn 4 of 8.
import { mkdirSync, mkdtempSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { asByteString } from '../../../src/base/byte-path.ts';
import { treePath } from '../../../src/base/tree-path.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { mountsOf } from '../../../src/watch/mounts.ts';
import { NativeSource } from '../../../src/watch/native-source.ts';
import { hastyClock } from '../../support/hasty-clock.ts';
import { removeTree } from '../../support/remove-tree.ts';
import { until } from './watched-source.ts';

const LONG_AGO = new Date('2020-01-01');

let directory: string;
let source: NativeSource;
let happened: number;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-native-'));
  mkdirSync(join(directory, 'a/deep'), { recursive: true });
  for (const name of ['a/deep', 'a', '.']) utimesSync(join(directory, name), LONG_AGO, LONG_AGO);
  happened = 0;
  const root = treePath(directory);
  source = new NativeSource(
    { root, never: [], clock: systemClock, mounts: mountsOf(root) },
    {
      directory: () => undefined,
      subtree: () => undefined,
      unknown: () => undefined,
      lose: () => undefined,
      happened: (events) => void (happened += events),
      problem: (error) => expect.unreachable(error.message),
    },
  );
  await until(() => source.state === 'watching');
});
afterEach(async () => {
  await source.close();
  removeTree(directory);
});

async function startOver(meanwhile: () => void): Promise<number> {
  const before = happened;
  await source.stop();
  meanwhile();
  await source.start();
  return happened - before;
}

test('what came or went while watching started over makes a backup worthwhile, and nothing else does', async () => {
  expect(await startOver(() => undefined)).toBe(0);
  expect(await startOver(() => writeFileSync(join(directory, 'a/deep/new'), ''))).toBe(1);
});

test('a directory that says it changed in the future has not changed', async () => {
  const ahead = new Date(Date.now() + 86_400_000);
  expect(await startOver(() => utimesSync(join(directory, 'a'), ahead, ahead))).toBe(0);
});

test('after events may have been dropped a backup is worthwhile in any case', async () => {
  source.overflowed();
  await until(() => source.state === 'watching');
  expect(happened).toBe(1);
});

test('sources that cannot be watched are tried again once an hour, however many they are', async () => {
  const clock = hastyClock();
  let problems = 0;
  const failing = ['1', '2', '3', '4'].map((name) => {
    const root = asByteString(`${directory}/${name}\xff`);
    mkdirSync(Buffer.from(root, 'latin1'));
    return new NativeSource(
      { root, never: [], clock, mounts: mountsOf(root) },
      {
        directory: () => undefined,
        subtree: () => undefined,
        unknown: () => undefined,
        lose: () => undefined,
        happened: () => undefined,
        problem: () => void (problems += 1),
      },
    );
  });
  await until(() => problems >= failing.length);
  const eachHour: number[] = [];
  for (let hour = 0; hour < 4; hour += 1) {
    await settled(() => problems);
    const before = problems;
    clock.skip(3_601_000);
    await until(() => problems > before);
    await settled(() => problems);
    eachHour.push(problems - before);
  }
  expect(Math.max(...eachHour)).toBeLessThanOrEqual(2 * failing.length);
  for (const one of failing) await one.close();
});

/** Until a number has not changed for a while. */
async function settled(count: () => number): Promise<void> {
  for (let last = -1; last !== count();) {
    last = count();
    await new Promise((resolve) => {
      setTimeout(resolve, 300);
    });
  }
}
