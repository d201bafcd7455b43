/** Cursors of lists. They are opaque, and valid only for the list and the filters they were issued for. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { ApiError } from './api-error.ts';

/** The filters of a list request; values are compared as JSON. */
export type Filters = Readonly<Record<string, string | number | boolean | null | undefined>>;

export interface Cursors {
  /** A cursor that continues `list` with `filters` after `position`. */
  seal(list: string, filters: Filters, position: string): string;
  /**
   * The position of a cursor; undefined without a cursor.
   * @throws {ApiError} INVALID_CURSOR
   */
  open(list: string, filters: Filters, cursor: string | undefined): string | undefined;
}

const MARK_BYTES = 16;

/** @param key the same across restarts, so that cursors stay valid */
export function createCursors(key: Uint8Array): Cursors {
  function mark(list: string, filters: Filters, position: string): Buffer {
    const sorted = Object.entries(filters)
      .filter(([, value]) => value !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1));
    return createHmac('sha256', key)
      .update(JSON.stringify([list, sorted, position]))
      .digest()
      .subarray(0, MARK_BYTES);
  }

  return {
    seal: (list, filters, position) =>
      Buffer.concat([mark(list, filters, position), Buffer.from(position, 'utf8')]).toString('base64url'),

    open: (list, filters, cursor) => {
      if (cursor === undefined) return undefined;
      const bytes = Buffer.from(cursor, 'base64url');
      const position = bytes.subarray(MARK_BYTES).toString('utf8');
      const valid =
        bytes.length >= MARK_BYTES &&
        // Decoding is lenient: only the exact spelling that was issued is valid.
        bytes.toString('base64url') === cursor &&
        timingSafeEqual(bytes.subarray(0, MARK_BYTES), mark(list, filters, position));
      if (!valid) {
        throw new ApiError('INVALID_CURSOR', 'The cursor does not belong to this list with these filters', {
          hint: 'Start again without a cursor, and use the same filters for every page.',
        });
      }
      return position;
    },
  };
}
