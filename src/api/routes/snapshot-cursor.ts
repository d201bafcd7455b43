/**
 * Cursors for lists that have one entry per snapshot. They contain the sort key and not only an id, so that a program
 * can delete the snapshots that it has listed and go on.
 */
import type { SnapshotPosition } from '../../jobs/agent.ts';
import { ApiError } from '../wire/api-error.ts';
import type { Cursors, Filters } from '../wire/cursor.ts';

export function sealPosition(
  cursors: Cursors,
  list: string,
  filters: Filters,
  { created_at: createdAt, id }: SnapshotPosition,
): string {
  return cursors.seal(list, filters, `${createdAt} ${id}`);
}

/** Undefined without a cursor. @throws {ApiError} INVALID_CURSOR */
export function openPosition(
  cursors: Cursors,
  list: string,
  filters: Filters,
  cursor: string | undefined,
): SnapshotPosition | undefined {
  const text = cursors.open(list, filters, cursor);
  if (text === undefined) return undefined;
  const [, createdAt, id] = /^(-?\d{1,16}) ([\x21-\x7e]+)$/.exec(text) ?? [];
  if (createdAt !== undefined && id !== undefined) return { created_at: Number(createdAt), id };
  throw new ApiError('INVALID_CURSOR', 'The cursor was made by an earlier version of this program', {
    hint: 'Begin again without a cursor.',
  });
}
