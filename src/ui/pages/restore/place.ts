/** What the restore page shows, as its address says it: so it can be gone back to, and passed on as a link. */
import type { StoredBy } from '../../../api/schemas/values.ts';
import { hrefOf, readRoute, type Route } from '../../parts/route.ts';
import { type PathRef, pathQuery, refOfB64, textRef } from './path-ref.ts';

export const SORTS = ['name', 'size', 'modified'] as const;
export type Sort = (typeof SORTS)[number];

/** All snapshots, only the one that is shown, or what the newest snapshots no longer have. */
export const SCOPES = ['all', 'snapshot', 'deleted'] as const;
export type Scope = (typeof SCOPES)[number];

export interface Place {
  readonly source: string | undefined;
  /** Only snapshots in this destination; undefined: in any. */
  readonly destination: string | undefined;
  /** Undefined: the newest. */
  readonly snapshot: string | undefined;
  /** The directory shown; undefined: where the source begins. */
  readonly directory: PathRef | undefined;
  readonly sort: Sort;
  /** The text searched for; empty without a search. */
  readonly q: string;
  /** Where files are searched. What was deleted is listed without a search, too. */
  readonly scope: Scope;
  /** The file that is shown above the list. */
  readonly file: PathRef | undefined;
}

export function readPlace({ query }: Route): Place {
  const [sort, scope] = [query.get('sort'), query.get('in')];
  return {
    source: query.get('source') ?? undefined,
    destination: query.get('at') ?? undefined,
    snapshot: query.get('snapshot') ?? undefined,
    directory: readRef(query, 'path'),
    sort: SORTS.find((one) => one === sort) ?? 'name',
    q: query.get('q') ?? '',
    scope: SCOPES.find((one) => one === scope) ?? 'all',
    file: readRef(query, 'file'),
  };
}

export function hrefOfPlace(place: Place): string {
  return hrefOf(['restore'], {
    source: place.source,
    at: place.destination,
    snapshot: place.snapshot,
    ...refFields('path', place.directory),
    sort: place.sort === 'name' ? undefined : place.sort,
    q: place.q,
    in: place.scope === 'all' ? undefined : place.scope,
    ...refFields('file', place.file),
  });
}

/** Whether the contents of a folder are shown, and not a list of files from anywhere. */
export function isFolder({ q, scope }: Place): boolean {
  return q === '' && scope !== 'deleted';
}

/**
 * Where a delayed search leads, after which the user may have gone on: what they opened meanwhile stays open. Undefined
 * when the page no longer shows the search that it was typed into.
 * @param asked what was searched for when it was typed
 */
export function placeOfSearch(hash: string, asked: string, q: string): Place | undefined {
  const route = readRoute(hash);
  if (route.path.join('/') !== 'restore') return undefined;
  const place = readPlace(route);
  return place.q === asked ? { ...place, q } : undefined;
}

/** The versions of one file, and which two of them are compared: ids of snapshots. */
export interface VersionsPlace {
  readonly ref: PathRef | undefined;
  readonly source: string | undefined;
  /** The write-only key whose versions are meant; undefined: the agent decides. */
  readonly storedBy: string | undefined;
  readonly older: string | undefined;
  readonly newer: string | undefined;
}

/** For a hit that a write-only key stored, the versions of that key are meant. */
export function keyOfVersions({ key, write_only_key: number }: StoredBy): string | undefined {
  return number === null ? undefined : key;
}

export const VERSIONS = 'versions';

export function readVersionsPlace({ query }: Route): VersionsPlace {
  return {
    ref: readRef(query, 'path'),
    source: query.get('source') ?? undefined,
    storedBy: query.get('by') ?? undefined,
    older: query.get('older') ?? undefined,
    newer: query.get('newer') ?? undefined,
  };
}

export function hrefOfVersions({ ref, source, storedBy, older, newer }: VersionsPlace): string {
  return hrefOf(['restore', VERSIONS], { ...refFields('path', ref), source, by: storedBy, older, newer });
}

export function hrefOfRestore(id: string): string {
  return hrefOf(['restore', id]);
}

function readRef(query: URLSearchParams, name: string): PathRef | undefined {
  const bytes = query.get(`${name}_b64`);
  if (bytes !== null) return refOfB64(bytes);
  const path = query.get(name);
  return path === null ? undefined : textRef(path);
}

function refFields(name: string, ref: PathRef | undefined): Readonly<Record<string, string>> {
  if (ref === undefined) return {};
  const { path, path_b64: bytes } = pathQuery(ref);
  return bytes === undefined ? { [name]: path ?? '' } : { [`${name}_b64`]: bytes };
}
