// Turn 5 of 8.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { asByteString } from '../../src/base/byte-path.ts';
import { diffSnapshots } from '../../src/browse/diff.ts';
import { SnapshotTrees } from '../../src/browse/snapshot-trees.ts';
import { loadIndex } from '../../src/repository/chunk-index.ts';
import { collect } from '../support/collect.ts';
import {
  directory,
  file,
  handMadeSnapshot,
  memoryRepository,
  type HandMadeDirectory,
} from '../support/hand-made-snapshot.ts';

const { signal } = new AbortController();

/** A file is its content, a directory what is in it. */
interface Tree {
  readonly [name: string]: string | Tree;
}

const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.dictionary(
    fc.constantFrom('a', 'a.b', 'b', 'c', '\xff'),
    fc.oneof({ depthSize: 'small', withCrossShrink: true }, fc.constantFrom('', '1', '22'), tie('tree')),
  ),
}));

/** Names of a directory of several leaves: all but those of one residue, with a mark at another. */
const large = fc.record({
  leftOut: fc.option(fc.nat(1_999), { nil: undefined }),
  added: fc.array(fc.nat(1_999), { maxLength: 3 }),
  marked: fc.option(fc.nat(1_999), { nil: undefined }),
});

it('tells exactly what a comparison of complete lists would tell', async () => {
  const repository = await memoryRepository(signal);
  await fc.assert(
    fc.asyncProperty(tree, tree, large, large, async (left, right, leftLarge, rightLarge) => {
      const before = { ...left, large: largeTree(leftLarge) };
      const after = { ...right, large: largeTree(rightLarge) };
      const a = await handMadeSnapshot(repository, made(before), {}, signal);
      const b = await handMadeSnapshot(repository, made(after), {}, signal);
      const trees = new SnapshotTrees(
        repository,
        await loadIndex(repository, { without: new Set() }, signal),
      );
      const root = asByteString('/');

      const changes = await collect(
        diffSnapshots(
          trees,
          { snapshot: a, path: root },
          { snapshot: b, path: root },
          { directoryTimes: true },
          signal,
        ),
      );

      expect(changes.map(({ kind, path }) => `${kind} ${path}`)).toEqual(
        expectedChanges(flattened(before), flattened(after)),
      );
    }),
    { numRuns: 40 },
  );
});

function largeTree({
  leftOut,
  added,
  marked,
}: {
  leftOut: number | undefined;
  added: readonly number[];
  marked: number | undefined;
}): Tree {
  const names: Record<string, string> = {};
  for (let i = 0; i < 2_000; i += 1) if (i !== leftOut) names[`n${i}`] = i === marked ? 'marked' : '';
  for (const i of added) names[`n${i}+`] = '';
  return names;
}

function made(model: Tree): HandMadeDirectory {
  return directory(
    Object.fromEntries(
      Object.entries(model).map(([name, node]) => [name, typeof node === 'string' ? file(node) : made(node)]),
    ),
  );
}

/** Every path with its content; directories have none. */
function flattened(model: Tree, path = ''): Map<string, string | undefined> {
  const all = new Map<string, string | undefined>();
  for (const [name, node] of Object.entries(model)) {
    all.set(`${path}/${name}`, typeof node === 'string' ? node : undefined);
    if (typeof node === 'string') continue;
    for (const [below, content] of flattened(node, `${path}/${name}`)) all.set(below, content);
  }
  return all;
}

function expectedChanges(
  before: Map<string, string | undefined>,
  after: Map<string, string | undefined>,
): string[] {
  return [...new Set([...before.keys(), ...after.keys()])].sort(byNames).flatMap((path) => {
    if (!before.has(path)) return [`added ${path}`];
    if (!after.has(path)) return [`removed ${path}`];
    const [left, right] = [before.get(path), after.get(path)];
    if ((left === undefined) !== (right === undefined)) return [`type ${path}`];
    return left === right ? [] : [`modified ${path}`];
  });
}

/** Name by name, so that what is in `a` comes before `a.b`. */
function byNames(left: string, right: string): number {
  const [a, b] = [left.replaceAll('/', '\0'), right.replaceAll('/', '\0')];
  return a < b ? -1 : a > b ? 1 : 0;
}
