/** Finds and removes what killed restores have left: their temporary files, and the marks of what they had not finished. */
import { setTimeout as delay } from 'node:timers/promises';
import type { ByteString } from '../../base/byte-path.ts';
import { errnoOf } from '../../base/errors.ts';
import type { RecordHandle } from './entry-records.ts';
import type { OpenDirectories } from './open-directories.ts';
import { isDirectory } from '../request/standing.ts';
import { looksUnfinished, type TargetDirectory } from './target-directory.ts';
import { digestOf, isAbandoned, isHold, isTemporary, markOf } from './temporary-names.ts';

/** Milliseconds that a finished restore waits for another one that is being killed, and between two checks. */
const DYING_MS = 5_000;
const LOOK_MS = 50;
const PERMISSIONS = 0o7777;
const OWNERS_RIGHTS = 0o700;

/** Temporary files whose processes were alive when the directory was first looked at. */
export interface SharedDirectory {
  readonly handle: RecordHandle;
  readonly names: readonly ByteString[];
}

/** What earlier restores have left in a directory. */
export interface Remains {
  /** Names that were removed, or would be in a dry run. */
  readonly gone: ReadonlySet<ByteString>;
  /** Names of temporary files of live restores. */
  readonly others: readonly ByteString[];
  /** Unfinished entries, with the marks that say so. */
  readonly unfinished: ReadonlyMap<ByteString, ByteString>;
  /** The permissions that the directory had before it was made writable, with the mark that says so. */
  readonly lifted: { readonly mark: ByteString; readonly mode: number } | undefined;
}

const NO_REMAINS: Remains = {
  gone: new Set(),
  others: [],
  unfinished: new Map(),
  lifted: undefined,
};

/**
 * Looks at what earlier restores have left, and removes what will not be completed any more, leaving the directory's
 * time as it was. This includes files with their final permissions, links and devices that were to be renamed to their
 * own names next. A mark stays as long as it applies.
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
    if (!isOver && !isHold(name)) others.push(name);
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

/** False if the directory has been given other permissions since. */
function isLiftedFrom(directory: TargetDirectory, mode: number): boolean {
  return (directory.stat().mode & PERMISSIONS) === (mode | OWNERS_RIGHTS);
}

/** @returns the names that were removed; those that may not be removed stay, and do no harm */
function removeKeepingTime(directory: TargetDirectory, names: readonly ByteString[]): readonly ByteString[] {
  if (names.length === 0) return names;
  const { mtimeNs } = directory.stat();
  const gone = names.filter((name) => triedTo(() => directory.removeFile(name)));
  // setting the times may fail, since others than the owner may write to the directory
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
 * Looks again at directories with temporary files of live processes. A killed process exists until the disk has
 * answered its last call, and the restore that replaces it may have begun before that.
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

/**
 * Whether a new temporary file is an unfinished one: the last call of a dying process can create a file. Anything else
 * may belong to the snapshot.
 */
function isBegun(directory: TargetDirectory, name: ByteString): boolean {
  const found = directory.find(name);
  return found !== undefined && looksUnfinished(found) && !isHold(name);
}

/**
 * Removes what has been abandoned since, and tells whether there are still files of live processes. A directory that
 * cannot be looked at again is skipped, since none of these files was restored.
 */
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
