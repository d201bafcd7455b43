import type { ByteString } from '../../base/byte-path.ts';
import { EntryFailure } from './entry-failure.ts';
import { isDirectory } from '../request/standing.ts';
import type { TargetDirectory } from './target-directory.ts';

/** The most levels of directories; each keeps one directory open. */
const MOST_LEVELS = 512;

/**
 * Removes an entry and everything below it. Links are not followed. Other file systems are not entered; `reasonToStay`
 * has looked for these before. Iterative, so that depth costs nothing but open directories.
 * @throws a system error for the first entry that cannot be removed
 */
export function removeTree(parent: TargetDirectory, name: ByteString): void {
  const found = parent.find(name);
  if (found === undefined) return;
  if (!isDirectory(found)) {
    parent.removeFile(name);
    return;
  }
  requireSameFileSystem(parent, name);
  const levels: Level[] = [{ parent, name, directory: parent.openDirectory(name), names: undefined }];
  try {
    for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
      level.names ??= level.directory.names();
      const next = level.names.pop();
      if (next === undefined) {
        level.directory.close();
        levels.pop();
        level.parent.removeDirectory(level.name);
        continue;
      }
      const below = level.directory.find(next);
      if (below === undefined) continue;
      if (!isDirectory(below)) {
        level.directory.removeFile(next);
        continue;
      }
      requireSameFileSystem(level.directory, next);
      if (levels.length >= MOST_LEVELS)
        throw new EntryFailure('TOO_DEEP', 'its directories are nested too deeply');
      levels.push({
        parent: level.directory,
        name: next,
        directory: level.directory.openDirectory(next),
        names: undefined,
      });
    }
  } finally {
    for (const { directory } of levels) directory.close();
  }
}

function requireSameFileSystem(parent: TargetDirectory, name: ByteString): void {
  if (parent.isMountPoint(name))
    throw new EntryFailure('OTHER_FILE_SYSTEM', 'another file system is mounted at or below it');
}

interface Level {
  readonly parent: TargetDirectory;
  readonly name: ByteString;
  readonly directory: TargetDirectory;
  names: ByteString[] | undefined;
}

/**
 * Renames a complete entry to its own name, first removing the directory that has the name.
 * @returns false when there was no directory any more
 * @throws a system error; part of the directory may have been removed by then
 */
export function takePlaceOfDirectory(
  directory: TargetDirectory,
  complete: ByteString,
  name: ByteString,
): boolean {
  const found = directory.find(name);
  const isInTheWay = found !== undefined && isDirectory(found);
  if (isInTheWay) removeTree(directory, name);
  directory.rename(complete, name);
  return isInTheWay;
}
