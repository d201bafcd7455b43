/** The orders that lists of files have, and the place in a list where the next page begins. That place names the catalog and the snapshots, so that all pages belong together. */
import type { ByteString } from '../../base/byte-path.ts';
import { RequestError } from '../../base/errors.ts';
import type { FileQuery } from '../../jobs/agent.ts';
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

export interface Cursor {
  /** The epoch of the catalog: a catalog that was built anew has other numbers. */
  readonly epoch: string;
  /** The kind of the list and its order. */
  readonly list: string;
  /** Ordinals of the snapshots listed. */
  readonly ordinals: readonly number[];
  /** The key of the last item: bytes of its path or name as Latin-1, or its size or time. */
  readonly key: string | number;
  /** The tie of the last item: its node, or which of the snapshots it belongs to. */
  readonly tie: number;
}

export function encodeCursor({
  epoch,
  list,
  ordinals,
  key,
  tie,
}: Readonly<Record<keyof Cursor, unknown>>): string {
  return Buffer.from(JSON.stringify([epoch, list, ordinals, key, tie])).toString('base64url');
}

/** @throws {RequestError} INVALID_CURSOR when it is not a cursor, or one of another list or another catalog */
export function decodeCursor(text: string, epoch: string, list: string): Cursor {
  const parts = parsed(Buffer.from(text, 'base64url').toString('utf8'));
  if (!Array.isArray(parts)) throw invalid('it is not from the end of a page');
  const [ofEpoch, ofList, ordinals, key, tie]: readonly unknown[] = parts;
  if (ofEpoch !== epoch) throw invalid('the catalog has been rebuilt since');
  if (ofList !== list) throw invalid('it belongs to another list');
  if (
    !isNumbers(ordinals) ||
    !(typeof key === 'string' || typeof key === 'number') ||
    !Number.isSafeInteger(tie)
  ) {
    throw invalid('it is not from the end of a page');
  }
  return { epoch, list, ordinals, key, tie: Number(tie) };
}

export function invalid(why: string, cause?: unknown): RequestError {
  return new RequestError('INVALID_CURSOR', `The list cannot be continued: ${why}`, {
    hint: 'Start again with the first page.',
    cause,
  });
}

/** @throws {RequestError} INVALID_CURSOR */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw invalid('it is not from the end of a page', cause);
  }
}

function isNumbers(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((one) => Number.isSafeInteger(one));
}
