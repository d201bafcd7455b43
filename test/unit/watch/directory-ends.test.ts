/** Directories that are moved or removed, seen by whoever asked to be told of them. */
import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, renameSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { treePath } from '../../../src/base/tree-path.ts';
import { endsOf, type DirectoryEnds } from '../../../src/watch/directory-ends.ts';
import { removeTree } from '../../support/remove-tree.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-ends-'));
  for (const name of ['a', 'b']) mkdirSync(join(directory, name));
});
afterEach(() => {
  removeTree(directory);
});

const of = (...names: readonly string[]): DirectoryEnds =>
  endsOf(names.map((name) => treePath(join(directory, name))));

function queues(): number {
  return readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).includes('inotify');
    } catch {
      // The descriptor of this very list.
      return false;
    }
  }).length;
}

describe.runIf(process.platform === 'linux')('the end of a directory', () => {
  test('is told to all who watch it, and to nobody else', () => {
    using first = of('a');
    using second = of('b', 'a');
    using other = of('b');
    expect([first.seen(), second.seen(), other.seen()]).toEqual([undefined, undefined, undefined]);
    renameSync(join(directory, 'a'), join(directory, 'c'));
    expect([first.seen(), second.seen(), other.seen()]).toEqual(['moved', 'moved', undefined]);
    rmdirSync(join(directory, 'b'));
    expect(other.seen()).toBe('moved');
  });

  test('is seen also when another one of those who watch it has ended, and when it came back', () => {
    using last = of('a');
    of('a')[Symbol.dispose]();
    renameSync(join(directory, 'a'), join(directory, 'c'));
    renameSync(join(directory, 'c'), join(directory, 'a'));
    expect(last.seen()).toBe('moved');
    using fresh = of('a');
    expect(fresh.seen()).toBeUndefined();
  });

  test('costs the process one queue, which goes with the last who watches', () => {
    const before = queues();
    const all = [of('a'), of('b'), of('a', 'b'), of('nowhere')];
    expect(queues()).toBe(before + 1);
    expect(all.map(({ isWatching }) => isWatching)).toEqual([true, true, true, false]);
    for (const one of all.slice(0, 3)) one[Symbol.dispose]();
    expect(queues()).toBe(before);
    expect(all.map((one) => one.seen())).toEqual([undefined, undefined, undefined, undefined]);
    using again = of('a');
    rmdirSync(join(directory, 'a'));
    expect(again.seen()).toBe('moved');
  });
});
