/** What a list of files is made from and asked for, and which nodes may be in it. */
import type { ByteString } from '../../base/byte-path.ts';
import type { FileQuery } from '../../jobs/agent.ts';
import { type Cursor, type InOrder, placeOf } from './list-order.ts';
import type { Hit, HitQueries } from './hits.ts';
import type { KnownSnapshot } from './known-snapshots.ts';
import { inBoth, listMarked, type Marks } from '../tables/marks.ts';
import type { NameIndex } from './name-index.ts';
import { compileNamePattern, foldName, type NamePattern } from '../tables/name-pattern.ts';
import type { Orders } from './orders.ts';
import type { Places } from './places.ts';
import { NODE_TYPE } from '../tables/schema.ts';
import type { UnreadDirectories } from './unread-directories.ts';

/** The parts of a catalog from which lists are made. */
export interface ListSource {
  readonly epoch: string;
  readonly queries: HitQueries;
  readonly orders: Orders;
  readonly places: Places;
  readonly names: NameIndex;
  readonly snapshots: readonly KnownSnapshot[];
  readonly unread: UnreadDirectories;
  readonly limits: ListLimits;
}

/** Limits up to which entries are looked at one by one instead of being chosen with the index of names. */
export interface ListLimits {
  /** Entries below a directory that are searched for a part of a name. */
  readonly filtered: number;
  /** Entries below a directory that are sorted. */
  readonly below: number;
  /** Matching nodes that are sorted. If there are more, the list goes in order and passes over all others. */
  readonly listed: number;
  /** From this number of matches on, the order of size or time is tried first, which may soon fill a page. */
  readonly soon: number;
}

export const LIMITS: ListLimits = { filtered: 1_000, below: 10_000, listed: 20_000, soon: 4_000 };

/** A directory of a snapshot to look in. */
export interface Scope {
  readonly snapshot: KnownSnapshot;
  readonly top: { readonly node: number; readonly path: ByteString };
  /** Entries below the directory; infinite when that is unknown. */
  readonly entries: number;
}

export interface Search {
  readonly query: FileQuery;
  readonly pattern: NamePattern | undefined;
  readonly after: (Cursor & InOrder) | undefined;
}

export function prepareSearch(query: FileQuery, cursor: Cursor | undefined): Search {
  return {
    query,
    pattern: compileNamePattern(query.q ?? ''),
    after: cursor === undefined ? undefined : placeOf(cursor, query.sort),
  };
}

/** Whether walking the tree gives a list in its order. */
export function isWalk({ sort, view }: FileQuery): boolean {
  return sort === 'path' || (sort === 'name' && view === 'tree');
}

/** Which nodes of a scope to look at. */
export interface Selection {
  /** Nodes that may be in the list, and no others; undefined when there is nothing to choose by. */
  readonly marks: Marks | undefined;
  /** The marked nodes, if they are few; undefined for walks. */
  readonly nodes: readonly number[] | undefined;
  /** The scope is so small that all of it is looked at. */
  readonly isSmall: boolean;
}

export function selectNodes(source: ListSource, { query, pattern }: Search, scope: Scope): Selection {
  const { limits } = source;
  const isSmall = scope.entries <= (pattern === undefined ? limits.below : limits.filtered);
  if (isSmall) return { marks: undefined, nodes: undefined, isSmall };
  const marks = marksOf(source, query, pattern, scope);
  const isListed = marks !== undefined && !isWalk(query);
  return { marks, nodes: isListed ? listMarked(marks, limits.listed) : undefined, isSmall };
}

function marksOf(
  { names, snapshots }: ListSource,
  query: FileQuery,
  pattern: NamePattern | undefined,
  { snapshot: { root }, top }: Scope,
): Marks | undefined {
  const conditions: Marks[] = [];
  if (pattern !== undefined) conditions.push(names.matching(pattern));
  // Nearly all entries are files, so marking them would not help.
  if (query.type !== undefined && query.type !== 'file') conditions.push(names.ofType(NODE_TYPE[query.type]));
  if (!isWalk(query)) {
    // Nodes below other roots belong to other hosts and sources.
    const isAll = top.node === root && snapshots.every((one) => one.root === root);
    if (query.view === 'tree') conditions.push(names.inside(top.node));
    else if (!isAll) conditions.push(names.below(top.node));
  }
  const [first, ...others] = conditions;
  return first === undefined ? undefined : others.reduce(inBoth, first);
}

export function matchesQuery(hit: Hit, { type }: FileQuery, pattern: NamePattern | undefined): boolean {
  if (type !== undefined && hit.type !== NODE_TYPE[type]) return false;
  return pattern === undefined || pattern.matches(foldName(hit.name));
}
