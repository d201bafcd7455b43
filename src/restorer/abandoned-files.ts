/** Temporary files of restores that were killed. */
import { setTimeout as delay } from 'node:timers/promises';
import type { ByteString } from '../base/byte-path.ts';
import { errnoOf } from '../base/errors.ts';
import type { RecordHandle } from './entry-records.ts';
import type { OpenDirectories } from './open-directories.ts';
import { isUnfinished, type TargetDirectory } from './target-directory.ts';
import { isAbandoned, isTemporary } from './temporary-names.ts';

/** Milliseconds for which a restore that has done everything waits for one that is being killed, and between two looks. */
const DYING_MS = 5_000;
const LOOK_MS = 50;

/**
 * Removes what nobody will complete any more; the directory looks as if it had never been there.
 * @returns names that were removed, or would be where `dryRun`
 */
export function removeAbandoned(
  directory: TargetDirectory,
  names: readonly ByteString[],
  dryRun: boolean,
): readonly ByteString[] {
  const abandoned = names.filter(isAbandoned);
  if (abandoned.length === 0 || dryRun) return abandoned;
  const { mtimeNs } = directory.stat();
  for (const name of abandoned) {
    const found = directory.find(name);
    if (found !== undefined && isUnfinished(found)) directory.removeFile(name);
  }
  try {
    directory.setOwnTimes(mtimeNs);
  } catch (error) {
    // it may be written to by others than its owner
    if (errnoOf(error) !== 'EPERM') throw error;
  }
  return abandoned;
}

/**
 * Looks again where the temporary files of a process lay that was alive. After a kill a process is there until the disk
 * has answered its last call, and the restore that goes on in its place begins meanwhile.
 */
export async function removeAbandonedSince(
  shared: readonly RecordHandle[],
  directories: OpenDirectories,
  signal: AbortSignal,
): Promise<void> {
  let left = shared;
  for (let waitedMs = 0; ; waitedMs += LOOK_MS) {
    left = left.filter((handle) => hasOthers(handle, directories));
    if (left.length === 0 || waitedMs >= DYING_MS) return;
    await delay(LOOK_MS, undefined, { signal });
  }
}

/** What stays in a directory that cannot be looked at again is nothing of what was restored. */
function hasOthers(handle: RecordHandle, directories: OpenDirectories): boolean {
  try {
    const directory = directories.at(handle);
    const names = directory.names().filter(isTemporary);
    return removeAbandoned(directory, names, false).length < names.length;
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return false;
  }
}
