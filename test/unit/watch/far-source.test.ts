import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { treePath } from '../../../src/base/tree-path.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { pollFar } from '../../../src/watch/far-poll.ts';
import { pauseAfter } from '../../../src/base/paced-work.ts';
import { FarSource, pollSaid } from '../../../src/watch/far-source.ts';
import { removeTree } from '../../support/remove-tree.ts';
import type { ChangeSink } from '../../../src/watch/change-feed.ts';

let directory: string;
let source: string;
const path = (name: string): string => join(source, name);

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-far-'));
  source = join(directory, 'source');
  mkdirSync(path('deep/er'), { recursive: true });
  writeFileSync(path('a'), 'a');
  writeFileSync(path('deep/er/b'), 'b');
});
afterEach(() => removeTree(directory));

describe('two looks', () => {
  const look = (): ReturnType<typeof pollFar> =>
    pollFar({ root: treePath(source), never: [treePath(path('own'))] }, () => undefined);

  test('are the same while nothing changes, and while only what is never backed up does', () => {
    const before = look();
    expect(before).toMatchObject({ kind: 'there', directories: 3 });
    expect(look()).toEqual(before);
    mkdirSync(path('own'));
    const withOwn = look();
    writeFileSync(path('own/file'), 'x');
    expect(look()).toEqual(withOwn);
  });

  const CHANGES: Readonly<Record<string, () => void>> = {
    'a file that grows': () => writeFileSync(path('deep/er/b'), 'bb'),
    'a file that is written anew': () => writeFileSync(path('a'), 'c'),
    'a file that comes': () => writeFileSync(path('deep/c'), ''),
    'a file that goes': () => rmSync(path('a')),
    'a directory that comes': () => mkdirSync(path('deep/more')),
    'a file that gets another name': () => renameSync(path('a'), path('z')),
  };
  test.each(Object.keys(CHANGES))('differ by %s', (name) => {
    const before = look();
    CHANGES[name]?.();
    const after = look();
    expect(after).not.toEqual(before);
    expect(after).toMatchObject({ identity: before.kind === 'there' ? before.identity : '' });
  });

  test('tell that there is another directory, or none', () => {
    const before = look();
    renameSync(source, `${source}-away`);
    expect(look()).toEqual({ kind: 'absent' });
    mkdirSync(source);
    expect(look()).not.toMatchObject({ identity: before.kind === 'there' ? before.identity : '' });
  });

  test('at a single file tell of its changes', () => {
    const one = (): ReturnType<typeof pollFar> =>
      pollFar({ root: treePath(path('a')), never: [] }, () => undefined);
    const before = one();
    expect(before).toMatchObject({ kind: 'there', directories: 0, identity: 'file' });
    writeFileSync(path('a'), 'longer');
    expect(one()).not.toEqual(before);
  });
});

test('a process that fails has not found that the source is gone', () => {
  expect(pollSaid('{"kind":"absent"}', 0)).toEqual({ kind: 'absent' });
  expect(() => pollSaid('', 1)).toThrow('ended with 1');
  expect(() => pollSaid('{"kind":"absent"}', null)).toThrow('a signal');
  for (const half of ['', '{"kind":"th']) expect(() => pollSaid(half, 0)).toThrow(SyntaxError);
});

test('a process that cannot be started is told of once, and the source is not said to be gone', async () => {
  const problems: string[] = [];
  const lost: string[] = [];
  const sink: ChangeSink = {
    directory: () => undefined,
    subtree: () => undefined,
    happened: () => undefined,
    unknown: () => undefined,
    lose: (reason) => void lost.push(reason),
    problem: (error) => void problems.push(error.message),
  };
  // More than the system takes as an argument.
  const never = Array.from({ length: 5_000 }, (_, n) => treePath(path(`${'long'.repeat(20)}${n}`)));
  const clock = { ...systemClock, monotonic: () => 0 };
  const feed = new FarSource({ root: treePath(source), never, clock, pollMs: 20 }, sink);
  try {
    await expect.poll(() => problems.length, { timeout: 20_000 }).toBe(1);
    await new Promise((resolve) => void setTimeout(resolve, 500));
    expect(problems).toEqual(['Holdfast cannot check a source regularly for changes']);
    expect(lost).toEqual([]);
    expect(feed.state).toBe('starting');
  } finally {
    await feed.close();
  }
});

test('a source that takes long to look at is looked at less often', () => {
  expect(pauseAfter(2_000, 60_000)).toBe(60_000);
  expect(pauseAfter(10_000, 60_000)).toBe(190_000);
});

test('a source elsewhere is looked at by processes, which tell of changes, loss and return', async () => {
  const told: string[] = [];
  const sink: ChangeSink = {
    directory: () => undefined,
    subtree: () => undefined,
    happened: () => void told.push('changed'),
    unknown: () => undefined,
    lose: (reason) => void told.push(reason),
    problem: (error) => void told.push(error.message),
  };
  // By which no look takes any time, and the next one need not wait.
  const clock = { ...systemClock, monotonic: () => 0 };
  const request = { root: treePath(source), never: [], clock, pollMs: 20 };
  const feed = new FarSource(request, sink);
  const state = async (wanted: string): Promise<void> =>
    await expect.poll(() => feed.state, { timeout: 20_000 }).toBe(wanted);
  const heard = async (what: RegExp): Promise<void> =>
    await expect.poll(() => told.join('\n'), { timeout: 20_000 }).toMatch(what);
  try {
    expect(feed.state).toBe('starting');
    await state('polling');
    expect(feed.directories).toBe(3);
    writeFileSync(path('deep/new'), 'new');
    await heard(/^changed$/m);
    renameSync(source, `${source}-away`);
    await heard(/the source is gone/);
    await state('lost');
    renameSync(`${source}-away`, source);
    await heard(/has come back/);
    await state('polling');
  } finally {
    await feed.close();
  }
});
