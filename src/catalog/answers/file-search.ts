/**
 * Searches all snapshots together. Every path that any of them has or had is listed once, in its newest version. Paths
 * come in the order in which they were taken in, which within one backup is that of the tree.
 */
import { type ByteString, joinBytes, pathNames } from '../../base/byte-path.ts';
import type { FileItem } from '../../jobs/agent.ts';
import type { CatalogDatabase } from '../tables/catalog-database.ts';
import { decodeCursor, encodeCursor } from './list-order.ts';
import { fileItem, type Hit } from './hits.ts';
import { hasSource, type KnownSnapshot } from './known-snapshots.ts';
import type { ListSource } from './list-search.ts';
import { inBoth, inEither, markedAfter, type Marks } from '../tables/marks.ts';
import { compileNamePattern, foldName } from '../tables/name-pattern.ts';
import { SPAN } from '../tables/schema.ts';

export interface SearchRequest {
  /** Substring, or a glob with * and ?, of the name; case-insensitive. */
  readonly q: string;
  readonly source: string | undefined;
  /** Only what the newest snapshot of its source no longer has; `q` may be empty then. */
  readonly isGone: boolean;
  readonly limit: number;
  readonly after: string | undefined;
}

export interface FoundFile {
  /** The machine that saved it. */
  readonly host: string;
  readonly path: ByteString;
  readonly item: FileItem;
  /** The number of its node in its catalog. */
  readonly node: number;
  /** The newest snapshot of its source no longer has it. */
  readonly isGone: boolean;
  /** The ordinal with which it disappeared, in a list of what is gone. */
  readonly until?: number;
}

export interface FoundFiles {
  /** The epoch of the catalog. */
  readonly epoch: string;
  readonly items: readonly FoundFile[];
  /** Directories that could not be read, each counted in every snapshot that is searched. */
  readonly unreadable: number;
  readonly next: string | null;
}

const LIST = 'search';
const LIST_OF_GONE = 'gone';

export type VersionHit = Hit & { readonly until: number };

/** The versions of a node, the newest first. */
export function prepareVersions(database: CatalogDatabase) {
  return database.prepare<[number], VersionHit>(
    `SELECT n.directory, n.name, v.* FROM node n CROSS JOIN version v ON v.node = n.id
     WHERE n.id = ? ORDER BY v.since DESC`,
  );
}

/** @throws {RequestError} INVALID_CURSOR */
export function searchFiles(
  source: ListSource,
  versions: ReturnType<typeof prepareVersions>,
  { q, source: wanted, isGone, limit, after }: SearchRequest,
): FoundFiles {
  const pattern = compileNamePattern(q);
  const { epoch } = source;
  const { searched, lineages } = searchedIn(source, wanted);
  const unreadable = searched.reduce((sum, one) => sum + one.unreadable, 0);
  if (pattern === undefined) return { epoch, items: [], unreadable, next: null };
  const marks = within(source, searched, source.names.matching(pattern));
  const items: FoundFile[] = [];
  const behind = after === undefined ? 0 : decodeCursor(after, epoch, LIST).tie;
  for (const node of markedAfter(marks, behind)) {
    const found = newest(versions.iterate(node), lineages);
    if (found === undefined || !pattern.matches(foldName(found.hit.name))) continue;
    if (isGone && !found.isGone) continue;
    if (items.length === limit) {
      const last = items.at(-1);
      return { epoch, items, unreadable, next: last === undefined ? null : cursorBehind({ epoch }, last) };
    }
    const { directory, name } = found.hit;
    const path = joinBytes(source.places.pathOf(directory), name.toString('latin1') as ByteString);
    items.push(foundFile(path, node, found));
  }
  return { epoch, items, unreadable, next: null };
}

/** The cursor with which a search continues after this file. */
export function cursorBehind({ epoch }: Pick<FoundFiles, 'epoch'>, { node, until }: FoundFile): string {
  return until === undefined
    ? encodeCursor({ epoch, list: LIST, ordinals: [], key: '', tie: node })
    : cursorOfGone(epoch, { until, node });
}

/** The place of a version that has ended, in the order in which `gone-files.ts` lists them. */
export interface EndedPlace {
  readonly until: number;
  readonly node: number;
}

export function cursorOfGone(epoch: string, { until, node }: EndedPlace): string {
  return encodeCursor({ epoch, list: LIST_OF_GONE, ordinals: [], key: until, tie: node });
}

/** @throws {RequestError} INVALID_CURSOR */
export function placeOfGone(epoch: string, cursor: string): EndedPlace {
  const { key, tie } = decodeCursor(cursor, epoch, LIST_OF_GONE);
  return { until: Number(key), node: tie };
}

/** What a search says about these paths: as many entries for each as there are sources that had it. */
export function newestOf(
  source: ListSource,
  versions: ReturnType<typeof prepareVersions>,
  paths: readonly ByteString[],
  wanted: string | undefined,
): readonly FoundFile[] {
  const { searched, lineages } = searchedIn(source, wanted);
  const roots = [...new Set(searched.map(({ root }) => root))];
  const found: FoundFile[] = [];
  for (const path of paths) {
    const names = pathNames(path);
    for (const root of roots) {
      const node = source.places.find(root, names);
      if (node === undefined) continue;
      const last = newest(versions.iterate(node), lineages);
      if (last !== undefined) found.push(foundFile(path, node, last));
    }
  }
  return found;
}

export interface Searched {
  readonly searched: readonly KnownSnapshot[];
  readonly lineages: ReadonlyMap<number, Lineage>;
}

export interface Lineage {
  /** In the order in which they were made. */
  readonly snapshots: readonly KnownSnapshot[];
  /** Whether they were taken in in that order. */
  readonly cameInOrder: boolean;
}

export function searchedIn({ snapshots }: ListSource, wanted: string | undefined): Searched {
  const searched = snapshots.filter((one) => one.complete && hasSource(one, wanted));
  const groups = Map.groupBy(searched, ({ lineage }) => lineage);
  return { searched, lineages: new Map([...groups].map(([id, group]) => [id, lineageOf(group)])) };
}

function lineageOf(group: readonly KnownSnapshot[]): Lineage {
  const snapshots = group.toSorted((a, b) => a.rank - b.rank);
  const isBehind = ({ ordinal }: KnownSnapshot, i: number): boolean =>
    ordinal > (snapshots[i - 1]?.ordinal ?? 0);
  return { snapshots, cameInOrder: snapshots.every(isBehind) };
}

interface LastVersion {
  readonly hit: VersionHit;
  readonly snapshot: KnownSnapshot;
  /** The newest snapshot of its lineage does not have it. */
  readonly isGone: boolean;
}

export function foundFile(path: ByteString, node: number, { hit, snapshot, isGone }: LastVersion): FoundFile {
  return { host: snapshot.host, path, item: fileItem(path, hit, snapshot), node, isGone };
}

/** Drops marked nodes that belong only to other sources and hosts. */
function within({ snapshots, names }: ListSource, searched: readonly KnownSnapshot[], marks: Marks): Marks {
  const roots = new Set(searched.map(({ root }) => root));
  if (snapshots.every(({ root }) => roots.has(root))) return marks;
  const [first, ...others] = [...roots].map((root) => names.below(root));
  return first === undefined ? { bits: new Uint32Array() } : inBoth(marks, others.reduce(inEither, first));
}

/**
 * The newest version, with the last snapshot that has it. Snapshots are not always taken in in the order in which they
 * were made: a copy can bring old ones.
 */
export function newest(
  versions: Iterable<VersionHit>,
  lineages: Searched['lineages'],
): LastVersion | undefined {
  let found: LastVersion | undefined;
  for (const hit of versions) {
    const lineage = lineages.get(Math.floor(hit.since / SPAN));
    const snapshot = lineage?.snapshots.findLast(
      ({ ordinal }) => ordinal <= hit.until && ordinal >= hit.since,
    );
    if (snapshot === undefined) continue;
    if (found === undefined || snapshot.rank > found.snapshot.rank)
      found = { hit, snapshot, isGone: snapshot !== lineage?.snapshots.at(-1) };
    if (lineage?.cameInOrder === true) break;
  }
  return found;
}
