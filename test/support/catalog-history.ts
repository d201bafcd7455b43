/** Random histories of a repository: snapshots, changes, forgetting, and a catalog that is brought up to date or not. */
import { setImmediate } from 'node:timers/promises';
import * as fc from 'fast-check';
import { DestinationError } from '../../src/base/errors.ts';
import type { CatalogDatabase } from '../../src/catalog/tables/catalog-database.ts';
import { sweep } from '../../src/catalog/ingest/sweep.ts';
import { syncCatalog } from '../../src/catalog/ingest/sync.ts';
import type { Repository } from '../../src/repository/repository.ts';
import { rewriteSnapshot } from '../../src/repository/renew/replace-snapshot.ts';
import { forgetSnapshots, listSnapshots } from '../../src/repository/snapshots.ts';
import { TreeReader } from '../../src/repository/contents/tree-reader.ts';
import {
  HAND_MADE_NS,
  directory,
  file,
  handMadeSnapshot,
  symlink,
  type HandMadeDirectory,
  type HandMadeNode,
} from './hand-made-snapshot.ts';

const { signal } = new AbortController();

interface Tree {
  readonly [name: string]: Leaf | Tree;
}
type Leaf = readonly [content: string, time: number, mode: number];

const leaf = fc.tuple(fc.constantFrom('', '1', '2', '>x', '22'), fc.nat(2), fc.constantFrom(0o644, 0o600));
const names = fc.constantFrom(
  'a',
  'a.b',
  'B',
  'bb',
  'abba.b',
  '\xff',
  '\xc3\x89t\xc3\xa9',
  '\xe6\xbc\xa2\xe5\xad\x97',
);
const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.dictionary(names, fc.oneof({ depthSize: 'small', withCrossShrink: true }, leaf, tie('tree')), {
    maxKeys: 5,
  }),
}));

export type Step =
  | {
      readonly kind: 'snapshot';
      readonly host: string;
      readonly tree: Tree;
      readonly keys: 'own' | 'plain' | 'salted';
    }
  /** A snapshot that differs from one before it in one place. */
  | {
      readonly kind: 'change';
      readonly of: number;
      readonly name: string;
      readonly node: Leaf | Tree | undefined;
    }
  | { readonly kind: 'forget' | 'tag'; readonly which: number }
  | { readonly kind: 'sync' | 'sweep' | 'interrupt' }
  /** A run during which the storage lacks some of the trees. */
  | { readonly kind: 'lacking'; readonly part: number }
  /** A sweep that ends after so many commits. */
  | { readonly kind: 'broken sweep'; readonly commits: number };

export const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant('snapshot' as const),
    host: fc.constantFrom('one', 'two'),
    tree,
    keys: fc.constantFrom(
      'own' as const,
      'own' as const,
      'own' as const,
      'plain' as const,
      'salted' as const,
    ),
  }),
  fc.record({
    kind: fc.constant('change' as const),
    of: fc.nat(20),
    name: names,
    node: fc.option(fc.oneof(leaf, tree), { nil: undefined }),
  }),
  fc.record({ kind: fc.constantFrom('forget' as const, 'tag' as const), which: fc.nat(20) }),
  fc.record({
    kind: fc.constantFrom('sync' as const, 'sync' as const, 'sweep' as const, 'interrupt' as const),
  }),
  fc.record({ kind: fc.constant('lacking' as const), part: fc.nat(2) }),
  fc.record({ kind: fc.constant('broken sweep' as const), commits: fc.integer({ min: 1, max: 12 }) }),
);

/** Makes a repository live through all steps, its catalog with it. @param look called after every step */
export async function liveThrough(
  database: CatalogDatabase,
  repository: Repository,
  steps: readonly Step[],
  look: () => void,
): Promise<void> {
  const made: { tree: Tree; host: string }[] = [];
  let time = 1_000;
  const commit = async (host: string, tree: Tree, keys: 'own' | 'plain' | 'salted'): Promise<void> => {
    time += 1_000;
    made.push({ tree, host });
    const salt = keys === 'salted' ? { salt: Buffer.alloc(16, time / 1_000) } : {};
    const record = { host, startedMs: time, plain: keys === 'plain', ...salt };
    await handMadeSnapshot(repository, node(tree), record, signal);
  };
  const sync = async (): Promise<void> => {
    await syncCatalog(database, repository, () => undefined, signal);
  };
  for (const step of steps) {
    const { live: snapshots } = await listSnapshots(repository, signal);
    const chosen = 'which' in step ? snapshots[step.which % Math.max(1, snapshots.length)] : undefined;
    if (step.kind === 'snapshot') await commit(step.host, step.tree, step.keys);
    if (step.kind === 'change') {
      const from = made[step.of % Math.max(1, made.length)] ?? { tree: {}, host: 'one' };
      const { [step.name]: _, ...rest } = from.tree;
      await commit(from.host, step.node === undefined ? rest : { ...rest, [step.name]: step.node }, 'own');
    }
    if (step.kind === 'forget' && chosen !== undefined) {
      await forgetSnapshots(repository, [chosen.id], 'test', signal);
    }
    if (step.kind === 'tag' && chosen !== undefined) {
      await rewriteSnapshot(repository, chosen, { tags: [`t${time}`], pinned: true }, signal);
    }
    if (step.kind === 'sync') await sync();
    if (step.kind === 'lacking') await lacking(step.part, sync);
    if (step.kind === 'sweep') await sweep(database, signal);
    if (step.kind === 'broken sweep') await brokenSweep(database, step.commits);
    if (step.kind === 'interrupt') await interrupted(database, repository);
    look();
  }
  await sync();
  // What could not be read before is tried again, at the latest after so long.
  await laterOn(repository, 31 * 86_400_000, sync);
}

async function laterOn(repository: Repository, ms: number, work: () => Promise<void>): Promise<void> {
  const { clock } = repository;
  Object.defineProperty(repository, 'clock', { value: { ...clock, now: () => clock.now() + ms } });
  try {
    await work();
  } finally {
    Object.defineProperty(repository, 'clock', { value: clock });
  }
}

/** As when a proxy has lost the store behind it for some of the objects: one in three, by their names. */
async function lacking(part: number, work: () => Promise<void>): Promise<void> {
  const { chunk } = TreeReader.prototype;
  TreeReader.prototype.chunk = async function (this: TreeReader, id, ...rest) {
    if ((id[0] ?? 0) % 3 === part) throw new DestinationError('not-found', 'it is not there');
    return await chunk.call(this, id, ...rest);
  };
  try {
    await work();
  } finally {
    TreeReader.prototype.chunk = chunk;
  }
}

/** A run that ends after some directories, as when the process dies: what it wrote is there. */
async function interrupted(database: CatalogDatabase, repository: Repository): Promise<void> {
  const stop = new AbortController();
  let left = 3;
  const count = (): void => {
    left -= 1;
    if (left === 0) stop.abort();
  };
  try {
    await syncCatalog(database, repository, count, stop.signal);
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  }
}

async function brokenSweep(database: CatalogDatabase, commits: number): Promise<void> {
  const stop = new AbortController();
  const ended = sweep(database, stop.signal, 2).catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
  });
  for (let left = commits; left > 0; left -= 1) await setImmediate();
  stop.abort();
  await ended;
}

function node(tree: Tree): HandMadeDirectory {
  return directory(Object.fromEntries(Object.entries(tree).map(([name, one]) => [name, nodeOf(one)])));
}

function nodeOf(one: Leaf | Tree): HandMadeNode {
  if (!isLeaf(one)) return node(one);
  const [content, time, mode] = one;
  const metadata = { mode, mtimeNs: HAND_MADE_NS + BigInt(time) };
  return content.startsWith('>') ? symlink(content.slice(1), metadata) : file(content, metadata);
}

function isLeaf(one: Leaf | Tree): one is Leaf {
  return Array.isArray(one);
}
