/** Who must change what, where a directory of one's own has entries of somebody else in it. */
import { lstatSync, type Stats } from 'node:fs';
import { dirname, relative } from 'node:path';
import { errnoOf } from '../../base/errors.ts';
import { quoted } from '../../base/shell-words.ts';
import { userName } from '../../base/user-name.ts';
import { ownerNames } from '../../system/owner-names.ts';

/**
 * The hint for an entry that may not be used because somebody else owns it or a directory on the way to it; undefined
 * where that is not the reason.
 * @param denied the path that the system named, else the object's
 */
export function otherOwnerHint(directory: string, denied: string | undefined): string | undefined {
  const own = process.geteuid?.();
  if (own === undefined || own === 0 || denied === undefined || isOutside(directory, denied))
    return undefined;
  for (let at = denied; ; at = dirname(at)) {
    const uid = statIfAllowed(at)?.uid;
    if (uid !== undefined && uid !== own) return hintFor(at, uid, directory, own);
    if (at === directory || dirname(at) === at) return undefined;
  }
}

function hintFor(path: string, uid: number, directory: string, own: number): string {
  const owner = ownerNames().userName(uid) ?? `the user ${uid}`;
  if (statIfAllowed(directory)?.uid !== own)
    return `${path} belongs to ${owner}. Check who owns the directory, its permissions, and who runs the backup.`;
  const command = `sudo chown -R ${quoted(userName())} ${quoted(directory)}`;
  return `${path} belongs to ${owner}, although the directory is yours. To have it back: ${command}`;
}

function isOutside(directory: string, path: string): boolean {
  const way = relative(directory, path);
  return way === '..' || way.startsWith('../');
}

function statIfAllowed(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}
