/** Whatever happens in a repository, the catalog answers what its trees say. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, expect, it } from 'vitest';
import { asByteString, joinBytes, textOfBytes, type ByteString } from '../../src/base/byte-path.ts';
import { diffSnapshots } from '../../src/browse/diff.ts';
import { contentDiffers } from '../../src/browse/entry-comparison.ts';
import { walkTree } from '../../src/browse/list.ts';
import { SnapshotTrees, shareNamespace } from '../../src/browse/snapshot-trees.ts';
import { openForWriting, prepareCatalog } from '../../src/catalog/catalog-database.ts';
import { CatalogReader } from '../../src/catalog/catalog-reader.ts';
import { foldName } from '../../src/catalog/name-pattern.ts';
import { sweep } from '../../src/catalog/sweep.ts';
import { syncCatalog } from '../../src/catalog/sync.ts';
import type { Entry } from '../../src/format/tree.ts';
import type { FileItem, FileQuery } from '../../src/jobs/agent.ts';
import { loadIndex } from '../../src/repository/chunk-index.ts';
import type { Repository } from '../../src/repository/repository.ts';
import {
  forgetSnapshots,
  listSnapshots,
  rewriteSnapshot,
  type Snapshot,
} from '../../src/repository/snapshots.ts';
import { collect } from '../support/collect.ts';
import {
  HAND_MADE_NS,
  directory,
  file,
  handMadeSnapshot,
  memoryRepository,
  symlink,
  type HandMadeDirectory,
  type HandMadeNode,
} from '../support/hand-made-snapshot.ts';
import { removeTree } from '../support/remove-tree.ts';

const { signal } = new AbortController();
const place = mkdtempSync(join(tmpdir(), 'holdfast-catalog-'));
afterAll(() => removeTree(place));

interface Tree {
  readonly [name: string]: Leaf | Tree;
}
type Leaf = readonly [content: string, time: number, mode: number];

const leaf = fc.tuple(fc.constantFrom('', '1', '2', '>x', '22'), fc.nat(2), fc.constantFrom(0o644, 0o600));
const names = fc.constantFrom('a', 'a.b', 'B', 'bb', '\xff', '\xc3\x89t\xc3\xa9', '\xe6\xbc\xa2\xe5\xad\x97');
const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.dictionary(names, fc.oneof({ depthSize: 'small', withCrossShrink: true }, leaf, tie('tree')), {
    maxKeys: 5,
  }),
}));

type Step =
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
  | { readonly kind: 'sync' | 'sweep' | 'interrupt' };

const step: fc.Arbitrary<Step> = fc.oneof(
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
);

interface Listed {
  readonly path: ByteString;
  readonly entry: Entry;
}

it('answers like the trees, whatever was made, changed, moved, forgotten and interrupted', async () => {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 2, maxLength: 9 }),
      fc.constantFrom(0, 2, 5_000),
      fc.constantFrom(0, 2, 5_000),
      async (steps, named, below) => {
        run += 1;
        const path = join(place, `${run}.db`);
        const repository = await memoryRepository(signal);
        await live(repository, path, steps);
        const { live: snapshots } = await listSnapshots(repository, signal);
        const trees = new SnapshotTrees(
          repository,
          await loadIndex(repository, { without: new Set() }, signal),
        );
        const reader = new CatalogReader(path, 'here', { named, below });
        try {
          await compareAll(reader, trees, snapshots);
        } finally {
          reader.close();
        }
      },
    ),
    { numRuns: 25 },
  );
});

async function live(repository: Repository, path: string, steps: readonly Step[]): Promise<void> {
  prepareCatalog(path);
  const database = openForWriting(path);
  const made: { tree: Tree; host: string }[] = [];
  let time = 1_000;
  const commit = async (host: string, tree: Tree, keys: 'own' | 'plain' | 'salted'): Promise<void> => {
    time += 1_000;
    made.push({ tree, host });
    const salt = keys === 'salted' ? { salt: Buffer.alloc(16, time / 1_000) } : {};
    const record = { host, startedMs: time, plain: keys === 'plain', ...salt };
    await handMadeSnapshot(repository, node(tree), record, signal);
  };
  const sync = async (limit: AbortSignal): Promise<void> => {
    await syncCatalog(database, repository, () => undefined, limit);
  };
  try {
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
      if (step.kind === 'sync') await sync(signal);
      if (step.kind === 'sweep') await sweep(database, signal);
      if (step.kind === 'interrupt') await interrupted(database, repository);
    }
    await sync(signal);
  } finally {
    database.close();
  }
}

/** A run that ends after some directories, as when the process dies: what it wrote is there. */
async function interrupted(
  database: ReturnType<typeof openForWriting>,
  repository: Repository,
): Promise<void> {
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

async function compareAll(
  reader: CatalogReader,
  trees: SnapshotTrees,
  snapshots: readonly Snapshot[],
): Promise<void> {
  expect(reader.snapshots({ limit: 100 }).map(({ id }) => id)).toEqual(
    snapshots.map(({ id }) => id).toReversed(),
  );
  for (const one of reader.snapshots({ limit: 100 })) {
    const { record } = snapshots.find(({ id }) => id === one.id) ?? {};
    expect(one).toMatchObject({ tags: record?.tags, pinned: record?.pinned, complete: true, unreadable: 0 });
  }
  const listed = new Map<Snapshot, readonly Listed[]>();
  for (const snapshot of snapshots) {
    const root = asByteString('/');
    const entries = walkTree(trees.reader(snapshot), root, snapshot.record.root, { recursive: true }, signal);
    listed.set(snapshot, await collect(entries));
  }
  for (const [snapshot, all] of listed) {
    compareLists(reader, snapshot.id, all);
    expectSame(reader.files(query({ snapshot: snapshot.id })).items, all);
  }
  compareLatest(reader, listed);
  await compareDiffs(reader, trees, snapshots);
  compareVersions(reader, listed);
}

function query(parts: Partial<FileQuery>): FileQuery {
  return { snapshot: 'latest', view: 'flat', sort: 'path', limit: 1_000, ...parts };
}

/** All pages of a list, three items each. */
function paged(reader: CatalogReader, parts: Partial<FileQuery>): readonly FileItem[] {
  const items: FileItem[] = [];
  for (let after: string | undefined; ;) {
    const page = reader.files(query({ ...parts, limit: 3, after }));
    items.push(...page.items);
    if (page.next === null) return items;
    expect(page.items).toHaveLength(3);
    after = page.next;
  }
}

function compareLists(reader: CatalogReader, snapshot: string, all: readonly Listed[]): void {
  for (const sort of ['path', 'name', 'size', 'modified'] as const) {
    for (const filter of [
      {},
      { type: 'file' },
      { q: 'B' },
      { q: 'É' },
      { q: '?' },
      { q: '*b' },
      { q: '漢' },
    ] as const) {
      const items = paged(reader, { snapshot, sort, ...filter });
      expectSame(
        inPathOrder(items),
        all.filter((one) => isWanted(one, filter)),
      );
      expectOrder(items, sort);
    }
    const top = all.find(({ entry }) => entry.type === 'directory')?.path ?? asByteString('/');
    for (const path of [asByteString('/'), top]) {
      const inside = all.filter((one) => one.path.startsWith(path === '/' ? '/' : `${path}/`));
      expectSame(inPathOrder(paged(reader, { snapshot, sort, path })), inside);
      const direct = inside.filter((one) => joinBytes(path, one.entry.name) === one.path);
      const children = paged(reader, { snapshot, sort, path, view: 'tree' });
      expectSame(inPathOrder(children), direct);
      expectOrder(children, sort);
    }
  }
}

function isWanted({ entry }: Listed, { type, q }: { readonly type?: string; readonly q?: string }): boolean {
  const folded = foldName(Buffer.from(entry.name, 'latin1'));
  if (type !== undefined && entry.type !== type) return false;
  if (q === '?') return Array.from(folded).length === 1;
  if (q === '*b') return folded.endsWith('b');
  return q === undefined || folded.includes(q.toLowerCase());
}

function bytesOf({ path, path_b64 }: Pick<FileItem, 'path' | 'path_b64'>): ByteString {
  const bytes = path_b64 === null ? Buffer.from(path) : Buffer.from(path_b64, 'base64');
  return asByteString(bytes.toString('latin1'));
}

function walkKey(path: ByteString): string {
  return path.replaceAll('/', '\0');
}

function inPathOrder(items: readonly FileItem[]): readonly FileItem[] {
  return items.toSorted((a, b) => (walkKey(bytesOf(a)) < walkKey(bytesOf(b)) ? -1 : 1));
}

function expectOrder(items: readonly FileItem[], sort: FileQuery['sort']): void {
  for (const [i, b] of items.entries()) {
    const a = items[i - 1];
    if (a === undefined) continue;
    if (sort === 'path') expect(walkKey(bytesOf(a)) < walkKey(bytesOf(b))).toBe(true);
    if (sort === 'name') expect(lastName(a) <= lastName(b)).toBe(true);
    if (sort === 'size') expect(ownSize(a)).toBeGreaterThanOrEqual(ownSize(b));
    if (sort === 'modified') expect(a.modified_at).toBeGreaterThanOrEqual(b.modified_at);
  }
}

function ownSize({ type, size_bytes }: FileItem): number {
  return type === 'file' ? size_bytes : 0;
}

function lastName(item: FileItem): string {
  return bytesOf(item).split('/').at(-1) ?? '';
}

function expectSame(items: readonly FileItem[], listed: readonly Listed[]): void {
  const facts = items.map((item) => ({
    path: bytesOf(item),
    name: item.name,
    type: item.type,
    size: item.size_bytes,
    mode: item.mode,
    modified: item.modified_at,
    target: item.link_target,
  }));
  expect(facts).toEqual(
    listed.map(({ path, entry }) => ({
      path,
      name: textOfBytes(entry.name),
      type: entry.type,
      size: entry.type === 'file' ? entry.size : entry.type === 'directory' ? entry.totals.bytes : 0,
      mode: entry.mode,
      modified: Number(entry.mtimeNs / 1_000_000n),
      target: entry.type === 'symlink' ? entry.target : null,
    })),
  );
}

/** `latest` is the newest snapshot of every host together. */
function compareLatest(reader: CatalogReader, listed: ReadonlyMap<Snapshot, readonly Listed[]>): void {
  const newest = new Map<string, Snapshot>();
  for (const snapshot of listed.keys()) newest.set(snapshot.record.host, snapshot);
  const expected = [...newest.values()].flatMap((snapshot) =>
    (listed.get(snapshot) ?? []).map(({ path }) => `${walkKey(path)} ${snapshot.id}`),
  );
  for (const sort of ['path', 'name', 'size', 'modified'] as const) {
    const items = paged(reader, { sort });
    expect(items.map((item) => `${walkKey(bytesOf(item))} ${item.snapshot_id}`).sort()).toEqual(
      expected.toSorted(),
    );
    expectOrderLoosely(items, sort);
  }
}

function expectOrderLoosely(items: readonly FileItem[], sort: FileQuery['sort']): void {
  if (sort !== 'path') {
    expectOrder(items, sort);
    return;
  }
  const keys = items.map((item) => walkKey(bytesOf(item)));
  expect(keys).toEqual(keys.toSorted());
}

const KINDS = {
  added: 'added',
  removed: 'removed',
  modified: 'modified',
  metadata: 'metadata',
  type: 'type_changed',
};

async function compareDiffs(
  reader: CatalogReader,
  trees: SnapshotTrees,
  snapshots: readonly Snapshot[],
): Promise<void> {
  const root = asByteString('/');
  for (const left of snapshots) {
    for (const right of snapshots) {
      const changes = await collect(
        diffSnapshots(
          trees,
          { snapshot: left, path: root },
          { snapshot: right, path: root },
          { directoryTimes: false },
          signal,
        ),
      );
      const told: string[] = [];
      for (let after: string | undefined; ;) {
        const page = reader.diff({ id: right.id, base: left.id, limit: 2, after });
        told.push(...page.items.map((item) => `${item.change} ${bytesOf(item)}`));
        if (page.next === null) break;
        after = page.next;
      }
      expect(told).toEqual(changes.map(({ kind, path }) => `${KINDS[kind]} ${path}`));
    }
  }
}

/** Of every host by itself, each snapshot against the one before. */
function compareVersions(reader: CatalogReader, listed: ReadonlyMap<Snapshot, readonly Listed[]>): void {
  const paths = new Set([...listed.values()].flatMap((all) => all.map(({ path }) => path)));
  for (const path of paths) {
    const expected: string[] = [];
    const before = new Map<string, { snapshot: Snapshot; entry: Entry }>();
    for (const [snapshot, all] of listed) {
      const { host } = snapshot.record;
      const last = before.get(host);
      const entry = all.find((one) => one.path === path)?.entry;
      if (entry === undefined) {
        if (last !== undefined) expected.push(`${snapshot.id} removed`);
        before.delete(host);
        continue;
      }
      const same =
        last !== undefined && isSameVersion(last.entry, entry, shareNamespace(last.snapshot, snapshot));
      expected.push(`${snapshot.id} ${last === undefined ? 'added' : same ? 'unchanged' : 'modified'}`);
      before.set(host, { snapshot, entry });
    }
    const told = reader
      .versions(path, undefined)
      .map(({ snapshot_id, change }) => `${snapshot_id} ${change}`);
    expect(told.toReversed()).toEqual(expected);
  }
}

function isSameVersion(a: Entry, b: Entry, idsComparable: boolean): boolean {
  if (a.mode !== b.mode || a.mtimeNs !== b.mtimeNs || contentDiffers(a, b, idsComparable)) return false;
  return a.type !== 'directory' || b.type !== 'directory' || !idsComparable || a.id.equals(b.id);
}
