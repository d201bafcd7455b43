/** What begins a backup when watching starts over. */
import { mkdirSync, mkdtempSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { bytesOfText } from '../../../src/base/byte-path.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { mountsOf } from '../../../src/watch/mounts.ts';
import { NativeSource } from '../../../src/watch/native-source.ts';
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
  const root = bytesOfText(directory);
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
