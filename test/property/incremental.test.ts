/**
 * A run with a parent finds what a run without one finds, and a run that is told what has changed finds what a whole walk
 * finds: on random trees, after random changes. A run covers several trees at a time, each with changes of its own.
 */

import {
  appendFileSync,
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ArchiveSummary } from '../../src/archiver/archive.ts';
import { NO_EXCLUSIONS } from '../../src/exclude/excluder.ts';
import { bytesOfText } from '../../src/base/byte-path.ts';
import { treePath } from '../../src/base/tree-path.ts';
import { errnoOf } from '../../src/base/errors.ts';
import { entryOf, openEngine } from '../support/engine.ts';
import { hasXattrs, setXattr } from '../support/libc.ts';
import { namesBelow } from '../support/names-below.ts';

const TREES = 12;
const RUNS = 5;

const KINDS = [
  'create',
  'create',
  'mkdir',
  'symlink',
  'link',
  'write',
  'append',
  'truncate',
  'rename',
  'rename',
  'delete',
  'chmod',
  'time-back',
  'same-size',
  'xattr',
  'rules',
] as const;

const change = fc.record({
  kind: fc.constantFrom(...KINDS),
  /** Which entry, and which directory: numbers into what there is at that moment. */
  entry: fc.nat(1_000),
  directory: fc.nat(1_000),
  name: fc.constantFrom('a', 'b', 'c', 'd', 'e.o', 'f.o'),
  size: fc.constantFrom(0, 1, 100, 5_000, 70_000, 300_000),
  byte: fc.integer({ min: 1, max: 255 }),
});
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

const history = fc.record({
  first: fc.array(change, { minLength: 5, maxLength: 20 }),
  rounds: fc.tuple(fc.array(change, { maxLength: 6 }), fc.array(change, { maxLength: 6 })),
});

/** The last two are not in the snapshot themselves. */
const RULES: readonly ((name: string) => string)[] = [
  () => '*.o\n',
  (name) => `${name}\n!a\n`,
  (name) => `.ignore\n!${name}\n`,
  (name) => `.*\n${name}\n`,
];

/** Every entry below a directory, in byte order. */
function entriesBelow(root: string): readonly string[] {
  return namesBelow(root)
    .map((name) => join(root, name))
    .sort();
}

function isDirectory(path: string): boolean {
  return lstatSync(path).isDirectory();
}

/** Makes one change in a tree and names the directories that a watcher would name. */
function apply({ kind, entry, directory, name, size, byte }: Change, root: string, dirty: Set<string>): void {
  const all = entriesBelow(root);
  const directories = [root, ...all.filter(isDirectory)];
  const parent = directories[directory % directories.length] ?? root;
  const target = join(parent, name);
  const content = Buffer.alloc(size, byte);
  if (kind === 'create') writeFileSync(target, content, { flag: 'wx' });
  if (kind === 'mkdir') mkdirSync(target);
  if (kind === 'symlink') symlinkSync(`to-${byte}`, target);
  if (kind === 'rules') writeFileSync(join(parent, '.ignore'), RULES[byte % RULES.length]?.(name) ?? '');
  if (['create', 'mkdir', 'symlink', 'rules'].includes(kind)) {
    dirty.add(parent);
    return;
  }

  const files = all.filter((path) => lstatSync(path).isFile());
  const candidates = kind === 'rename' || kind === 'delete' || kind === 'xattr' ? all : files;
  const path = candidates[entry % Math.max(1, candidates.length)];
  if (path === undefined) return;
  const { ino, atime, mtime, size: length } = lstatSync(path);
  // A change through one name of a file is a change of all its names.
  for (const same of files) if (lstatSync(same).ino === ino) dirty.add(dirname(same));
  dirty.add(dirname(path));
  if (kind === 'link') linkSync(path, target);
  if (kind === 'rename') renameSync(path, target);
  if (kind === 'link' || kind === 'rename') dirty.add(parent);
  if (kind === 'write') writeFileSync(path, content);
  if (kind === 'append') appendFileSync(path, content);
  if (kind === 'truncate') truncateSync(path, Math.min(size, length));
  if (kind === 'delete') rmSync(path, { recursive: true });
  if (kind === 'chmod') chmodSync(path, 0o600 + (byte % 64));
  if (kind === 'time-back') utimesSync(path, 1_000_000_000 + byte, 1_000_000_000 + byte);
  if (kind === 'same-size') {
    writeFileSync(
      path,
      readFileSync(path).map((value) => value ^ byte),
    );
    utimesSync(path, atime, mtime);
  }
  if (kind === 'xattr' && hasXattrs && !lstatSync(path).isSymbolicLink())
    setXattr(treePath(path), bytesOfText(`user.${name}`), content.subarray(0, 100));
}

function applyAll(changes: readonly Change[], root: string, dirty: Set<string>): void {
  for (const one of changes) {
    try {
      apply(one, root, dirty);
    } catch (error) {
      // A name that is taken, or a directory moved into itself: then there is no such change.
      if (errnoOf(error) === undefined) throw error;
    }
  }
}

/** How much of each kind a snapshot holds, whatever was new. */
function heldBy({ snapshot }: ArchiveSummary): object {
  const { files, directories, links, others, bytes } = snapshot.record.counts;
  return { files, directories, links, others, bytes };
}

test('a run with a parent, and one that is told of the changes, find what a whole run finds', async () => {
  await using engine = await openEngine();
  const exclude = { ...NO_EXCLUSIONS, ignoreFiles: [bytesOfText('.ignore')] };
  let iteration = 0;
  const property = fc.asyncProperty(
    fc.array(history, { minLength: TREES, maxLength: TREES }),
    fc.boolean(),
    async (trees, resting) => {
      iteration += 1;
      const source = join(engine.source, `${iteration}`);
      const roots = trees.map((_, index) => join(source, `tree-${index}`));
      for (const root of roots) mkdirSync(root, { recursive: true });
      const backup = (options: Parameters<typeof engine.backup>[1]): Promise<ArchiveSummary> =>
        engine.backup([source], { exclude, learn: true, ...options });
      const idOf = async ({ snapshot }: ArchiveSummary): Promise<string> => {
        expect(snapshot.record.errors).toEqual([]);
        return (await entryOf(engine, snapshot, source, 'directory')).id.toString('hex');
      };

      for (const [index, root] of roots.entries()) applyAll(trees[index]?.first ?? [], root, new Set());
      // Without a rest every file is younger than the tick before the run, and read again by the next one.
      if (resting) await delay(40);
      const first = await backup({ parent: 'none' });
      let { known } = first;
      let parent = first.snapshot.id;
      for (const round of [0, 1] as const) {
        const dirty = new Set<string>();
        for (const [index, root] of roots.entries()) applyAll(trees[index]?.rounds[round] ?? [], root, dirty);
        if (resting) await delay(40);
        const beside = await backup({ parent: { snapshot: parent } });
        const directories = new Set([...dirty].map(treePath));
        const changes = { directories, hiddenRules: known?.notes.hiddenRules ?? true };
        const told = await backup({ parent: { snapshot: parent }, changes, known });
        const whole = await backup({ parent: 'none' });
        expect(await idOf(beside)).toBe(await idOf(whole));
        expect(await idOf(told)).toBe(await idOf(whole));
        expect(heldBy(told)).toEqual(heldBy(whole));
        ({ known } = told);
        parent = told.snapshot.id;
      }
      rmSync(source, { recursive: true });
    },
  );
  await fc.assert(property, { numRuns: RUNS, endOnFailure: true });
  expect(iteration * TREES).toBeGreaterThanOrEqual(60);
});
