/**
 * Searches several catalogs as one: the first is searched to its end, then the next. A path that several catalogs have
 * is listed with the first of them, in the newest version that any of them has.
 */
import { storeKey } from '../../base/stored-by.ts';
import type { FileItem } from '../../jobs/agent.ts';
import { invalid, parsed } from './list-order.ts';
import { cursorBehind, type FoundFile, type FoundFiles, type SearchRequest } from './file-search.ts';
import { catalogGone } from './merged-files.ts';

/** The questions to one catalog. */
export interface SearchedCatalog {
  readonly repositoryId: string;
  readonly search: (request: SearchRequest) => Promise<FoundFiles>;
  readonly newestOf: (paths: readonly string[], source: string | undefined) => Promise<readonly FoundFile[]>;
}

export interface SearchPage {
  readonly items: readonly SearchHit[];
  /** Directories that could not be read. */
  readonly unreadable: number;
  readonly next: string | null;
}

export interface SearchHit {
  readonly item: FileItem;
  /** The newest snapshot of its source no longer has it. */
  readonly isGone: boolean;
}

/**
 * How often the catalogs are asked for one page. If nearly all that is found was found before, as in a second
 * repository with copies, the page is then short or empty, and has a cursor.
 */
const ROUNDS = 10;
/** How many entries are fetched at once from any catalog but the first, as much may have to be passed over there. */
const AT_ONCE = 1_000;

/** @throws {RequestError} INVALID_CURSOR, SERVICE_UNAVAILABLE */
export async function searchAll(
  catalogs: readonly SearchedCatalog[],
  request: SearchRequest,
): Promise<SearchPage> {
  const items: SearchHit[] = [];
  const unreadable = new Map<string, number>();
  let { at, after } = openCursor(catalogs, request.after);
  for (let round = 0; round < ROUNDS; round += 1) {
    const room = request.limit - items.length;
    const catalog = catalogs[at];
    if (catalog === undefined || room === 0) break;
    const limit = at === 0 ? room : Math.max(room, AT_ONCE);
    const found = await catalog.search({ ...request, limit, after });
    unreadable.set(catalog.repositoryId, found.unreadable);
    const own = await withoutKnown(catalogs, at, found.items, request);
    const taken = own.slice(0, room);
    items.push(...taken.map(({ item, isGone }) => ({ item, isGone })));
    const last = own.length > room ? taken.at(-1) : undefined;
    if (last !== undefined) after = cursorBehind(found, last);
    else if (found.next !== null) after = found.next;
    else [at, after] = [at + 1, undefined];
  }
  const next = catalogs[at];
  const sum = [...unreadable.values()].reduce((total, count) => total + count, 0);
  return {
    items,
    unreadable: sum,
    next: next === undefined ? null : JSON.stringify([next.repositoryId, after ?? null]),
  };
}

interface SearchPlace {
  /** Index of the catalog in which the search continues. */
  readonly at: number;
  readonly after: string | undefined;
}

function openCursor(catalogs: readonly SearchedCatalog[], cursor: string | undefined): SearchPlace {
  if (cursor === undefined) return { at: 0, after: undefined };
  const place = parsed(cursor);
  const [repositoryId, after]: readonly unknown[] = Array.isArray(place) ? place : [];
  if (typeof repositoryId !== 'string' || (after !== null && typeof after !== 'string'))
    throw invalid('it is not from the end of a page');
  const at = catalogs.findIndex((one) => one.repositoryId === repositoryId);
  if (at < 0) throw catalogGone();
  return { at, after: after ?? undefined };
}

/** The entries that a catalog found and that no earlier catalog has, each in the newest version of all catalogs. */
async function withoutKnown(
  catalogs: readonly SearchedCatalog[],
  at: number,
  found: readonly FoundFile[],
  { source, isGone }: SearchRequest,
): Promise<readonly FoundFile[]> {
  if (found.length === 0) return [];
  const paths = found.map(({ path }) => path);
  const others = await Promise.all(
    catalogs.map(async (one, i) => (i === at ? [] : await one.newestOf(paths, source))),
  );
  const before = new Set(others.slice(0, at).flat().map(keyOf));
  const later = new Map<string, FoundFile>();
  for (const one of others.slice(at + 1).flat()) {
    const known = later.get(keyOf(one));
    if (known === undefined || one.item.backed_up_at > known.item.backed_up_at) later.set(keyOf(one), one);
  }
  return found
    .filter((one) => !before.has(keyOf(one)))
    .map((one) => {
      const other = later.get(keyOf(one));
      return other !== undefined && other.item.backed_up_at > one.item.backed_up_at
        ? { ...one, item: other.item, isGone: other.isGone }
        : one;
    })
    .filter((one) => !isGone || one.isGone);
}

/** A key for a path, its source, its host, and who stored it. */
function keyOf({ host, path, item }: FoundFile): string {
  return JSON.stringify([storeKey(item.stored_by), host, item.source, path]);
}
