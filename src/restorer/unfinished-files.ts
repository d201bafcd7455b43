import { asByteString, type ByteString } from '../base/byte-path.ts';
import { errnoOf } from '../base/errors.ts';
import { RECORD, type EntryRecord, type EntryRecords, type RecordHandle } from './entry-records.ts';
import type { OpenDirectories } from './open-directories.ts';
import type { TargetDirectory } from './target-directory.ts';
import { temporaryName } from './temporary-names.ts';

/** Values of a record's state: how far the threads have come with a file. */
export const STATE = { untouched: 0, preparing: 1, ready: 2, failed: 3, complete: 4 } as const;

/** The name a file has until it is complete: its own when nothing stands there and one thread writes it at once. */
export function workingName(record: EntryRecord, run: string): ByteString {
  if (record.has(RECORD.update) || !record.has(RECORD.replace | RECORD.spread)) return record.name;
  return nameOfParts(record, run);
}

/** Where several threads put together a file, or what is to be changed in one that stands. */
export function nameOfParts(record: EntryRecord, run: string): ByteString {
  return asByteString(temporaryName(run, record.serial));
}

/** After the threads have ended before their time: removes what they began of these files. */
export function removeUnfinished(
  files: Iterable<RecordHandle>,
  { records, directories, run }: { records: EntryRecords; directories: OpenDirectories; run: string },
): void {
  for (const handle of files) {
    const record = records.at(handle);
    const { words, index } = record.state;
    if (words[index] === STATE.complete || !record.has(RECORD.replace | RECORD.spread)) continue;
    removeQuietly(() => directories.at(record.parent), nameOfParts(record, run));
  }
}

/** For a file that is given up. */
export function removeQuietly(directory: () => TargetDirectory, name: ByteString): void {
  try {
    directory().removeFile(name);
  } catch (error) {
    // the failure that led here is the one to tell; what stays carries the mode of unfinished files
    if (errnoOf(error) === undefined) throw error;
  }
}
