/**
 * Checks the pages of a list that a store gives in order. A list with names out of order or repeated cannot be trusted.
 */
import { DestinationError } from '../base/errors.ts';
import { ListBound, LONGEST_KEY } from './bounds.ts';
import type { ListedObject } from './destination.ts';
import { isKeyPart } from './key.ts';

const PAGE_LENGTH = 1000;

/** A page of a store's list, reduced to what all stores have in common. */
export interface StorePage {
  readonly objects: readonly StoreObject[];
  /** The token to ask for the next page; undefined at the end. */
  readonly next: string | undefined;
}

export interface StoreObject {
  /** The full name, including what precedes the keys of the destination. */
  readonly name: string;
  readonly size: number | undefined;
  readonly modifiedMs: number | undefined;
}

/** In characters. The token goes into the next request, whose header servers limit to about this size. */
const LONGEST_TOKEN = 8_192;

/** In bytes. Stores accept no longer name than 1,024. */
const LONGEST_NAME = 4_096;

/** More empty pages in a row than any store gives; a store that goes beyond never ends its list. */
const MOST_EMPTY_PAGES = 100;

/**
 * Yields the objects below `root` whose key begins with `prefix`, in pages of at most 1,000. Names that are not valid
 * keys are left out. Rejects with `corrupt-reply` as soon as the list cannot be right: names that are out of order or
 * were not asked for, a missing size or time, or a token that was used before.
 */
export async function* orderedPages(
  url: string,
  root: string,
  prefix: string,
  ask: (next: string | undefined) => Promise<StorePage>,
): AsyncGenerator<readonly ListedObject[]> {
  const bound = new ListBound(url);
  /**
   * Tokens since the last page with names. Older ones can be forgotten: a repeated page with names fails the check of
   * their order.
   */
  const used = new Set<string>();
  const rootBytes = Buffer.byteLength(root);
  let last: Buffer | undefined;
  let empty = 0;
  for (let next: string | undefined, first = true; first || next !== undefined; first = false) {
    const page = await ask(next);
    if (page.next !== undefined) {
      if (page.next === '' || used.has(page.next)) throw wrong(url, 'the same page comes again');
      if (page.next.length > LONGEST_TOKEN)
        throw wrong(url, 'what the next page is asked for with is no such text');
      if (page.objects.length > 0) used.clear();
      used.add(page.next);
      empty = page.objects.length === 0 ? empty + 1 : 0;
      if (empty > MOST_EMPTY_PAGES) throw wrong(url, 'it does not come to an end');
    }
    let objects: ListedObject[] = [];
    for (const { name, size, modifiedMs } of page.objects) {
      if (!name.startsWith(root + prefix)) throw wrong(url, 'it has names that were not asked for');
      const bytes = Buffer.from(name);
      if (bytes.length > LONGEST_NAME) throw wrong(url, 'it has longer names than any store takes');
      if (last !== undefined && Buffer.compare(last, bytes) >= 0)
        throw wrong(url, 'its names are out of order');
      last = bytes;
      const key = name.slice(root.length);
      bound.count(key);
      if (key.length > LONGEST_KEY || !key.split('/').every(isKeyPart)) continue;
      if (
        size === undefined ||
        !Number.isSafeInteger(size) ||
        size < 0 ||
        !Number.isFinite(modifiedMs ?? Number.NaN)
      )
        throw wrong(url, `${key} has no size or no time`);
      // A copy: a part of the name may keep all of the answer that it came in.
      objects.push({ key: bytes.toString('utf8', rootBytes), size, modifiedMs: modifiedMs ?? 0 });
      if (objects.length < PAGE_LENGTH) continue;
      yield objects;
      objects = [];
    }
    if (objects.length > 0) yield objects;
    next = page.next;
  }
}

function wrong(url: string, what: string): DestinationError {
  return new DestinationError('corrupt-reply', `Cannot list ${url}: the list cannot be right, as ${what}`, {
    op: 'list',
    hint: 'Do not rely on what this store lists: use another one, or a newer version of it.',
    retry: 'now',
    details: { whole: true },
  });
}
