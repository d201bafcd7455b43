/** The orders that lists of files have, and the place of an entry in them. */
import type { ByteString } from '../../base/byte-path.ts';
import type { FileQuery } from '../../jobs/agent.ts';
import type { Cursor } from './cursor.ts';
import { walkOrder } from './tree-walk.ts';

/** The place of an item: `order` decides, then `tie`. The cursor keeps `key`, from which `order` follows. */
export interface InOrder {
  readonly key: string | number;
  readonly tie: number;
  readonly order: string | number;
}

/**
 * Sizes and times are in descending order, paths and names in the order of their bytes. By size only files count: the
 * size shown for a directory is that of its content, so directories come last.
 */
export function compare(a: InOrder, b: InOrder, sort: FileQuery['sort']): number {
  const [first, second] = sort === 'size' || sort === 'modified' ? [b, a] : [a, b];
  return first.order < second.order ? -1 : first.order > second.order ? 1 : first.tie - second.tie;
}

/** Adds `order` to a key and tie, and keeps all other fields of a cursor. */
export function placeOf<T extends Pick<Cursor, 'key' | 'tie'>>(at: T, sort: FileQuery['sort']): T & InOrder {
  return { ...at, order: sort === 'path' ? walkOrder(String(at.key) as ByteString) : at.key };
}

const UPWARDS = { first: -1, last: Number.MAX_SAFE_INTEGER };
const DOWNWARDS = { first: Number.MAX_SAFE_INTEGER, last: -1 };

/** The ties before and after all entries with the same key. */
export const TIES: Readonly<Record<FileQuery['sort'], typeof UPWARDS>> = {
  path: UPWARDS,
  name: UPWARDS,
  size: DOWNWARDS,
  modified: DOWNWARDS,
};
