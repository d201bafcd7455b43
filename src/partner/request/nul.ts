/** PostgreSQL takes a NUL in no text: what has one is refused before it gets there, and by SQLite too, for both are one API. */
import { ApiError } from '../../api/wire/api-error.ts';

const NUL = '\u0000';

/** Looks through what JSON or a query can hold, names included. @throws {ApiError} INVALID_REQUEST */
export function refuseNul(value: unknown): void {
  if (typeof value === 'string') {
    if (value.includes(NUL)) {
      throw new ApiError('INVALID_REQUEST', 'A text has the character U+0000 in it', {
        hint: 'Leave it out.',
      });
    }
  } else if (Array.isArray(value)) value.forEach(refuseNul);
  else if (typeof value === 'object' && value !== null) Object.entries(value).forEach(refuseNul);
}
