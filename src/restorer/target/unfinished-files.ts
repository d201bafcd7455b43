import type { ByteString } from '../../base/byte-path.ts';
import { errnoOf } from '../../base/errors.ts';
import { RECORD, type EntryRecord, type EntryRecords, type RecordHandle } from './entry-records.ts';
import type { OpenDirectories } from './open-directories.ts';
import { UNFINISHED_FILE, type TargetDirectory } from './target-directory.ts';
import { temporaryName, unfinishedMark } from './temporary-names.ts';

/** Values of a record's state: what the threads have done with a file so far. */
export const STATE = { untouched: 0, preparing: 1, ready: 2, failed: 3, complete: 4 } as const;

/**
 * The name of a file until it is complete. A new file never has its own name, under which an unfinished file could not
 * be told from a user's file. Only a file that is changed in place has its own name.
 */
export function workingName(record: EntryRecord, run: string): ByteString {
  return record.has(RECORD.update) ? record.name : nameOfParts(record, run);
}

/** The temporary name for a new file, or for the missing pieces of an existing one. */
export function nameOfParts(record: EntryRecord, run: string): ByteString {
  return temporaryName(run, record.serial);
}

/** Removes what the threads began of these files, after they have ended early. */
export function removeUnfinished(
  files: Iterable<RecordHandle>,
  { records, directories, run }: { records: EntryRecords; directories: OpenDirectories; run: string },
): void {
  for (const handle of files) {
    const record = records.at(handle);
    const { words, index } = record.state;
    if (words[index] === STATE.complete) continue;
    removeQuietly(() => directories.at(record.parent), nameOfParts(record, run));
  }
}

/** Removes a file that failed, ignoring system errors. */
export function removeQuietly(directory: () => TargetDirectory, name: ByteString): void {
  try {
    directory().removeFile(name);
  } catch (error) {
    // the failure that led here is the one to report; a file that stays has a name that the next restore recognises
    if (errnoOf(error) === undefined) throw error;
  }
}

/** Errors that say that nothing can be created in a directory. */
const CLOSED: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS']);

/**
 * Makes a mark that says that an existing file is unfinished.
 * @returns false if nothing can be created in its directory
 */
export function markUnfinished(directory: TargetDirectory, record: EntryRecord, run: string): boolean {
  const mark = unfinishedMark(run, record.serial, record.name);
  try {
    directory.closeFile(directory.createFile(mark, UNFINISHED_FILE));
  } catch (error) {
    if (!CLOSED.has(errnoOf(error) ?? '')) throw error;
    return false;
  }
  directory.sync();
  return true;
}

export function unmark(directory: TargetDirectory, record: EntryRecord, run: string): void {
  removeQuietly(() => directory, unfinishedMark(run, record.serial, record.name));
}
