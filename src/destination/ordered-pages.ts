/**
 * Checks the pages of a list that a store gives in order. A list with names out of order or repeated cannot be trusted.
 */
import { DestinationError } from '../base/errors.ts';
import { ListBound, LONGEST_KEY } from './bounds.ts';
import type { ListedObject } from './destination.ts';
import { isKeyPart } from './key.ts';

const PAGE_LENGTH = 1000;

/** What all stores say of an object in a list. */
export interface StoreObject {
  /** The full name, including what precedes the keys of the destination. */
  readonly name: string;
  readonly size: number | undefined;
  readonly modifiedMs: number | undefined;
}

/**
 * Asks for a page, hands on each object as it comes, and resolves with the token to ask for the next page, undefined at
 * the end.
 */
export type AskPage = (
  next: string | undefined,
  take: (object: StoreObject) => void,
) => Promise<string | undefined>;

/** In characters. The token goes into the next request, whose header servers limit to about this size. */
const LONGEST_TOKEN = 8_192;

/** In characters. No store takes a longer one. */
const LONGEST_NAME = 1_024;

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
  ask: AskPage,
): AsyncGenerator<readonly ListedObject[]> {
  const bound = new ListBound(url);
  const order = new NameOrder(url, root + prefix);
  /**
   * Tokens since the last page with names. Older ones can be forgotten: a repeated page with names fails the check of
   * their order.
   */
  const used = new Set<string>();
  let empty = 0;
  for (let next: string | undefined, first = true; first || next !== undefined; first = false) {
    const objects: ListedObject[] = [];
    let names = 0;
    const token: string | undefined = await ask(next, ({ name, size, modifiedMs }) => {
      names += 1;
      order.check(name);
      const key = name.slice(root.length);
      bound.count(key);
      if (key.length > LONGEST_KEY || !key.split('/').every(isKeyPart)) return;
      if (
        size === undefined ||
        !Number.isSafeInteger(size) ||
        size < 0 ||
        modifiedMs === undefined ||
        !Number.isFinite(modifiedMs)
      )
        throw wrong(url, `${key} has no size or no time`);
      // A copy: a part of an answer's text would keep all of it.
      objects.push({ key: Buffer.from(key).toString(), size, modifiedMs });
    });
    if (token !== undefined) {
      if (token === '' || used.has(token)) throw wrong(url, 'the same page comes again');
      if (token.length > LONGEST_TOKEN) throw wrong(url, 'the marker for the next page is not valid');
      if (names > 0) used.clear();
      used.add(token);
      empty = names === 0 ? empty + 1 : 0;
      if (empty > MOST_EMPTY_PAGES) throw wrong(url, 'it never ends');
    }
    for (let at = 0; at < objects.length; at += PAGE_LENGTH) yield objects.slice(at, at + PAGE_LENGTH);
    next = token;
  }
}

/** Names in the order of a list. */
class NameOrder {
  readonly #url: string;
  readonly #prefix: string;
  #last: string | undefined;

  constructor(url: string, prefix: string) {
    this.#url = url;
    this.#prefix = prefix;
  }

  /** @throws {DestinationError} where the list cannot have this name now */
  check(name: string): void {
    if (!name.startsWith(this.#prefix)) throw wrong(this.#url, 'it has names that were not requested');
    if (name.length > LONGEST_NAME)
      throw wrong(this.#url, 'it has names longer than any store allows', 'never');
    if (this.#last !== undefined && !isBefore(this.#last, name))
      throw wrong(this.#url, 'its names are out of order');
    this.#last = name;
  }
}

/** By the bytes of UTF-8, which differ in order from JavaScript's where a character has two units. */
function isBefore(one: string, other: string): boolean {
  if (!/[\uD800-\uDFFF]/.test(one + other)) return one < other;
  return Buffer.compare(Buffer.from(one), Buffer.from(other)) < 0;
}

function wrong(url: string, what: string, retry: 'now' | 'never' = 'now'): DestinationError {
  return new DestinationError('corrupt-reply', `Cannot list ${url}: the list cannot be right, as ${what}`, {
    op: 'list',
    hint: 'Do not trust the lists of this store: use another one, or a newer version of it.',
    retry,
    details: { whole: true },
  });
}
