/**
 * Lists of files of several catalogs as one. Each catalog gives a page, in the order that all of them have; the least of
 * them are the page of all. The cursor names the catalogs that are not at their end, and where the last item stood: from
 * there each of them goes on, whichever it was of.
 */
import { RequestError } from '../../base/errors.ts';
import type { FileItem, FilePage, FileQuery } from '../../jobs/agent.ts';
import { encodeCursor, invalid, parsed } from './cursor.ts';
import { listName, type ListedFiles } from './file-list.ts';
import { compare, placeOf, TIES } from './list-order.ts';

/** What a catalog listed. */
export interface CatalogPage {
  readonly repositoryId: string;
  readonly page: ListedFiles;
}

/** Where the list of one catalog goes on. */
export interface CatalogCursor {
  readonly repositoryId: string;
  /** For `FileQuery.after`. */
  readonly after: string;
}

interface Head {
  readonly from: CatalogPage;
  /** Items that the page has taken. */
  taken: number;
}

/** @param pages one of each catalog, each of the query's limit; of what stands in the same place the first comes first */
export function mergePages(pages: readonly CatalogPage[], query: FileQuery): FilePage {
  const heads = pages
    .filter(({ page }) => page.ordinals.length > 0)
    .map((from): Head => ({ from, taken: 0 }));
  const unreadable = pages.reduce((sum, { page }) => sum + page.unreadable, 0);
  // The path is nowhere a directory, but an entry.
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
    if (typeof repositoryId !== 'string') throw invalid('it is not what a page ended with');
    // The catalog looks at all of it.
    const after = encodeCursor({ epoch, list, ordinals, key, tie });
    return { repositoryId, after };
  });
}

/** The catalog of a list is not there any more. */
export function catalogGone(): RequestError {
  return invalid('a repository in it is not known any more');
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

/** Of the next item; without the tie, which means something in its own catalog only. */
function placeOfNext({ from: { page }, taken }: Head, sort: FileQuery['sort']) {
  const position = page.positions[taken];
  return position === undefined ? undefined : placeOf({ key: position.key, tie: 0 }, sort);
}

/** Null when all catalogs are at their end. */
function cursorBehind(last: Head, heads: readonly Head[], query: FileQuery): string | null {
  const at = last.from.page.positions[last.taken - 1];
  if (at === undefined) return null;
  const ties = TIES[query.sort];
  const parts = heads.flatMap((head, i) => {
    const { page, repositoryId } = head.from;
    if (page.next === null && head.taken === page.items.length) return [];
    // Of what has the same key as the last item, the catalogs before it are done, and those behind it not begun.
    const tie = head === last ? at.tie : i < heads.indexOf(last) ? ties.last : ties.first;
    return [[repositoryId, page.epoch, page.ordinals, tie]];
  });
  return parts.length === 0 ? null : JSON.stringify([listName(query), at.key, parts]);
}
