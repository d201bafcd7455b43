/**
 * A backup that is told of the changes by the watcher finds what a whole walk made right after finds: after random
 * changes of real directories, which go on being changed and watched. A run covers several of them, each with a watcher
 * and changes of its own. HOLDFAST_LONG=1 makes it a thousand sequences.
 */
// Turn 5 of 8.

import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { ArchiveSummary } from '../../src/archiver/archive.ts';
import { asByteString, bytesOfText, joinBytes, type ByteString } from '../../src/base/byte-path.ts';
import { fsPath, treePath } from '../../src/base/tree-path.ts';
import { errnoOf } from '../../src/base/errors.ts';
import { usableChanges } from '../../src/engine/change-set.ts';
import { directoriesBelow } from '../../src/watch/directories.ts';
import type { Entry } from '../../src/format/tree.ts';
import { openEngine, type Engine } from '../support/engine.ts';
import { seededRandom, type SeededRandom } from '../support/seeded-random.ts';
import { until, watchDirectory, type WatchedSource } from '../unit/watch/watched-source.ts';

const LONG = process.env['HOLDFAST_LONG'] === '1';
const SEQUENCES = LONG ? 1_000 : 30;
const FIRST_SEED = Number(process.env['HOLDFAST_SEED'] ?? 1);
const TREES = 10;
/** Sequences in one tree, one after the other. */
const ROUNDS = LONG ? 10 : 3;
const MOST_CHANGES = 12;
/** Entries beyond which a tree is only changed and cut down. */
const MOST_ENTRIES = 150;

const NAMES = ['a', 'b', 'c', 'd', 'é', '[x]'].map(bytesOfText);
const BYTE_NAMES = ['\xff', 'x\xfe'].map(asByteString);

interface Tree {
  readonly source: ByteString;
  readonly outside: ByteString;
  readonly random: SeededRandom;
}

interface Found {
  readonly path: ByteString;
  readonly isDirectory: boolean;
  readonly isFile: boolean;
}

function entriesBelow(root: ByteString): readonly Found[] {
  const found: Found[] = [];
  for (const entry of readdirSync(fsPath(root), { withFileTypes: true, encoding: 'latin1' })) {
    if (entry.name === '.barrier') continue;
    const path = joinBytes(root, asByteString(entry.name));
    found.push({ path, isDirectory: entry.isDirectory(), isFile: entry.isFile() });
    if (entry.isDirectory()) found.push(...entriesBelow(path));
  }
  return found;
}

type Change = (tree: Tree) => readonly (ByteString | undefined)[];

/** Each returns the paths it is about, for the report; undefined where the tree has no such entry. */
const CHANGES: Readonly<Record<string, Change>> = {
  create: (tree) => withTarget(tree, (path) => writeFileSync(fsPath(path), content(tree), { flag: 'wx' })),
  mkdir: (tree) => withTarget(tree, (path) => mkdirSync(fsPath(path))),
  nest: (tree) =>
    withTarget(tree, (path) => {
      const deep = [path, name(tree), name(tree), name(tree)].reduce(joinBytes);
      mkdirSync(fsPath(deep), { recursive: true });
      writeFileSync(fsPath(joinBytes(deep, name(tree))), content(tree));
    }),
  symlink: (tree) => withTarget(tree, (path) => symlinkSync('nowhere', fsPath(path))),
  link: (tree) =>
    withTarget(tree, (path) => linkSync(fsPath(pick(tree, files(tree)) ?? tree.source), fsPath(path))),
  write: (tree) => withFile(tree, (path) => writeFileSync(path, content(tree))),
  append: (tree) => withFile(tree, (path) => appendFileSync(path, content(tree))),
  truncate: (tree) =>
    withFile(tree, (path) => truncateSync(path, tree.random.below(lstatSync(path).size + 1))),
  'same size': (tree) =>
    withFile(tree, (path) => {
      const { atime, mtime, size } = lstatSync(path);
      writeFileSync(path, Buffer.alloc(size, tree.random.below(256)), { flag: 'r+' });
      utimesSync(path, atime, mtime);
    }),
  chmod: (tree) => withEntry(tree, (path) => chmodSync(path, 0o700 + tree.random.below(64))),
  times: (tree) => withEntry(tree, (path) => utimesSync(path, 1e9, 1e9 + tree.random.below(1e6))),
  rename: (tree) => withEntry(tree, (path) => renameSync(path, fsPath(target(tree)))),
  'rename a directory': (tree) => {
    const from = pick(tree, directories(tree));
    return from === undefined ? [from] : withTarget(tree, (to) => renameSync(fsPath(from), fsPath(to)));
  },
  swap: (tree) => {
    const [one, other] = [pick(tree, directories(tree)), pick(tree, directories(tree))];
    if (one === undefined || other === undefined || one.startsWith(other) || other.startsWith(one)) return [];
    const spare = fsPath(joinBytes(tree.outside, asByteString('spare')));
    renameSync(fsPath(one), spare);
    renameSync(fsPath(other), fsPath(one));
    renameSync(spare, fsPath(other));
    return [one, other];
  },
  copy: (tree) => {
    const from = pick(tree, directories(tree));
    // Names that are not UTF-8 cannot be copied by it.
    if (
      from === undefined ||
      /[^\0-\x7f]/.test(from) ||
      entriesBelow(from).some(({ path }) => /[^\0-\x7f]/.test(path))
    )
      return [];
    const to = join(tree.source, `copy-${tree.random.below(5)}`);
    // Into a directory that is there it would end the process where a file is in the way.
    if (!existsSync(to) && !to.startsWith(from)) cpSync(from, to, { recursive: true });
    return [from, bytesOfText(to)];
  },
  'move out': (tree) =>
    withEntry(tree, (path) => renameSync(path, fsPath(joinBytes(tree.outside, name(tree))))),
  'move in': (tree) => {
    const from = pick(tree, entriesBelow(tree.outside));
    return from === undefined ? [from] : withTarget(tree, (to) => renameSync(fsPath(from.path), fsPath(to)));
  },
  'change outside': (tree) => {
    const file = pick(
      tree,
      entriesBelow(tree.outside).filter(({ isFile }) => isFile),
    );
    if (file !== undefined) appendFileSync(fsPath(file.path), content(tree));
    return [file?.path];
  },
  'move out, change, move in': (tree) => {
    const directory = pick(tree, directories(tree));
    if (directory === undefined) return [directory];
    const away = joinBytes(tree.outside, asByteString('away'));
    renameSync(fsPath(directory), fsPath(away));
    const file = pick(
      tree,
      entriesBelow(away).filter(({ isFile }) => isFile),
    );
    if (file !== undefined) appendFileSync(fsPath(file.path), content(tree));
    renameSync(fsPath(away), fsPath(directory));
    return [directory, file?.path];
  },
  'create and delete': (tree) =>
    withTarget(tree, (path) => {
      writeFileSync(fsPath(path), '', { flag: 'wx' });
      rmSync(fsPath(path));
    }),
  replace: (tree) =>
    withEntry(tree, (path) => {
      rmSync(path, { recursive: true });
      if (tree.random.below(2) === 0) mkdirSync(path);
      else writeFileSync(path, content(tree));
    }),
  delete: (tree) => withEntry(tree, (path) => rmSync(path, { recursive: true })),
};
/** A second name of a file makes a whole walk necessary from then on. */
const KINDS = Object.keys(CHANGES).flatMap((kind) => (kind === 'link' ? [kind] : [kind, kind, kind]));

function pick<T>({ random }: Tree, all: readonly T[]): T | undefined {
  return all[random.below(Math.max(1, all.length))];
}

function name(tree: Tree): ByteString {
  // Directories of such names make the watcher start over.
  return pick(tree, tree.random.below(60) === 0 ? BYTE_NAMES : NAMES) ?? asByteString('a');
}

function content({ random }: Tree): Buffer {
  return Buffer.alloc(random.below(random.below(8) === 0 ? 300_000 : 3_000), 33 + random.below(90));
}

function files({ source }: Tree): readonly ByteString[] {
  return entriesBelow(source).flatMap(({ path, isFile }) => (isFile ? [path] : []));
}

function directories({ source }: Tree): readonly ByteString[] {
  return entriesBelow(source).flatMap(({ path, isDirectory }) => (isDirectory ? [path] : []));
}

function target(tree: Tree): ByteString {
  return joinBytes(pick(tree, [tree.source, ...directories(tree)]) ?? tree.source, name(tree));
}

function withTarget(tree: Tree, change: (path: ByteString) => void): readonly ByteString[] {
  const path = target(tree);
  change(path);
  return [path];
}

function withEntry(tree: Tree, change: (path: string | Buffer) => void): readonly (ByteString | undefined)[] {
  const entry = pick(tree, entriesBelow(tree.source));
  if (entry !== undefined) change(fsPath(entry.path));
  return [entry?.path];
}

function withFile(tree: Tree, change: (path: string | Buffer) => void): readonly (ByteString | undefined)[] {
  const path = pick(tree, files(tree));
  if (path !== undefined) change(fsPath(path));
  return [path];
}

/** Makes some changes and says which. */
async function changeSome(tree: Tree, caughtUp: () => Promise<void>): Promise<readonly string[]> {
  const made: string[] = [];
  const isFull = entriesBelow(tree.source).length > MOST_ENTRIES;
  for (let count = 1 + tree.random.below(MOST_CHANGES); count > 0; count -= 1) {
    const kind = isFull && tree.random.below(2) === 0 ? 'delete' : (pick(tree, KINDS) ?? 'create');
    try {
      made.push(`${kind} ${(CHANGES[kind]?.(tree) ?? []).join(' ')}`);
      // A second name that is gone before it was reported is never told of: the next whole walk finds what it did.
      if (kind === 'link') await caughtUp();
    } catch (error) {
      // A name that is taken, or a directory moved into itself: then there is no such change.
      if (errnoOf(error) === undefined) throw error;
    }
    if (tree.random.below(6) === 0) await delay(tree.random.below(80));
  }
  return made;
}

interface WatchedTree extends Tree {
  readonly watched: Omit<WatchedSource, 'outside'>;
}

async function growTree(engine: Engine, seed: number): Promise<WatchedTree> {
  const [source, outside] = [join(engine.source, `${seed}`), join(engine.directory, `outside-${seed}`)];
  for (const path of [source, outside]) mkdirSync(path);
  const watched = await watchDirectory(source);
  const tree = {
    source: treePath(source),
    outside: treePath(outside),
    random: seededRandom(seed),
    watched,
  };
  for (let count = 0; count < 5; count += 1) await changeSome(tree, watched.caughtUp);
  return tree;
}

/** The directories to list: those that changed, or all of them when a backup job would walk everything. */
async function takeChanges(
  { source, watched }: WatchedTree,
  engine: Engine,
  parent: string,
): Promise<{ isKnown: boolean; paths: Iterable<ByteString> }> {
  await watched.caughtUp();
  const taken = watched.watcher.take();
  const real = treePath(engine.source);
  const usable = usableChanges({
    changes: taken.kind === 'paths' ? taken : null,
    source: { named: real, real },
    host: 'host',
    plain: false,
    isolated: false,
    live: (await engine.snapshots()).filter(({ id }) => id === parent),
    last: { snapshot: parent, rules: '', hiddenRules: false },
    rules: '',
  });
  if (usable !== undefined) return { isKnown: true, paths: usable.changes.directories };
  return { isKnown: false, paths: directoriesBelow(source, Number.POSITIVE_INFINITY) ?? [] };
}

async function idsOf(
  engine: Engine,
  { snapshot }: ArchiveSummary,
  trees: readonly Tree[],
): Promise<readonly (string | undefined)[]> {
  expect(snapshot.record.errors).toEqual([]);
  const entries = await engine.treeOf(snapshot);
  return trees.map(({ source }) => {
    const entry = entries.get(source);
    return entry?.type === 'directory' ? entry.id.toString('hex') : undefined;
  });
}

/** Entries of which the two snapshots say different things, as text. */
async function differencesOf(engine: Engine, one: ArchiveSummary, other: ArchiveSummary): Promise<string> {
  const [told, whole] = [await engine.treeOf(one.snapshot), await engine.treeOf(other.snapshot)];
  const text = (entry: Entry | undefined): string =>
    JSON.stringify(entry, (_, value: unknown) => (typeof value === 'bigint' ? `${value}` : value));
  return [...new Set([...told.keys(), ...whole.keys()])]
    .filter((path) => told.get(path)?.type !== 'directory' && text(told.get(path)) !== text(whole.get(path)))
    .map((path) => `${path}\n told ${text(told.get(path))}\nwhole ${text(whole.get(path))}`)
    .join('\n');
}

/** Sequences of changes in some trees, each followed by two backups. Returns how many of them knew what had changed. */
async function runSequences(firstSeed: number): Promise<number> {
  await using engine = await openEngine();
  await using watchers = new AsyncDisposableStack();
  const trees: WatchedTree[] = [];
  for (let seed = firstSeed; seed < firstSeed + TREES; seed += 1) {
    const tree = await growTree(engine, seed);
    watchers.use(tree.watched);
    trees.push(tree);
  }
  for (const { watched } of trees) {
    await watched.caughtUp();
    watched.watcher.take();
  }
  const first = await engine.backup(undefined, { parent: 'none', learn: true });
  let { known: tree } = first;
  let parent = first.snapshot.id;
  let known = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const made: (readonly string[])[] = [];
    for (const one of trees) {
      await until(() => one.watched.watcher.state === 'watching', 'the watcher to start over');
      made.push(await changeSome(one, one.watched.caughtUp));
    }
    const taken: Awaited<ReturnType<typeof takeChanges>>[] = [];
    for (const one of trees) taken.push(await takeChanges(one, engine, parent));
    const directories = new Set(taken.flatMap(({ paths }) => [...paths]));
    const compared = { parent: { snapshot: parent } };
    const told = await engine.backup(undefined, {
      ...compared,
      changes: { directories, hiddenRules: false },
      known: tree,
      learn: true,
    });
    const whole = await engine.backup(undefined, compared);
    const differences = await differencesOf(engine, told, whole);
    const [toldIds, wholeIds] = [await idsOf(engine, told, trees), await idsOf(engine, whole, trees)];
    for (const [at, id] of toldIds.entries()) {
      const where = `seed ${firstSeed + at}, round ${round}, told ${[...(taken[at]?.paths ?? [])].join(' ')}:\n${made[at]?.join('\n')}\n${differences}`;
      expect(id, where).toBe(wholeIds[at]);
    }
    expect(told.snapshot.record.counts.directories).toBe(whole.snapshot.record.counts.directories);
    known += taken.filter(({ isKnown }) => isKnown).length;
    ({ known: tree } = told);
    parent = told.snapshot.id;
  }
  expect(trees.flatMap(({ watched }) => watched.problems)).toEqual([]);
  return known;
}

test(
  'a backup that is told of the changes finds what a whole walk finds',
  { timeout: LONG ? 3_600_000 : 120_000 },
  async () => {
    let known = 0;
    let done = 0;
    for (let seed = FIRST_SEED; done < SEQUENCES; seed += TREES) {
      known += await runSequences(seed);
      done += TREES * ROUNDS;
    }
    // Asking for a whole walk every time would agree, too.
    expect(known).toBeGreaterThan(done / 4);
  },
);
