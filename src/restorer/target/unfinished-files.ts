import type { ByteString } from '../../base/byte-path.ts';
import { errnoOf } from '../../base/errors.ts';
import { RECORD, type EntryRecord, type EntryRecords, type RecordHandle } from './entry-records.ts';
import type { OpenDirectories } from './open-directories.ts';
import { UNFINISHED_FILE, type TargetDirectory } from './target-directory.ts';
import { temporaryName, unfinishedMark } from './temporary-names.ts';

/** Values of a record's state: how far the threads have come with a file. */
export const STATE = { untouched: 0, preparing: 1, ready: 2, failed: 3, complete: 4 } as const;

/**
 * The name a file has until it is complete: never its own, under which somebody else's file could not be told from an
 * unfinished one. Only what stands and is changed in place has it already.
 */
export function workingName(record: EntryRecord, run: string): ByteString {
  return record.has(RECORD.update) ? record.name : nameOfParts(record, run);
}

/** Where a file is put together, or what is to be changed in one that stands. */
export function nameOfParts(record: EntryRecord, run: string): ByteString {
  return temporaryName(run, record.serial);
}

/** After the threads have ended before their time: removes what they began of these files. */
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

/** For a file that is given up. */
export function removeQuietly(directory: () => TargetDirectory, name: ByteString): void {
  try {
    directory().removeFile(name);
  } catch (error) {
    // the failure that led here is the one to tell; what stays has a name that the next restore knows
    if (errnoOf(error) === undefined) throw error;
  }
}

/** What says of a directory that nothing can be made in it. */
const CLOSED: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS']);

/**
 * Notes beside a file that stands that it is not finished any more.
 * @returns false where nothing can be made beside it
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
