/** What a catalog must answer, found out by walking trees. */
import { expect } from 'vitest';
import { asByteString, joinBytes, textOfBytes, type ByteString } from '../../src/base/byte-path.ts';
import { diffSnapshots } from '../../src/browse/diff.ts';
import { contentDiffers } from '../../src/browse/entries.ts';
import { walkTree } from '../../src/browse/list.ts';
import { shareNamespace, type SnapshotTrees } from '../../src/browse/snapshot-trees.ts';
import type { CatalogDatabase } from '../../src/catalog/tables/catalog-database.ts';
import type { CatalogReader } from '../../src/catalog/answers/catalog-reader.ts';
import { NAMES_PER_BLOCK, decodeNames, foldedBytes, namesIn } from '../../src/catalog/tables/name-block.ts';
import { foldName } from '../../src/catalog/tables/name-pattern.ts';
import { versionsOf } from '../../src/catalog/answers/path-versions.ts';
import type { Entry } from '../../src/format/tree.ts';
import type { FileItem, FileQuery } from '../../src/jobs/agent.ts';
import type { Snapshot } from '../../src/repository/snapshots.ts';
import { collect } from './collect.ts';

const { signal } = new AbortController();

interface Listed {
  readonly path: ByteString;
  readonly entry: Entry;
}

/** All that the trees of each snapshot hold. */
export type Contents = ReadonlyMap<Snapshot, readonly Listed[]>;

/** @throws {Error} when the catalog answers otherwise than the trees */
export async function compareAll(
  reader: CatalogReader,
  trees: SnapshotTrees,
  snapshots: readonly Snapshot[],
): Promise<Contents> {
  expect(reader.snapshots({ limit: 100 }).map(({ id }) => id)).toEqual(
    snapshots.map(({ id }) => id).toReversed(),
  );
  for (const one of reader.snapshots({ limit: 100 })) {
    const { record } = snapshots.find(({ id }) => id === one.id) ?? {};
    expect(one).toMatchObject({ tags: record?.tags, pinned: record?.pinned, complete: true, unreadable: 0 });
  }
  const listed = new Map<Snapshot, readonly Listed[]>();
  for (const snapshot of snapshots) {
    const top = { path: asByteString('/'), entry: undefined, tree: snapshot.record.root };
    const entries = walkTree(trees.reader(snapshot), top, { recursive: true }, signal);
    listed.set(snapshot, await collect(entries));
  }
  for (const [snapshot, all] of listed) {
    compareLists(reader, snapshot.id, all);
    expectSame(reader.files(query({ snapshot: snapshot.id })).items, all);
  }
  compareLatest(reader, listed);
  await compareDiffs(reader, trees, snapshots);
  compareVersions(reader, listed);
  return listed;
}

/** The same but for the older snapshots and the differences. */
export function compareNewest(reader: CatalogReader, contents: Contents): void {
  for (const [snapshot, all] of [...contents].slice(-1)) compareLists(reader, snapshot.id, all);
  compareLatest(reader, contents);
  compareVersions(reader, contents);
}

export function query(parts: Partial<FileQuery>): FileQuery {
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
      { q: 'b.' },
      { q: 'BBA' },
      { q: '\uFFFD' },
      { q: 'nothing has it' },
      { q: 'a\0a' },
      { type: 'directory' },
      { type: 'directory', q: 'b' },
      { type: 'symlink', q: '*' },
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
      const direct = inside.filter((one) => joinBytes(path, one.entry.name) === one.path);
      for (const filter of [{}, { q: 'b' }, { q: 'É', type: 'directory' }] as const) {
        const wanted = (one: Listed): boolean => isWanted(one, filter);
        expectSame(inPathOrder(paged(reader, { snapshot, sort, path, ...filter })), inside.filter(wanted));
        const children = paged(reader, { snapshot, sort, path, view: 'tree', ...filter });
        expectSame(inPathOrder(children), direct.filter(wanted));
        expectOrder(children, sort);
      }
    }
  }
}

function isWanted({ entry }: Listed, { type, q }: { readonly type?: string; readonly q?: string }): boolean {
  const folded = foldName(Buffer.from(entry.name, 'latin1'));
  if (type !== undefined && entry.type !== type) return false;
  if (q === '?') return Array.from(folded).length === 1;
  if (q === '*b') return folded.endsWith('b');
  return q === undefined || q === '*' || folded.includes(q.toLowerCase());
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

/** Nothing is left that no snapshot has, and the blocks hold the names of all nodes. */
export function compareRows(database: CatalogDatabase): void {
  const count = (from: string): unknown => database.prepare(`SELECT count(*) FROM ${from}`).pluck().get();
  const held = 'SELECT 1 FROM snapshot s WHERE s.ordinal BETWEEN version.since AND version.until';
  expect(count(`version WHERE NOT EXISTS (${held})`)).toBe(0);
  const used =
    'SELECT 1 FROM version v WHERE v.node = node.id UNION SELECT 1 FROM node n WHERE n.directory = node.id';
  expect(count(`node WHERE directory <> 0 AND NOT EXISTS (${used})`)).toBe(0);
  const nodes = database
    .prepare<[], { id: number; directory: number; name: Buffer }>(
      'SELECT id, directory, name FROM node WHERE directory <> 0 ORDER BY id',
    )
    .all();
  const blocks = database
    .prepare<[], { count: number; block: Buffer }>('SELECT count, block FROM names ORDER BY first')
    .all();
  expect(blocks.flatMap((one) => namesIn(decodeNames(one.block, one.count)))).toEqual(
    nodes.map(({ id, directory, name }) => ({
      node: id,
      directory,
      folded: foldedBytes(asByteString(name.toString('latin1'))),
    })),
  );
  for (const [i, one] of blocks.entries()) {
    expect(one.count).toBeLessThanOrEqual(NAMES_PER_BLOCK);
    expect(one.count + (blocks[i + 1]?.count ?? NAMES_PER_BLOCK)).toBeGreaterThan(NAMES_PER_BLOCK);
  }
}

/** `latest` is the newest snapshot of every host together. */
function compareLatest(reader: CatalogReader, listed: Contents): void {
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
    const named = items.filter(({ name }) => foldName(Buffer.from(name)).includes('b'));
    expect(paged(reader, { sort, q: 'B' })).toEqual(named);
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
function compareVersions(reader: CatalogReader, listed: Contents): void {
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
    const told = versionsOf([reader.states(path, undefined)], path).map(
      ({ snapshot_id, change }) => `${snapshot_id} ${change}`,
    );
    expect(told.toReversed()).toEqual(expected);
  }
}

function isSameVersion(a: Entry, b: Entry, idsComparable: boolean): boolean {
  if (a.mode !== b.mode || a.mtimeNs !== b.mtimeNs || contentDiffers(a, b, idsComparable)) return false;
  return a.type !== 'directory' || b.type !== 'directory' || !idsComparable || a.id.equals(b.id);
}
