/**
 * Chooses the key whose snapshots are meant when the request does not say: full keys first, and never a mix with those
 * of a write-only key.
 */
import { RequestError } from '../../base/errors.ts';
import { groupForLatest, storeKey, storedByText, type StoredBy } from '../../base/stored-by.ts';

/** The most keys that an error names. */
const NAMED = 5;

/**
 * Returns those that full keys stored, if there are any; otherwise those of the only write-only key.
 * @param ones all candidates
 * @throws {RequestError} SNAPSHOT_NOT_FOUND when several write-only keys stored some, and full keys none
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
