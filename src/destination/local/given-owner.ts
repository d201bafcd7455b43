/**
 * What root stores in the repository of somebody else is given to the owner of its directory, who could not read it
 * otherwise.
 *
 * The owner may change the directory meanwhile, so that nothing is done by name: only files that this process has just
 * made itself and new empty directories, both opened, and only while they lie in the repository.
 */
import { constants } from 'node:fs';
import { open, readdir, readlink, type FileHandle } from 'node:fs/promises';
import { sep } from 'node:path';
import { errnoText } from '../../base/errno-words.ts';
import { errnoOf } from '../../base/errors.ts';

export interface GivenOwner {
  /** For a file that was just created with O_EXCL. */
  readonly giveFile: (file: FileHandle) => Promise<void>;
  /** For a directory that was just made. A link or another directory in its place is left alone. */
  readonly giveDirectory: (path: string) => Promise<void>;
}

/** @param root the open directory of the repository. Undefined where everything belongs to the right user as it is. */
export async function givenOwner(root: FileHandle, warn = warnOnce): Promise<GivenOwner | undefined> {
  if (process.geteuid?.() !== 0) return undefined;
  const { uid, gid } = await root.stat();
  if (uid === 0) return undefined;
  let hasWarned = false;

  async function give(handle: FileHandle): Promise<void> {
    try {
      if (await liesIn(root, handle)) await handle.chown(uid, gid);
    } catch (error) {
      const errno = errnoOf(error);
      if (errno === undefined) throw error;
      if (!hasWarned) warn(ownerStays(uid, errnoText(errno)));
      hasWarned = true;
    }
  }

  return {
    giveFile: give,
    async giveDirectory(path) {
      let handle: FileHandle;
      try {
        handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
      } catch (error) {
        if (errnoOf(error) === undefined) throw error;
        return;
      }
      try {
        // The owner may have put another directory of root in its place, which is not to be given away.
        const isNew = (await handle.stat()).uid === 0 && (await isEmpty(handle));
        if (isNew) await give(handle);
      } finally {
        await handle.close();
      }
    },
  };
}

/** Where the system does not tell, nothing is given away. @throws the file system's error */
async function liesIn(root: FileHandle, handle: FileHandle): Promise<boolean> {
  const [outer, inner] = await Promise.all([root, handle].map(async (one) => await readlink(linkOf(one))));
  return outer !== undefined && inner?.startsWith(outer.endsWith(sep) ? outer : outer + sep) === true;
}

async function isEmpty(directory: FileHandle): Promise<boolean> {
  try {
    return (await readdir(linkOf(directory))).length === 0;
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return false;
  }
}

/** Leads to what is open, whatever has its name by now (Linux). */
function linkOf({ fd }: FileHandle): string {
  return `/proc/self/fd/${fd}`;
}

function ownerStays(uid: number, why: string): string {
  return `New files in the repository belong to root and not to the owner of its directory (uid ${uid}), who cannot read them: ${why}`;
}

/** By the way of Node.js for warnings: a destination does not know what its program shows, and where. */
function warnOnce(text: string): void {
  process.emitWarning(text, { type: 'Warning', code: 'HOLDFAST_OWNER' });
}
