/** Temporary files of restores that were killed. */
import { setTimeout as delay } from 'node:timers/promises';
import type { ByteString } from '../base/byte-path.ts';
import { errnoOf } from '../base/errors.ts';
import type { RecordHandle } from './entry-records.ts';
import type { OpenDirectories } from './open-directories.ts';
import { isDirectory } from './standing.ts';
import { isUnfinished, type TargetDirectory } from './target-directory.ts';
import { isAbandoned, isTemporary } from './temporary-names.ts';

/** Milliseconds for which a restore that has done everything waits for one that is being killed, and between two looks. */
const DYING_MS = 5_000;
const LOOK_MS = 50;

/** Temporary files of processes that were alive when the directory was looked at first. */
export interface SharedDirectory {
  readonly handle: RecordHandle;
  readonly names: readonly ByteString[];
}

/**
 * Removes what nobody will complete any more; the directory looks as if it had never been there. A file that has its
 * permissions already, a link and a device are left by whoever was killed before they got their own names.
 * @returns names that were removed, or would be where `dryRun`
 */
export function removeAbandoned(
  directory: TargetDirectory,
  names: readonly ByteString[],
  dryRun: boolean,
): readonly ByteString[] {
  const abandoned = names.filter(isAbandoned).filter((name) => {
    const found = directory.find(name);
    return found !== undefined && !isDirectory(found);
  });
  if (abandoned.length === 0 || dryRun) return abandoned;
  const { mtimeNs } = directory.stat();
  for (const name of abandoned) directory.removeFile(name);
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
  shared: readonly SharedDirectory[],
  directories: OpenDirectories,
  signal: AbortSignal,
): Promise<void> {
  let left = shared;
  for (let waitedMs = 0; ; waitedMs += LOOK_MS) {
    left = left.filter((one) => hasOthers(one, directories));
    if (left.length === 0 || waitedMs >= DYING_MS) return;
    await delay(LOOK_MS, undefined, { signal });
  }
}

/** What came since may be of the snapshot, unless it says that it is unfinished: the last call of a process can make a file. */
function isBegun(directory: TargetDirectory, name: ByteString): boolean {
  const found = directory.find(name);
  return found !== undefined && isUnfinished(found);
}

/** What stays in a directory that cannot be looked at again is nothing of what was restored. */
function hasOthers({ handle, names }: SharedDirectory, directories: OpenDirectories): boolean {
  try {
    const directory = directories.at(handle);
    const left = directory
      .names()
      .filter((name) => isTemporary(name) && (names.includes(name) || isBegun(directory, name)));
    return removeAbandoned(directory, left, false).length < left.length;
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return false;
  }
}
