import { errnoOf } from '../../base/errors.ts';
import type { FileEntry, Xattr } from '../../format/tree.ts';
import type { EntryStat } from '../../system/entry-stat.ts';
import { listXattrs, readXattrs, type XattrTarget } from '../../system/xattr.ts';
import {
  isPrivileged,
  isRemovable,
  ownerHere,
  modeHere,
  type Facts,
  type MetadataPolicy,
} from './metadata.ts';
import { isSameTime, type Standing } from '../request/standing.ts';
import type { TargetDirectory } from '../target/target-directory.ts';

const PERMISSIONS = 0o7777;

/** Whether an existing file has the time, the mode and, when owners are restored, the owner that it would get. */
export function hasMetadata(policy: MetadataPolicy, wanted: Facts, found: EntryStat): boolean {
  if (!isSameTime(found.mtimeNs, wanted.mtimeNs)) return false;
  if ((found.mode & PERMISSIONS) !== (modeHere(policy, wanted.mode) & PERMISSIONS)) return false;
  if (!policy.privileged) return true;
  const { uid, gid } = ownerHere(policy, wanted);
  return found.uid === uid && found.gid === gid;
}

/** Whether an entry has these attributes, and none that would be removed. */
export function hasXattrs(policy: MetadataPolicy, wanted: readonly Xattr[], target: XattrTarget): boolean {
  const expected = new Map(
    wanted
      .filter(({ name }) => policy.privileged || !isPrivileged(name))
      .map(({ name, value }) => [name, value]),
  );
  try {
    if (listXattrs(target).some((name) => isRemovable(name) && !expected.has(name))) return false;
    if (expected.size === 0) return true;
    const found = new Map(readXattrs(target, () => {}).map(({ name, value }) => [name, value]));
    return [...expected].every(([name, value]) => found.get(name)?.equals(value) === true);
  } catch (error) {
    // setting them will report what is wrong
    if (errnoOf(error) === undefined) throw error;
    return false;
  }
}

/**
 * Decides what to do about a file whose content is taken to be right. If the snapshot's version has no attributes, the
 * file is not checked for attributes of its own: that would cost a call per file.
 */
export function standingOfMetadata(
  policy: MetadataPolicy,
  entry: FileEntry,
  found: EntryStat,
  directory: TargetDirectory,
): Standing {
  const { name, xattrs } = entry;
  const isRight =
    hasMetadata(policy, entry, found) &&
    (xattrs === undefined || hasXattrs(policy, xattrs, directory.xattrsOf(name)));
  if (isRight) return 'leave';
  // the file may have another name outside the restore, which would get this metadata too
  return found.nlink === 1 ? 'touch-up' : 'replace';
}
