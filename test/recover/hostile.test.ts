/** Snapshots that somebody with the keys made to harm whoever restores them: nothing is written outside the target. */
import { mkdtempSync, readdirSync, writeFileSync, mkdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { openLocalDestination } from '../../src/destination/local/local.ts';
import { createRepository } from '../../src/repository/opening.ts';
import { startOrSkip } from '../servers/unavailable.ts';
import {
  hostileSnapshot,
  rawEntry,
  rawLeaf,
  rawList,
  TYPE,
  type RawStore,
} from '../support/hostile-snapshot.ts';
import { removeTree } from '../support/remove-tree.ts';
import { openRecoverProgram, type RecoverProgram } from './program.ts';
import { namesBelow } from '../support/names-below.ts';

const found = await startOrSkip(openRecoverProgram);
if ('missing' in found) test.skip(`recover.py was not tested: ${found.missing}`, () => {});
else describe('recover.py and a hostile snapshot', () => tests(found.server));

const { signal } = new AbortController();
const PASSPHRASE = 'known to the attacker';

function tests(program: RecoverProgram): void {
  let home: string;
  let number = 0;

  beforeAll(() => {
    home = mkdtempSync(path.join(tmpdir(), 'holdfast-recover-'));
    writeFileSync(path.join(home, 'passphrase'), PASSPHRASE);
    mkdirSync(path.join(home, 'outside'));
    writeFileSync(path.join(home, 'outside', 'victim'), 'as it was');
  });
  afterAll(() => {
    removeTree(home);
  });

  /** Restores a snapshot that `build` makes; the target is `<home>/<n>/target`. */
  const restored = async (build: (store: RawStore) => Buffer, words: readonly string[] = []) => {
    const directory = path.join(home, String((number += 1)));
    mkdirSync(directory);
    const store = path.join(directory, 'store');
    const repository = await createRepository(
      await openLocalDestination(store, { create: true }),
      {
        clock: systemClock,
        stateDirectory: undefined,
        secrets: [{ secret: { kind: 'passphrase', text: PASSPHRASE }, label: 'passphrase' }],
        cost: { m: 64, t: 1, p: 1 },
        allowWeakCost: true,
      },
      signal,
    );
    await hostileSnapshot(repository, build, signal);
    await repository.close();
    const target = path.join(directory, 'target');
    const secret = ['--secret-file', path.join(home, 'passphrase'), '--any-cost'];
    const outcome = await program.run([store, ...secret, 'restore', 'latest', target, ...words]);
    expect(readdirSync(directory).sort()).toEqual(['store', 'target']);
    expect(readdirSync(path.join(home, 'outside'))).toEqual(['victim']);
    expect(readFileSync(path.join(home, 'outside', 'victim'), 'utf8')).toBe('as it was');
    expect(outcome.stderr).not.toContain('Traceback');
    return { ...outcome, target, names: namesBelow(target).sort() };
  };

  it.each(['..', '.', '', '../escaped', '/etc/escaped', 'a/b', 'nul\0'])(
    'refuses the name «%s»',
    async (name) => {
      const { code, stderr, names } = await restored(({ data, tree }) => {
        const ids = [data(Buffer.from('evil'))];
        return tree(rawLeaf([rawEntry({ type: TYPE.file, name, size: 4, ids })]));
      });

      expect(code).toBe(1);
      expect(stderr).toContain('forbidden name');
      expect(names).toEqual([]);
    },
  );

  it.each([
    ['a link and a directory of one name', TYPE.symlink, TYPE.directory],
    ['two directories of one name', TYPE.directory, TYPE.directory],
  ])('refuses %s', async (_, first, second) => {
    const { code, stderr, names } = await restored(({ data, tree }) => {
      const ids = [data(Buffer.from('evil'))];
      const below = tree(rawLeaf([rawEntry({ type: TYPE.file, name: 'victim', size: 4, ids })]));
      const target = path.join(home, 'outside');
      return tree(
        rawLeaf([
          rawEntry({ type: first, name: 'd', directory: below, target }),
          rawEntry({ type: second, name: 'd', directory: below, target }),
        ]),
      );
    });

    expect(code).toBe(1);
    expect(stderr).toContain('out of order');
    expect(names).toEqual([]);
  });

  it('makes links that lead outside as they are, and writes nothing through them', async () => {
    const { code, names } = await restored(({ data, tree }) => {
      const ids = [data(Buffer.from('evil'))];
      const links = { device: 1, count: 2 };
      const victim = path.join(home, 'outside', 'victim');
      return tree(
        rawLeaf([
          rawEntry({ type: TYPE.symlink, name: 'a', target: victim, inode: 5, links, mode: 0o777 }),
          rawEntry({ type: TYPE.symlink, name: 'b', target: victim, inode: 5, links, mode: 0o777 }),
          // The same inode, but other content: no other name of the link.
          rawEntry({ type: TYPE.file, name: 'c', inode: 5, links, size: 4, ids }),
        ]),
      );
    });

    expect(code).toBe(0);
    expect(names).toEqual(['a', 'b', 'c']);
  });

  it('names impossible sizes, holes and chunks, and restores the rest', async () => {
    const { code, stderr, names } = await restored(({ data, tree }) => {
      const ids = [data(Buffer.from('good'))];
      return tree(
        rawLeaf([
          rawEntry({ type: TYPE.file, name: 'absent', size: 4, ids: [Buffer.alloc(24, 9)] }),
          rawEntry({ type: TYPE.file, name: 'good', size: 4, ids }),
          rawEntry({ type: TYPE.file, name: 'long', size: 3, ids }),
          rawEntry({ type: TYPE.file, name: 'short', size: 2n ** 52n, ids }),
        ]),
      );
    });

    expect(code).toBe(1);
    expect(names).toEqual(['good']);
    expect(stderr).toContain('/absent: chunk 0909');
    expect(stderr).toContain('/long: its content: has more data than its size');
    expect(stderr).toContain('/short: its content: has less data than its size');
  });

  it('ends with a message where a hole or a list is wrong', async () => {
    const hole = await restored(({ tree }) =>
      tree(rawLeaf([rawEntry({ type: TYPE.file, name: 'hole', size: 10, holes: [[5, 6]] })])),
    );
    const list = await restored(({ tree }) => {
      const ids = [tree(rawLeaf([]))];
      return tree(rawLeaf([rawEntry({ type: TYPE.file, name: 'list', flags: 8, size: 10, ids })]));
    });

    expect([hole.code, list.code]).toEqual([1, 1]);
    expect(hole.stderr).toContain('a hole beyond the end');
    expect(list.stderr).toContain('is no list');
  });

  describe('of a few hundred bytes that unfold to millions of paths', () => {
    const bomb =
      (levels: number, said: (entries: number) => number, width = 4) =>
      ({ tree }: RawStore): Buffer => {
        let entries = 1;
        let id = tree(rawLeaf([rawEntry({ type: TYPE.file, name: 'file', size: 0 })]));
        for (let level = 0; level < levels; level += 1) {
          const totals = { entries: said(entries), files: 1, bytes: 0 };
          const names = Array.from({ length: width }, (_, i) => `n${String(i).padStart(3, '0')}`);
          const entry = (name: string): Buffer =>
            rawEntry({ type: TYPE.directory, name, directory: id, totals });
          id = tree(rawLeaf(names.map(entry)));
          entries = width * (1 + entries);
        }
        return id;
      };

    it.each([
      { name: 'told truthfully', build: bomb(12, (entries) => entries), why: 'unfolds without end' },
      { name: 'beyond all numbers', build: bomb(24, (entries) => entries), why: 'unfolds without end' },
      { name: 'which say nothing', build: bomb(12, () => 0), why: 'holds more than it says' },
      { name: 'which say too little', build: bomb(12, () => 4), why: 'holds more than it says' },
    ])('ends soon and says so: $name', async ({ build, why }) => {
      const { code, stderr, names } = await restored(build);
      expect(code).toBe(1);
      expect(stderr).toContain(why);
      expect(names.length).toBeLessThan(200_000);
    });

    it('restores copies of one real directory, as many as there may be', async () => {
      const { code, names } = await restored(bomb(1, (entries) => entries, 300));
      expect(code).toBe(0);
      expect(names).toHaveLength(600);
    });
  });

  it('refuses a file of more chunks than one of its size can have', async () => {
    const { code, stderr } = await restored(({ data, tree }) => {
      const chunk = data(Buffer.from('x'));
      const list = tree(rawList(Array.from({ length: 4_096 }, () => chunk)));
      const ids = Array.from({ length: 20 }, () => list);
      return tree(rawLeaf([rawEntry({ type: TYPE.file, name: 'file', flags: 8, size: 81_920, ids })]));
    });
    expect(code).toBe(1);
    expect(stderr).toContain('has more chunks than it can');
  });

  it('shows names on the terminal without what a terminal would obey', async () => {
    const { stderr } = await restored(({ tree }) =>
      tree(rawLeaf([rawEntry({ type: TYPE.file, name: '\x1b[2Jname', size: 4, ids: [Buffer.alloc(24)] })])),
    );

    expect(stderr).toContain('/\\x1b[2Jname: chunk');
    expect(stderr).not.toContain('\x1b');
  });
}
