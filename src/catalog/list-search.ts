/** What a list of files is made from and asked for. */
import type { ByteString } from '../base/byte-path.ts';
import type { FileQuery } from '../jobs/agent.ts';
import type { Cursor } from './cursor.ts';
import type { Hit, HitQueries, Wanted } from './hits.ts';
import type { KnownSnapshot } from './known-snapshots.ts';
import { placeOf, type InOrder } from './list-order.ts';
import type { NameMemory } from './name-memory.ts';
import { compileNamePattern, foldName, type NamePattern } from './name-pattern.ts';
import type { Places } from './places.ts';
import { NODE_TYPE } from './schema.ts';

/** What lists are made from. */
export interface ListSource {
  readonly epoch: string;
  readonly queries: HitQueries;
  readonly places: Places;
  readonly names: NameMemory;
  readonly snapshots: readonly KnownSnapshot[];
  readonly gathered: GatherLimits;
}

/** Up to so many entries are gathered and sorted rather than looked for in order. */
export interface GatherLimits {
  /** With names that match. */
  readonly named: number;
  /** Below a directory. */
  readonly below: number;
}

/** Gathering so many costs about as much as finding a page of them, among a million, in the order of an index. */
export const GATHERED: GatherLimits = { named: 5_000, below: 15_000 };

/** A directory of a snapshot, in which to look. */
export interface Scope {
  readonly snapshot: KnownSnapshot;
  readonly top: { readonly node: number; readonly path: ByteString };
  /** Entries to look at; infinite when it is not known. */
  readonly entries: number;
}

export interface Search {
  readonly query: FileQuery;
  readonly pattern: NamePattern | undefined;
  /** All nodes whose name matches, if those are few. */
  readonly nodes: readonly number[] | undefined;
  /** What the database can check of it. */
  readonly wanted: Wanted;
  readonly after: (Cursor & InOrder) | undefined;
}

export function prepareSearch(
  { names, gathered }: ListSource,
  query: FileQuery,
  scopes: readonly Scope[],
  cursor: Cursor | undefined,
): Search {
  const pattern = compileNamePattern(query.q ?? '');
  const isLarge = scopes.some(({ entries }) => entries > gathered.below);
  const searched = pattern !== undefined && pattern.literal !== '' && isLarge;
  return {
    query,
    pattern,
    nodes: searched ? names.find(pattern, gathered.named) : undefined,
    wanted: { type: query.type === undefined ? 0 : NODE_TYPE[query.type], ...literalOf(pattern) },
    after: cursor === undefined ? undefined : placeOf(cursor, query.sort),
  };
}

/**
 * What the database can look for in a name: it knows the capital letters of ASCII only. Of the others Kelvin and the I with
 * a dot have small letters that begin with one of ASCII, and two marks stand for one of ASCII.
 */
function literalOf(pattern: NamePattern | undefined): Pick<Wanted, 'literal' | 'or'> {
  const whole = pattern?.literal ?? '';
  const pieces = whole.includes('k') ? whole.split('i') : [whole];
  const literal = pieces.reduce((a, b) => (b.length > a.length ? b : a));
  // oxlint-disable-next-line no-control-regex -- the whole of ASCII, control characters included
  if (literal === '' || !/^[\u0000-\u007f]*$/.test(literal) || /[;`]/.test(literal))
    return { literal: null, or: null };
  return { literal, or: literal.includes('k') ? '\u212A' : literal.includes('i') ? '\u0130' : null };
}

export function matchesQuery(hit: Hit, { type }: FileQuery, pattern: NamePattern | undefined): boolean {
  if (type !== undefined && hit.type !== NODE_TYPE[type]) return false;
  return pattern === undefined || pattern.matches(foldName(hit.name));
}
