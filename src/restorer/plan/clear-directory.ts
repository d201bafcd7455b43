import type { ByteString } from '../../base/byte-path.ts';
import { EntryFailure } from '../target/entry-failure.ts';
import { reasonToStay } from './extra-entries.ts';
import type { RestoreRequest } from '../request/request.ts';
import type { Standing } from '../request/standing.ts';
import type { TargetDirectory } from '../target/target-directory.ts';
import { stayText, type StayReason } from './stay-reason.ts';
import { pathInVisit, type Visit } from './visit.ts';

export interface ClearingParts {
  readonly request: RestoreRequest;
  readonly keep: (path: ByteString) => StayReason | undefined;
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
    throw new EntryFailure('IN_THE_WAY', `a directory has its name and stays, because ${stayText(why)}`);
  }
  const inTheWay = directory.openDirectory(name);
  const isEmpty = inTheWay.names().length === 0;
  inTheWay.close();
  if (!isEmpty) throw new EntryFailure('IN_THE_WAY', 'a directory that is not empty has its name');
  if (!request.dryRun) directory.removeDirectory(name);
  return 'create';
}
