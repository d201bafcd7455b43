/** What a dry run reports once the plan is made. */
import type { OpenDirectories } from '../target/open-directories.ts';
import { entryFailure } from '../target/entry-failure.ts';
import { type EntryRecord, type EntryRecords, RECORD, type RecordHandle } from '../target/entry-records.ts';
import { hasMetadata, hasXattrs } from '../metadata/compare.ts';
import type { MetadataPolicy } from '../metadata/metadata.ts';
import type { RestoreObserver } from '../request/request.ts';
import type { RestoreTally } from '../request/tally.ts';
import { type FinishParts, linksOf, stays } from './finish.ts';
import { countNamed } from './make-named.ts';

/** For a dry run: reports what `finishRestore` would do. */
export function reportPlan({
  plan,
  directories,
  tally,
  observer,
  keep,
  isOwn,
}: Pick<FinishParts, 'plan' | 'tally' | 'keep' | 'isOwn'> & {
  readonly directories: OpenDirectories | undefined;
  readonly observer: RestoreObserver;
}): void {
  tally.directories = plan.directories.length;
  tally.filesRestored += linksOf(plan).length;
  for (const { entry } of plan.named) countNamed(tally, entry);
  if (directories === undefined) return;
  for (const extra of plan.extra) {
    const path = directories.pathOf(extra.parent, extra.name);
    try {
      if (stays({ directories, tally, keep, isOwn }, extra, path)) continue;
      tally.deleted(path);
      observer.planned(path, 'delete', 'file');
    } catch (error) {
      const { code, message } = entryFailure(error);
      tally.problem(path, code, message);
    }
  }
}

interface ComparedParts {
  /** Files that failed, with the error code. */
  readonly failed: ReadonlyMap<RecordHandle, string>;
  readonly observer: RestoreObserver;
  readonly policy: MetadataPolicy;
  readonly records: EntryRecords;
  readonly tally: RestoreTally;
  readonly directories: OpenDirectories;
}

/** Reports files whose content had to be compared: those that are as in the snapshot would be left. */
export function reportCompared(files: readonly RecordHandle[], parts: ComparedParts): void {
  const { failed, observer, records, tally, directories } = parts;
  for (const handle of files) {
    if (failed.has(handle)) continue;
    const record = records.at(handle);
    const hasContent = record.has(RECORD.metadataOnly);
    const isSame = hasContent && isAsWanted(record, parts);
    observer.planned(directories.pathOfEntry(handle), isSame ? 'leave' : 'update', 'file');
    if (isSame) tally.filesUnchanged += 1;
    else tally.filesRestored += 1;
    if (!hasContent) tally.bytesRestored += record.size;
    tally.bytesDone += record.size;
  }
}

function isAsWanted(record: EntryRecord, { policy, directories }: ComparedParts): boolean {
  const directory = directories.at(record.parent);
  const found = directory.find(record.name);
  if (found === undefined || !hasMetadata(policy, record, found)) return false;
  return !record.hasXattrs || hasXattrs(policy, record.xattrs, directory.xattrsOf(record.name));
}
