import { textOfBytes } from '../../base/byte-path.ts';
import { RepositoryError } from '../../base/errors.ts';
import { DirectoryCursor, type UnreadPart } from '../../browse/directory-cursor.ts';
import { isLostObject } from '../../repository/objects/lost-object.ts';
import type { TreeReader } from '../../repository/contents/tree-reader.ts';
import { entryFailure } from '../target/entry-failure.ts';
import type { RestoreTally } from '../request/tally.ts';
import { pathOfVisit, type Visit } from './visit.ts';

/** Whether something of a directory cannot be had, as opposed to a destination that is away or a snapshot that is a bomb. */
export function isLostPart(error: unknown): boolean {
  if (error instanceof RepositoryError) return error.code !== 'LIMIT_EXCEEDED';
  return isLostObject(error);
}

/**
 * Reads the part of a directory that comes next. One that cannot be read is listed, and the others can still be had.
 * @returns false when it could not be read
 * @throws what ends the whole restore: that of the root nothing can be read, too
 */
export async function readPart(
  cursor: DirectoryCursor,
  visit: Visit,
  tally: RestoreTally,
  signal: AbortSignal,
): Promise<boolean> {
  const { part } = cursor;
  try {
    await cursor.read(signal);
    return true;
  } catch (error) {
    const isWhole = part === undefined || part.firstName === '';
    if (!isLostPart(error) || (isWhole && visit.above === undefined)) throw error;
    const { code, message } = entryFailure(error);
    const what = isWhole ? 'what is in it is unknown' : namesOf(part, cursor.part);
    tally.problem(pathOfVisit(visit), code, `${what}: ${message}`);
    return false;
  }
}

/** Whether nothing of a directory can be had for which a file would have to go; it is listed then. */
export async function beginsUnread(
  reader: TreeReader,
  visit: Visit,
  tally: RestoreTally,
  signal: AbortSignal,
): Promise<boolean> {
  const cursor = new DirectoryCursor(reader, visit.id);
  try {
    while (cursor.part !== undefined) await cursor.read(signal);
    return false;
  } catch (error) {
    if (!isLostPart(error)) throw error;
    const { code, message } = entryFailure(error);
    tally.problem(pathOfVisit(visit), code, `what stands in its place is left alone: ${message}`);
    tally.directoriesUnread += 1;
    return true;
  }
}

/** Names that are unknown, by the first of them and the first that is not. */
function namesOf(part: UnreadPart, next: UnreadPart | undefined): string {
  const before = next === undefined ? '' : `, before '${textOfBytes(next.firstName)}',`;
  return `names at '${textOfBytes(part.firstName)}' and after it${before} are unknown`;
}
