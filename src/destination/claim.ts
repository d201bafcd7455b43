/**
 * Claims on names, at servers: what only one of several writers can make, for as long as it gives an object its name. The
 * answer that says who has made one may be lost, and then nobody knows whose it is. So whoever makes a claim has its
 * temporary file in the same folder before, and keeps it there until the claim is gone again or the object has its name. A
 * claim beside which nobody has such a file, nor the object is there, is nobody's.
 */
import { isTemporaryName } from './new-file.ts';

/** A claim lives for a few requests, and so does a temporary file once all of it is sent: older ones are of a crash. */
const EXPIRY_MS = 10 * 60 * 1000;

/** Six seconds in all, which is a dozen requests to a far server. */
export const CLAIM_TRIES = 15;

export function claimPauseMs(tries: number): number {
  return 50 * (tries + 1);
}

/** Mostly another writer just needs a moment: the folder is listed when it takes longer, and not every time. */
export function isTimeToList(tries: number): boolean {
  return tries % 4 === 2;
}

export interface FileBeside {
  readonly name: string;
  /** The server's clock. */
  readonly modifiedMs?: number | undefined;
}

/**
 * By how much, by the server's clock, a claim must be older than the caller's temporary file to be nobody's.
 *
 * @param files beside the claim: of a list made while the claim was there. Whether the object and the claim are there is to
 *   be asked after it: then a writer who has come to its end meanwhile has its object there, or its claim is gone.
 * @param own name of the caller's temporary file; a list without it is not whole
 */
export function leastAgeMs(
  files: readonly FileBeside[],
  { own, claim }: { readonly own: string; readonly claim: string },
): number {
  const ownMs = files.find(({ name }) => name === own)?.modifiedMs;
  if (ownMs === undefined) return EXPIRY_MS;
  const isAnothers = ({ name, modifiedMs = ownMs }: FileBeside): boolean =>
    isTemporaryName(name) && name !== own && name !== claim && ownMs - modifiedMs <= EXPIRY_MS;
  // Made before that file was: it has not come in the place of another claim since.
  return files.some(isAnothers) ? Number.POSITIVE_INFINITY : 1;
}
