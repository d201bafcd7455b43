/**
 * Refuses text with a NUL, which PostgreSQL cannot store. It is refused for SQLite as well, so that the API behaves the
 * same.
 */
import { ApiError } from '../../api/wire/api-error.ts';

const NUL = '\u0000';

/**
 * Checks everything that JSON or a query can contain, including names.
 * @throws {ApiError} INVALID_REQUEST
 */
export function refuseNul(value: unknown): void {
  if (typeof value === 'string') {
    if (value.includes(NUL)) {
      throw new ApiError('INVALID_REQUEST', 'A text contains the character U+0000', {
        hint: 'Leave it out.',
      });
    }
  } else if (Array.isArray(value)) value.forEach(refuseNul);
  else if (typeof value === 'object' && value !== null) Object.entries(value).forEach(refuseNul);
}
