/** Whose snapshots are meant where nobody says so: those of full keys, and never a mix with what a write-only key stored. */
import { RequestError } from '../../base/errors.ts';
import { groupForLatest, storeKey, storedByText, type StoredBy } from '../../base/stored-by.ts';

/** Keys that an error names. */
const NAMED = 5;

/**
 * Those that full keys stored, where there are any; else those of the one write-only key.
 * @param ones of all who are meant
 * @throws {RequestError} SNAPSHOT_NOT_FOUND where several write-only keys stored some, and full ones none
 */
export function meantGroup<T>(ones: readonly T[], byOf: (one: T) => StoredBy): readonly T[] {
  const choice = groupForLatest(ones, byOf);
  if (choice !== undefined) return choice.group;
  const firsts = [...new Map(ones.map((one) => [storeKey(byOf(one)), byOf(one)])).values()];
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
