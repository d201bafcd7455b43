/**
 * Merges lists of files from several catalogs. Each catalog gives a page in the common order, and the first entries of
 * all of them make the merged page. The cursor names the catalogs that are not at their end and the place of the last
 * item, after which each of them continues.
 */
import { RequestError } from '../../base/errors.ts';
import type { FileItem, FilePage, FileQuery } from '../../jobs/agent.ts';
import { compare, encodeCursor, invalid, parsed, placeOf, TIES } from './list-order.ts';
import { type ListedFiles, listName } from './file-list.ts';

/** The page of one catalog. */
export interface CatalogPage {
  readonly repositoryId: string;
  readonly page: ListedFiles;
}

/** Where the list of one catalog continues. */
export interface CatalogCursor {
  readonly repositoryId: string;
  /** The value for `FileQuery.after`. */
  readonly after: string;
}

interface Head {
  readonly from: CatalogPage;
  /** Items that the page has taken. */
  taken: number;
}

/**
 * @param pages one of each catalog, with the limit of the query. Of entries in the same place, that of the first
 * catalog comes first
 */
export function mergePages(pages: readonly CatalogPage[], query: FileQuery): FilePage {
  const heads = pages
    .filter(({ page }) => page.ordinals.length > 0)
    .map((from): Head => ({ from, taken: 0 }));
  const unreadable = pages.reduce((sum, { page }) => sum + page.unreadable, 0);
  // In no catalog is the path a directory, so the page has the entry itself.
  if (heads.length === 0) return { items: pages.flatMap(({ page }) => page.items), unreadable, next: null };
  const items: FileItem[] = [];
  let last: Head | undefined;
  while (items.length < query.limit) {
    const least = leastOf(heads, query.sort);
    const item = least?.from.page.items[least.taken];
    if (least === undefined || item === undefined) break;
    items.push(item);
    least.taken += 1;
    last = least;
  }
  return { items, unreadable, next: last === undefined ? null : cursorBehind(last, heads, query) };
}

/** @throws {RequestError} INVALID_CURSOR */
export function openCursor(text: string, query: FileQuery): readonly CatalogCursor[] {
  const cursor = parsed(text);
  const list = listName(query);
  const [ofList, key, parts]: readonly unknown[] = Array.isArray(cursor) ? cursor : [];
  if (ofList !== list || !Array.isArray(parts)) throw invalid('it belongs to another list');
  return parts.map((part: unknown) => {
    const [repositoryId, epoch, ordinals, tie]: readonly unknown[] = Array.isArray(part) ? part : [];
    if (typeof repositoryId !== 'string') throw invalid('it is not from the end of a page');
    // The catalog checks all of it.
    const after = encodeCursor({ epoch, list, ordinals, key, tie });
    return { repositoryId, after };
  });
}

/** The error for a cursor whose catalog is gone. */
export function catalogGone(): RequestError {
  return invalid('it names a repository that is no longer used');
}

function leastOf(heads: readonly Head[], sort: FileQuery['sort']): Head | undefined {
  let least: Head | undefined;
  for (const head of heads) {
    const place = placeOfNext(head, sort);
    if (place === undefined) continue;
    const best = least === undefined ? undefined : placeOfNext(least, sort);
    if (best === undefined || compare(place, best, sort) < 0) least = head;
  }
  return least;
}

/** The place of the next item, without its tie, which has a meaning only in its own catalog. */
function placeOfNext({ from: { page }, taken }: Head, sort: FileQuery['sort']) {
  const position = page.positions[taken];
  return position === undefined ? undefined : placeOf({ key: position.key, tie: 0 }, sort);
}

/** The cursor after the last item; null when all catalogs are at their end. */
function cursorBehind(last: Head, heads: readonly Head[], query: FileQuery): string | null {
  const at = last.from.page.positions[last.taken - 1];
  if (at === undefined) return null;
  const ties = TIES[query.sort];
  const parts = heads.flatMap((head, i) => {
    const { page, repositoryId } = head.from;
    if (page.next === null && head.taken === page.items.length) return [];
    // Among entries with the same key as the last item, earlier catalogs are done, and later ones have not begun.
    const tie = head === last ? at.tie : i < heads.indexOf(last) ? ties.last : ties.first;
    return [[repositoryId, page.epoch, page.ordinals, tie]];
  });
  return parts.length === 0 ? null : JSON.stringify([listName(query), at.key, parts]);
}
