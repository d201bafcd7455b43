import type { ByteString } from '../base/byte-path.ts';
import { EntryFailure } from './entry-failure.ts';
import { reasonToStay } from './extra-entries.ts';
import { removeTree } from './remove-tree.ts';
import type { RestoreRequest } from './request.ts';
import type { RestoreTally } from './tally.ts';
import type { TargetDirectory } from './target-directory.ts';
import { pathInVisit, type Visit } from './visit.ts';

export interface ClearingParts {
  readonly request: RestoreRequest;
  readonly tally: RestoreTally;
  readonly keep: (path: ByteString) => string | undefined;
}

/**
 * Takes a directory out of the way of something else, when it is empty or extra entries are to be deleted; a dry run
 * finds out whether it would.
 * @throws {EntryFailure} IN_THE_WAY
 */
export function clearDirectory(
  { request, tally, keep }: ClearingParts,
  directory: TargetDirectory,
  visit: Visit,
  name: ByteString,
): void {
  if (request.deleteExtra) {
    const path = pathInVisit(visit, name);
    const why = visit.extra?.stay ?? keep(path) ?? reasonToStay(directory, name, visit.selection);
    if (why !== undefined)
      throw new EntryFailure('IN_THE_WAY', `a directory has its name and stays, because ${why}`);
    if (!request.dryRun) removeTree(directory, name);
    tally.deleted(path);
    return;
  }
  const inTheWay = directory.openDirectory(name);
  const isEmpty = inTheWay.names().length === 0;
  inTheWay.close();
  if (!isEmpty) throw new EntryFailure('IN_THE_WAY', 'a directory that is not empty has its name');
  if (!request.dryRun) directory.removeDirectory(name);
}
