import { textOfBytes } from '../../base/byte-path.ts';
import { RepositoryError } from '../../base/errors.ts';
import { DirectoryCursor, type UnreadPart } from '../../browse/directory-cursor.ts';
import { isLostObject } from '../../repository/objects/lost-object.ts';
import type { TreeReader } from '../../repository/contents/tree-reader.ts';
import { entryFailure } from '../target/entry-failure.ts';
import type { RestoreTally } from '../request/tally.ts';
import { pathOfVisit, type Visit } from './visit.ts';

/**
 * Whether the error means that part of a directory is lost, as opposed to an unreachable destination or a snapshot made
 * to exhaust the reader.
 */
export function isLostPart(error: unknown): boolean {
  if (error instanceof RepositoryError) return error.code !== 'LIMIT_EXCEEDED';
  return isLostObject(error);
}

/**
 * Reads the next part of a directory. A part that cannot be read is reported, and the walk goes on with the others.
 * @returns false when it could not be read
 * @throws what ends the whole restore, including when the root directory cannot be read at all
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

/**
 * Whether not even the first part of a directory can be read, so that no file should be removed for it. If so it is reported.
 */
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
    tally.problem(pathOfVisit(visit), code, `what is in its place was not changed: ${message}`);
    tally.directoriesUnread += 1;
    return true;
  }
}

/** Describes the unknown names of an unread part, by the first of them and the first after them. */
function namesOf(part: UnreadPart, next: UnreadPart | undefined): string {
  const before = next === undefined ? '' : `, before '${textOfBytes(next.firstName)}',`;
  return `names at '${textOfBytes(part.firstName)}' and after it${before} are unknown`;
}
