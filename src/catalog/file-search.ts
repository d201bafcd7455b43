/**
 * Searches all snapshots together: every path that any of them has or had, once, as it was last. They come in the order
 * in which they were taken in, which for those of one backup is that of the tree.
 */
import { joinBytes } from '../base/byte-path.ts';
import type { ByteString } from '../base/byte-path.ts';
import type { FileItem, FilePage } from '../jobs/agent.ts';
import type { CatalogDatabase } from './catalog-database.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { fileItem } from './file-item.ts';
import type { Hit } from './hits.ts';
import { hasSource, type KnownSnapshot } from './known-snapshots.ts';
import type { ListSource } from './list-search.ts';
import { inBoth, inEither, type Marks, markedAfter } from './marks.ts';
import { compileNamePattern, foldName } from './name-pattern.ts';
import { SPAN } from './schema.ts';

export interface SearchRequest {
  /** Substring, or a glob with * and ?, of the name; case-insensitive. */
  readonly q: string;
  readonly source: string | undefined;
  readonly limit: number;
  readonly after: string | undefined;
}

const LIST = 'search';

type VersionHit = Hit & { readonly until: number };

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
  { q, source: wanted, limit, after }: SearchRequest,
): FilePage {
  const pattern = compileNamePattern(q);
  if (pattern === undefined) return { items: [], next: null };
  const searched = source.snapshots.filter((one) => one.complete && hasSource(one, wanted));
  const lineages = Map.groupBy(searched, ({ lineage }) => lineage);
  const marks = within(source, searched, source.names.matching(pattern));
  const items: FileItem[] = [];
  let last = after === undefined ? 0 : decodeCursor(after, source.epoch, LIST).tie;
  for (const node of markedAfter(marks, last)) {
    const found = newest(versions.iterate(node), lineages);
    if (found === undefined || !pattern.matches(foldName(found.hit.name))) continue;
    if (items.length === limit) {
      const cursor = { epoch: source.epoch, list: LIST, ordinals: [], key: '', tie: last };
      return { items, next: encodeCursor(cursor) };
    }
    const { directory, name } = found.hit;
    const path = joinBytes(source.places.pathOf(directory), name.toString('latin1') as ByteString);
    items.push(fileItem(path, found.hit, found.snapshot));
    last = node;
  }
  return { items, next: null };
}

/** Without what is of other sources and hosts alone. */
function within({ snapshots, names }: ListSource, searched: readonly KnownSnapshot[], marks: Marks): Marks {
  const roots = new Set(searched.map(({ root }) => root));
  if (snapshots.every(({ root }) => roots.has(root))) return marks;
  const [first, ...others] = [...roots].map((root) => names.below(root));
  return first === undefined ? { bits: new Uint32Array() } : inBoth(marks, others.reduce(inEither, first));
}

/** The newest version that a snapshot has, and the newest snapshot that has it. */
function newest(
  versions: Iterable<VersionHit>,
  lineages: ReadonlyMap<number, readonly KnownSnapshot[]>,
): { readonly hit: VersionHit; readonly snapshot: KnownSnapshot } | undefined {
  for (const hit of versions) {
    const ofLineage = lineages.get(Math.floor(hit.since / SPAN)) ?? [];
    const snapshot = ofLineage.findLast(({ ordinal }) => ordinal <= hit.until && ordinal >= hit.since);
    if (snapshot !== undefined) return { hit, snapshot };
  }
  return undefined;
}
