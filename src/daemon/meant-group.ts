/** Whose snapshots are meant where nobody says so: those of full keys, and never a mix with what a write-only key stored. */
import { RequestError } from '../base/errors.ts';
import { FULL_KEYS, storeKey, storedByText, type StoredBy } from '../base/stored-by.ts';

/** Keys that an error names. */
const NAMED = 5;

/**
 * Those that full keys stored, where there are any; else those of the one write-only key.
 * @param ones of all who are meant
 * @throws {RequestError} SNAPSHOT_NOT_FOUND where several write-only keys stored some, and full ones none
 */
export function meantGroup<T>(ones: readonly T[], byOf: (one: T) => StoredBy): readonly T[] {
  const groups = Map.groupBy(ones, (one) => storeKey(byOf(one)));
  const full = groups.get(storeKey(FULL_KEYS));
  if (full !== undefined) return full;
  const [only = [], ...others] = groups.values();
  if (others.length === 0) return only;
  const firsts = [only, ...others].flatMap(([first]) => (first === undefined ? [] : [byOf(first)]));
  const named = firsts.slice(0, NAMED).map(storedByText).join(', ');
  const keys = firsts.slice(0, NAMED).map(storeKey);
  throw new RequestError(
    'SNAPSHOT_NOT_FOUND',
    `Several write-only keys stored what could be meant, and full keys nothing: ${named}`,
    {
      hint: `Say whose is meant with stored_by: ${keys.join(' or ')}.`,
      details: { stored_by: keys.join(' ') },
    },
  );
}
