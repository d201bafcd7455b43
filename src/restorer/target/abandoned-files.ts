/** What restores that were killed have left: their temporary files, and the marks of what they had not finished. */
import { setTimeout as delay } from 'node:timers/promises';
import type { ByteString } from '../../base/byte-path.ts';
import { errnoOf } from '../../base/errors.ts';
import type { RecordHandle } from './entry-records.ts';
import type { OpenDirectories } from './open-directories.ts';
import { isDirectory } from '../request/standing.ts';
import { looksUnfinished, type TargetDirectory } from './target-directory.ts';
import { digestOf, isAbandoned, isTemporary, markOf } from './temporary-names.ts';

/** Milliseconds for which a restore that has done everything waits for one that is being killed, and between two looks. */
const DYING_MS = 5_000;
const LOOK_MS = 50;
const PERMISSIONS = 0o7777;
const OWNERS_RIGHTS = 0o700;

/** Temporary files of processes that were alive when the directory was looked at first. */
export interface SharedDirectory {
  readonly handle: RecordHandle;
  readonly names: readonly ByteString[];
}

/** What restores before this one have left in a directory. */
export interface Remains {
  /** Names that were removed, or would be in a dry run. */
  readonly gone: ReadonlySet<ByteString>;
  /** Names of restores that are alive. */
  readonly others: readonly ByteString[];
  /** Entries that are not finished, and the marks that say so. */
  readonly unfinished: ReadonlyMap<ByteString, ByteString>;
  /** The permissions that the directory had before it was made writable, and the mark that says so. */
  readonly lifted: { readonly mark: ByteString; readonly mode: number } | undefined;
}

export const NO_REMAINS: Remains = {
  gone: new Set(),
  others: [],
  unfinished: new Map(),
  lifted: undefined,
};

/**
 * Looks at what restores before have left, and removes what nobody will complete any more; the directory looks as if it
 * had never been there. A file that has its permissions already, a link and a device are left by whoever was killed before
 * they got their own names. A mark stays as long as what it says is so.
 */
export function lookAtRemains(
  directory: TargetDirectory,
  names: readonly ByteString[],
  dryRun: boolean,
): Remains {
  const temporary = names.filter(isTemporary);
  if (temporary.length === 0) return NO_REMAINS;
  const unfinished = new Map<ByteString, ByteString>();
  const abandoned: ByteString[] = [];
  const others: ByteString[] = [];
  let lifted: Remains['lifted'];
  let byDigest: ReadonlyMap<string, ByteString> | undefined;
  for (const name of temporary) {
    const found = directory.find(name);
    if (found === undefined || isDirectory(found)) continue;
    const isOver = isAbandoned(name);
    if (!isOver) others.push(name);
    const mark = markOf(name);
    if (mark !== undefined && 'unfinished' in mark) {
      byDigest ??= new Map(names.map((one) => [digestOf(one), one]));
      const entry = byDigest.get(mark.unfinished);
      if (entry !== undefined && isLeftSo(directory, entry)) {
        unfinished.set(entry, name);
        continue;
      }
    } else if (mark !== undefined && isOver && isLiftedFrom(directory, mark.mode)) {
      lifted = { mark: name, mode: mark.mode };
      continue;
    }
    if (isOver) abandoned.push(name);
  }
  const gone = new Set(dryRun ? abandoned : removeKeepingTime(directory, abandoned));
  return { gone, others, unfinished, lifted };
}

function isLeftSo(directory: TargetDirectory, name: ByteString): boolean {
  const found = directory.find(name);
  return found !== undefined && looksUnfinished(found);
}

/** Somebody may have given it other permissions since. */
function isLiftedFrom(directory: TargetDirectory, mode: number): boolean {
  return (directory.stat().mode & PERMISSIONS) === (mode | OWNERS_RIGHTS);
}

/** @returns what is gone: what may not be removed stays, and is nobody's loss */
function removeKeepingTime(directory: TargetDirectory, names: readonly ByteString[]): readonly ByteString[] {
  if (names.length === 0) return names;
  const { mtimeNs } = directory.stat();
  const gone = names.filter((name) => triedTo(() => directory.removeFile(name)));
  // it may be written to by others than its owner
  if (gone.length > 0) triedTo(() => directory.setOwnTimes(mtimeNs));
  return gone;
}

function triedTo(act: () => void): boolean {
  try {
    act();
    return true;
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return false;
  }
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
  return found !== undefined && looksUnfinished(found);
}

/** What stays in a directory that cannot be looked at again is nothing of what was restored. */
function hasOthers({ handle, names }: SharedDirectory, directories: OpenDirectories): boolean {
  try {
    const directory = directories.at(handle);
    const left = directory
      .names()
      .filter((name) => isTemporary(name) && (names.includes(name) || isBegun(directory, name)));
    lookAtRemains(directory, left, false);
    return left.some((name) => !isAbandoned(name));
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return false;
  }
}
