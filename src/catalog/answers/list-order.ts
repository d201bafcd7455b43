/** The orders that lists of files have, and the place of an entry in them. */
import type { ByteString } from '../../base/byte-path.ts';
import type { FileQuery } from '../../jobs/agent.ts';
import type { Cursor } from './cursor.ts';
import { walkOrder } from './tree-walk.ts';

/** Where an item stands: `order` decides, then `tie`. The cursor keeps `key`, from which `order` follows. */
export interface InOrder {
  readonly key: string | number;
  readonly tie: number;
  readonly order: string | number;
}

/**
 * Sizes and times come down from the largest and newest; paths and names go up in the order of their bytes. By size only
 * files count: the size that is shown of a directory is that of what lies below it, so it comes last.
 */
export function compare(a: InOrder, b: InOrder, sort: FileQuery['sort']): number {
  const [first, second] = sort === 'size' || sort === 'modified' ? [b, a] : [a, b];
  return first.order < second.order ? -1 : first.order > second.order ? 1 : first.tie - second.tie;
}

/** What stands at a key, and of a cursor all that it says beside. */
export function placeOf<T extends Pick<Cursor, 'key' | 'tie'>>(at: T, sort: FileQuery['sort']): T & InOrder {
  return { ...at, order: sort === 'path' ? walkOrder(String(at.key) as ByteString) : at.key };
}

const UPWARDS = { first: -1, last: Number.MAX_SAFE_INTEGER };
const DOWNWARDS = { first: Number.MAX_SAFE_INTEGER, last: -1 };

/** Ties that stand before, and behind, all that has the same key. */
export const TIES: Readonly<Record<FileQuery['sort'], typeof UPWARDS>> = {
  path: UPWARDS,
  name: UPWARDS,
  size: DOWNWARDS,
  modified: DOWNWARDS,
};
