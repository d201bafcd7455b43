/**
 * Makes lists of files and searches in them, each in the way that is cheapest for it:
 *
 * - in order of the paths: by walking the tree from where the page begins, and entering no directory without a match;
 * - few names match, or few entries are below the directory: by sorting all of them;
 * - else in the order of an index, passing over what does not match, which is little then.
 *
 * Matches are found in the blocks of names first, in a time that does not depend on their number. So the worst case is
 * one pass over an index.
 */
import { type ByteString, pathNames, pathOf } from '../../base/byte-path.ts';
import { RequestError } from '../../base/errors.ts';
import type { AskedPaths, FileItem, FilePage, FileQuery } from '../../jobs/agent.ts';
import { compare, type Cursor, decodeCursor, encodeCursor, type InOrder, invalid } from './list-order.ts';
import { fileItem, type Hit } from './hits.ts';
import { inOrderOf, inOrderOfWalk, pathOfHit, placeOfHit, walk } from './found-entries.ts';
import {
  chooseSnapshots,
  type KnownSnapshot,
  namesIn,
  requireComplete,
  requireSnapshot,
} from './known-snapshots.ts';
import {
  isWalk,
  type ListSource,
  matchesQuery,
  prepareSearch,
  type Scope,
  type Search,
} from './list-search.ts';
import { compileNamePattern } from '../tables/name-pattern.ts';
import { NODE_TYPE } from '../tables/schema.ts';
import type { PathHit } from './tree-walk.ts';

/** An entry, and its place in the list. */
interface Placed extends PathHit, InOrder {
  readonly scope: number;
}

/** A page of one catalog, with what is needed to merge it with pages of others. */
export interface ListedFiles extends FilePage {
  readonly epoch: string;
  /** The ordinals of the listed snapshots; empty when the path is an entry other than a directory. */
  readonly ordinals: readonly number[];
  /** The place of each item. */
  readonly positions: readonly Pick<Cursor, 'key' | 'tie'>[];
}

/**
 * @param ids of the snapshots to list, instead of those that the query means
 * @throws {RequestError} SNAPSHOT_NOT_FOUND, BACKUP_NOT_FOUND, PATH_NOT_IN_SNAPSHOT, INVALID_CURSOR,
 * SERVICE_UNAVAILABLE
 * @throws {RepositoryError} CORRUPT_DATA when the directory, or one above it, could not be read
 */
export function listFiles(source: ListSource, query: FileQuery, ids?: readonly string[]): ListedFiles {
  const { epoch } = source;
  const list = listName(query);
  const after = query.after === undefined ? undefined : decodeCursor(query.after, epoch, list);
  const chosen =
    after === undefined ? chosenOf(source.snapshots, query, ids) : pinned(source.snapshots, after);
  const scopes: Scope[] = [];
  const items: FileItem[] = [];
  let unreadable = 0;
  const pathsIn = new Map(
    chosen.map((one) => [one, pathOf(namesIn(one, query.path ?? '/', query.leadsTo))] as const),
  );
  for (const [snapshot, path] of pathsIn) {
    const found = enterScope(source, snapshot, path, query.view);
    source.unread.requireRead(snapshot, path, found !== undefined);
    if (query.view === 'flat') unreadable += source.unread.countBelow(snapshot, path);
    if (found === undefined) continue;
    if ('top' in found) scopes.push(found);
    else if (matchesQuery(found, query, compileNamePattern(query.q ?? ''))) {
      items.push(fileItem(path, found, snapshot));
    }
  }
  if (items.length > 0 && scopes.length === 0) {
    return { items, unreadable, next: null, epoch, ordinals: [], positions: [] };
  }
  if (scopes.length === 0) requireSome(source, pathsIn);
  const search = prepareSearch(query, after);
  const page: Placed[] = [];
  for (const placed of merged(
    scopes.map((scope, i) => placedHits(source, search, scope, i)),
    query.sort,
  )) {
    page.push(placed);
    if (page.length > query.limit) break;
  }
  const shown = page.slice(0, query.limit);
  const last = page.length > query.limit ? shown.at(-1) : undefined;
  const ordinals = scopes.map(({ snapshot }) => snapshot.ordinal);
  return {
    epoch,
    ordinals,
    unreadable,
    positions: shown.map(({ key, tie }) => ({ key, tie })),
    items: shown.flatMap(({ path: at, hit, scope }) => {
      const snapshot = scopes[scope]?.snapshot;
      return snapshot === undefined ? [] : [fileItem(at, hit, snapshot)];
    }),
    next: last === undefined ? null : encodeCursor({ epoch, list, ordinals, key: last.key, tie: last.tie }),
  };
}

/** The name by which the cursors of different lists are told apart. */
export function listName({ view, sort }: FileQuery): string {
  return `files ${view} ${sort}`;
}

function chosenOf(
  snapshots: readonly KnownSnapshot[],
  query: FileQuery,
  ids: readonly string[] | undefined,
): readonly KnownSnapshot[] {
  if (ids === undefined) return chooseSnapshots(snapshots, query);
  return ids.map((id) => requireComplete(requireSnapshot(snapshots, id)));
}

export interface EntryRequest extends AskedPaths {
  /** The id of the snapshot. */
  readonly snapshot: string;
  /** Bytes as Latin-1. */
  readonly path: string;
}

/**
 * @throws {RequestError} SNAPSHOT_NOT_FOUND, PATH_NOT_IN_SNAPSHOT, SERVICE_UNAVAILABLE
 * @throws {RepositoryError} CORRUPT_DATA when a directory above it could not be read
 */
export function findEntry(
  { places, queries, snapshots, unread }: ListSource,
  { snapshot: id, path: at, leadsTo }: EntryRequest,
): FileItem {
  const snapshot = requireComplete(requireSnapshot(snapshots, id));
  const names = namesIn(snapshot, at, leadsTo);
  const node = places.find(snapshot.root, names);
  const hit = node === undefined ? undefined : queries.one.get(snapshot.ordinal, snapshot.ordinal, node);
  if (hit !== undefined) return fileItem(pathOf(names), hit, snapshot);
  unread.requireRead(snapshot, pathOf(names), false);
  throw notThere(pathOf(names));
}

function pinned(snapshots: readonly KnownSnapshot[], { ordinals }: Cursor): readonly KnownSnapshot[] {
  return ordinals.map((ordinal) => {
    const found = snapshots.find((one) => one.ordinal === ordinal);
    if (found === undefined) throw invalid('a snapshot in it has been removed since');
    return found;
  });
}

/** The directory `path` of a snapshot; the entry itself when it is not a directory. */
function enterScope(
  { places, queries }: ListSource,
  snapshot: KnownSnapshot,
  path: ByteString,
  view: FileQuery['view'],
): Scope | Hit | undefined {
  const node = places.find(snapshot.root, pathNames(path));
  if (node === undefined) return undefined;
  const hit = queries.one.get(snapshot.ordinal, snapshot.ordinal, node);
  if (hit === undefined) return undefined;
  if (hit.type !== NODE_TYPE.directory) return hit;
  const entries = view === 'tree' ? hit.children : hit.entries;
  return { snapshot, top: { node, path }, entries: entries ?? Number.POSITIVE_INFINITY };
}

/** @throws {RequestError} PATH_NOT_IN_SNAPSHOT when none of the snapshots has the path */
function requireSome({ places, queries }: ListSource, pathsIn: ReadonlyMap<KnownSnapshot, ByteString>): void {
  const [path = '/'] = pathsIn.values();
  if (path === '/') return;
  const isThere = [...pathsIn].some(([{ root, ordinal }, at]) => {
    const node = places.find(root, pathNames(at));
    return node !== undefined && queries.one.get(ordinal, ordinal, node) !== undefined;
  });
  if (isThere) return;
  throw notThere(path);
}

export function notThere(path: ByteString): RequestError {
  const shown = Buffer.from(path, 'latin1').toString('utf8');
  return new RequestError('PATH_NOT_IN_SNAPSHOT', `${shown} is not in the backup`, {
    hint: 'List the directory it should be in, or see which snapshots have it: GET /files/versions?path=…',
    details: { path: shown },
  });
}

/** The error for a path that was looked for in all snapshots. */
export function notAnywhere(path: ByteString): RequestError {
  const shown = Buffer.from(path, 'latin1').toString('utf8');
  return new RequestError('PATH_NOT_IN_SNAPSHOT', `No snapshot has ${shown}`, {
    hint: 'Search for it by its name: GET /files?q=…, with snapshot=… for a time before it was deleted.',
    details: { path: shown },
  });
}

function* placedHits(
  source: ListSource,
  search: Search,
  scope: Scope,
  number: number,
): Generator<Placed, undefined, undefined> {
  const { after, query, pattern } = search;
  const { sort } = query;
  if (sort !== 'path' && !isWalk(query)) {
    for (const hit of inOrderOf(source, search, scope, sort)) {
      if (!matchesQuery(hit, query, pattern)) continue;
      yield { path: pathOfHit(source.places, hit), hit, scope: number, ...placeOfHit(hit, sort) };
    }
    return undefined;
  }
  let behind = after === undefined;
  for (const { path, hit } of walk(source, search, scope)) {
    if (!matchesQuery(hit, query, pattern)) continue;
    const placed = { path, hit, scope: number, ...inOrderOfWalk(path, hit, sort, number) };
    behind ||= after === undefined || compare(placed, after, sort) > 0;
    if (behind) yield placed;
  }
  return undefined;
}

/** Merges several ordered lists into one. */
function* merged(
  lists: readonly Generator<Placed, undefined, undefined>[],
  sort: FileQuery['sort'],
): Generator<Placed, undefined, undefined> {
  const heads = lists.map((list) => list.next().value);
  for (;;) {
    let least: Placed | undefined;
    for (const head of heads) {
      if (head !== undefined && (least === undefined || compare(head, least, sort) < 0)) least = head;
    }
    if (least === undefined) return undefined;
    yield least;
    heads[least.scope] = lists[least.scope]?.next().value;
  }
}
