import type { ByteString } from '../base/byte-path.ts';
import { EntryFailure } from './entry-failure.ts';
import { reasonToStay } from './extra-entries.ts';
import { removeTree } from './remove-tree.ts';
import type { RestoreRequest } from './request.ts';
import { isDirectory, type Standing } from './standing.ts';
import type { TargetDirectory } from './target-directory.ts';
import { pathInVisit, type Visit } from './visit.ts';

export interface ClearingParts {
  readonly request: RestoreRequest;
  readonly keep: (path: ByteString) => string | undefined;
}

/**
 * Finds out whether a directory goes out of the way of something else: when it is empty, or extra entries are to be
 * deleted. An empty one goes at once, any other when what takes its place is complete: it must not be lost for something
 * that cannot be had.
 * @returns how the entry stands then: `clear`, as long as the directory is there
 * @throws {EntryFailure} IN_THE_WAY
 */
export function clearDirectory(
  { request, keep }: ClearingParts,
  directory: TargetDirectory,
  visit: Visit,
  name: ByteString,
): Standing {
  if (request.deleteExtra) {
    const path = pathInVisit(visit, name);
    const why = visit.extra?.stay ?? keep(path) ?? reasonToStay(directory, name, visit.selection);
    if (why === undefined) return 'clear';
    throw new EntryFailure('IN_THE_WAY', `a directory has its name and stays, because ${why}`);
  }
  const inTheWay = directory.openDirectory(name);
  const isEmpty = inTheWay.names().length === 0;
  inTheWay.close();
  if (!isEmpty) throw new EntryFailure('IN_THE_WAY', 'a directory that is not empty has its name');
  if (!request.dryRun) directory.removeDirectory(name);
  return 'create';
}

/**
 * Gives what is complete under another name its own, which a directory has that may go.
 * @returns false when there was no directory any more
 * @throws a system error; something of the directory may be gone then
 */
export function takePlaceOfDirectory(
  directory: TargetDirectory,
  complete: ByteString,
  name: ByteString,
): boolean {
  const found = directory.find(name);
  const isInTheWay = found !== undefined && isDirectory(found);
  if (isInTheWay) removeTree(directory, name);
  directory.rename(complete, name);
  return isInTheWay;
}
