/**
 * Claims on names at servers that cannot create an object atomically. A claim is a folder or file that only one of
 * several writers can make. That writer holds it while it gives an object its name.
 *
 * The answer that says who made a claim may be lost, and then nobody knows whose it is. So a writer puts its temporary
 * file into the same folder before it makes a claim, and keeps it there until the claim is removed or the object has
 * its name. A claim is abandoned when neither such a file of another writer nor the object itself is there.
 */
import { isTemporaryName } from './new-file.ts';

/**
 * A claim lives for a few requests, and so does a temporary file once it is completely sent: older ones are left from a
 * crash.
 */
const EXPIRY_MS = 10 * 60 * 1000;

/** With the pauses below, six seconds in all: about a dozen requests to a far server. */
export const CLAIM_TRIES = 15;

export function claimPauseMs(tries: number): number {
  return 50 * (tries + 1);
}

/**
 * Another writer usually needs only a moment, so the folder is listed only when it takes longer, and not on every try.
 */
export function isTimeToList(tries: number): boolean {
  return tries % 4 === 2;
}

export interface FileBeside {
  readonly name: string;
  /** The server's clock. */
  readonly modifiedMs?: number | undefined;
}

/**
 * By how many milliseconds, by the server's clock, a claim must be older than the caller's temporary file to be
 * abandoned.
 *
 * @param files names in the folder of the claim, from a list made while the claim was there. The caller must look for
 *   the object and the claim only after that list: a writer that has finished in the meantime then has its object
 *   there, or its claim is gone.
 * @param own name of the caller's temporary file; a list without it is not complete
 */
export function leastAgeMs(
  files: readonly FileBeside[],
  { own, claim }: { readonly own: string; readonly claim: string },
): number {
  const ownMs = files.find(({ name }) => name === own)?.modifiedMs;
  if (ownMs === undefined) return EXPIRY_MS;
  const isAnothers = ({ name, modifiedMs = ownMs }: FileBeside): boolean =>
    isTemporaryName(name) && name !== own && name !== claim && ownMs - modifiedMs <= EXPIRY_MS;
  // A claim older than the caller's own file is the one that was seen, and not a newer one that has replaced it.
  return files.some(isAnothers) ? Number.POSITIVE_INFINITY : 1;
}
