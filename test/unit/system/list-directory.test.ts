import { constants } from 'node:os';
import { describe, expect, it } from 'vitest';
import { errnoOf } from '../../../src/base/errors.ts';
import type { Libc } from '../../../src/system/libc.ts';
import { bindListDirectory } from '../../../src/system/directory-calls.ts';
import { platformTable } from '../../../src/system/platform.ts';

const NAMES = ['.', '..', 'a', 'b', 'c'];

const platform = platformTable();

/** A C library whose readdir gives the names, and then fails. */
function failingLibc(errno: number): { readonly libc: Libc; readonly closed: () => number } {
  const bytes = Buffer.alloc(1024);
  let at = 0;
  let last = 0;
  let closed = 0;
  const functions: Readonly<Record<string, (...values: number[]) => number>> = {
    fdopendir: () => 1,
    readdir: () => {
      at += 1;
      if (at <= NAMES.length) return at;
      last = errno;
      return 0;
    },
    closedir: () => {
      closed += 1;
      last = 0;
      return 0;
    },
    close: () => 0,
    memccpy: (to = 0) => to + bytes.write(`${NAMES[at - 1]}\0`, 'latin1'),
  };
  const libc: Libc = {
    platform: platform ?? never(),
    bind: (name: string) => {
      const found = functions[name.replace(/\$.*/, '')];
      if (found === undefined) throw new Error(`there is no ${name}`);
      return found;
    },
    has: () => true,
    memory: () => ({ bytes, address: 4096 }),
    errno: () => last,
    clearErrno: () => {
      last = 0;
    },
  };
  return { libc, closed: () => closed };
}

function never(): never {
  throw new Error('this system has no table');
}

describe.runIf(platform !== null)('a directory that can be read in part', () => {
  it('fails for whoever needs all of it', () => {
    const { libc, closed } = failingLibc(constants.errno.EIO);
    const list = bindListDirectory(libc, () => 3);
    expect(() => list(3)).toThrow('EIO');
    expect(closed()).toBe(1);
  });

  it('gives the names before the bad place, and says why there are no more', () => {
    const { libc, closed } = failingLibc(constants.errno.EIO);
    const told: unknown[] = [];
    expect(bindListDirectory(libc, () => 3)(3, (error) => told.push(errnoOf(error)))).toEqual([
      'a',
      'b',
      'c',
    ]);
    expect(told).toEqual(['EIO']);
    expect(closed()).toBe(1);
  });

  it('is whole where nothing fails, and nothing is said', () => {
    const told: unknown[] = [];
    const list = bindListDirectory(failingLibc(0).libc, () => 3);
    expect(list(3, (error) => told.push(error))).toEqual(['a', 'b', 'c']);
    expect(told).toEqual([]);
  });
});
