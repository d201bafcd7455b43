/**
 * The place in a list where the next page begins. It names the catalog and the snapshots, so that all pages belong to
 * the same list.
 */
import { RequestError } from '../../base/errors.ts';

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
  if (!Array.isArray(parts)) throw invalid('it is not what a page ended with');
  const [ofEpoch, ofList, ordinals, key, tie]: readonly unknown[] = parts;
  if (ofEpoch !== epoch) throw invalid('the catalog has been built anew since');
  if (ofList !== list) throw invalid('it belongs to another list');
  if (
    !isNumbers(ordinals) ||
    !(typeof key === 'string' || typeof key === 'number') ||
    !Number.isSafeInteger(tie)
  ) {
    throw invalid('it is not what a page ended with');
  }
  return { epoch, list, ordinals, key, tie: Number(tie) };
}

export function invalid(why: string, cause?: unknown): RequestError {
  return new RequestError('INVALID_CURSOR', `The list cannot be continued: ${why}`, {
    hint: 'Begin with the first page again.',
    cause,
  });
}

/** @throws {RequestError} INVALID_CURSOR */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw invalid('it is not what a page ended with', cause);
  }
}

function isNumbers(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((one) => Number.isSafeInteger(one));
}
