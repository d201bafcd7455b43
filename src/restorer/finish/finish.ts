import { setImmediate } from 'node:timers/promises';
import type { ByteString } from '../../base/byte-path.ts';
import { removeAbandonedSince } from '../target/abandoned-files.ts';
import { entryFailure } from '../target/entry-failure.ts';
import { type EntryRecords, RECORD, type RecordHandle } from '../target/entry-records.ts';
import { type ExtraEntry, reasonToStay, type StayReason, stayText } from '../plan/extra-entries.ts';
import type { LastSync } from './last-sync.ts';
import type { HardLink } from '../plan/hard-links.ts';
import type { LiftedModes } from '../metadata/lifted-modes.ts';
import { type HardLinkParts, makeHardLink } from './make-hard-link.ts';
import { makeNamed } from './make-named.ts';
import type { OwnTest } from '../target/own-places.ts';
import { removeTree } from '../target/remove-tree.ts';
import type { RestorePlan } from '../plan/restore-plan.ts';
import { isAbandoned, isOfRun } from '../target/temporary-names.ts';
import { removeQuietly, STATE } from '../target/unfinished-files.ts';

export interface FinishParts extends HardLinkParts {
  readonly plan: RestorePlan;
  /** Why nothing at or below a path is removed although the snapshot lacks it; undefined if it may be removed. */
  readonly keep: (path: ByteString) => StayReason | undefined;
  readonly isOwn: OwnTest;
  /** Directories in which something was made or changed. */
  readonly touched: ReadonlySet<RecordHandle>;
  readonly lastSync: LastSync;
  readonly lifted: LiftedModes;
  readonly signal: AbortSignal;
}

/** All directories that the restore changes: those in which files were written, and those that the plan changes otherwise. */
export function touchedBy(
  plan: RestorePlan,
  withFiles: ReadonlySet<RecordHandle>,
  records: EntryRecords,
): ReadonlySet<RecordHandle> {
  const { directories, named, extra } = plan;
  const touched = new Set(withFiles);
  for (const { parent } of [...named, ...linksOf(plan), ...extra]) touched.add(parent);
  for (const handle of directories) touched.add(handle).add(records.at(handle).parent);
  return touched;
}

export function linksOf({ groups }: RestorePlan): readonly HardLink[] {
  return groups.flatMap(({ links }) => links);
}

/** Entries between two turns of the event loop, for an interrupt or a progress display. */
const STRETCH = 256;

/**
 * The steps after the files: links and special files, extra entries, and last the directories' own metadata, deepest first.
 */
export async function finishRestore(parts: FinishParts): Promise<void> {
  const { plan, records, tally, directories } = parts;
  for (const handle of plan.clearing) {
    const { words, index } = records.at(handle).state;
    // the directory stays if the file that replaces it has failed
    if (words[index] === STATE.complete) tally.deleted(directories.pathOfEntry(handle));
  }
  await forEach(parts, plan.named, {
    place: ({ parent, entry }) => [parent, entry.name],
    act: (named) => makeNamed(parts, named),
    failed: () => {},
  });
  await forEach(parts, linksOf(plan), {
    place: ({ parent, name }) => [parent, name],
    act: (link) => {
      makeHardLink(parts, link);
      tally.bytesDone += link.size;
    },
    failed: ({ size }) => tally.fileLost(size),
  });
  await forEach(parts, plan.extra, {
    place: ({ parent, name }) => [parent, name],
    act: (extra) => removeExtra(parts, extra),
    failed: () => {},
  });
  for (const [handle, mark] of plan.marks) if (isFinishedFile(parts, handle)) removeMark(parts, handle, mark);
  await removeAbandonedSince(plan.shared, parts.directories, parts.signal);
  await syncStanding(parts);
  await forEach(parts, plan.directories.toReversed(), {
    place: (handle) => [records.at(handle).parent, records.at(handle).name],
    act: (handle) => finishDirectory(parts, handle),
    failed: () => {},
  });
  parts.lifted.putBack();
}

function isFinishedFile({ records, plan }: FinishParts, handle: RecordHandle): boolean {
  const { words, index } = records.at(handle).state;
  return plan.markedFiles.has(handle) && words[index] !== STATE.failed;
}

/** Removes a mark that no longer applies. A mark of another restore that is still alive is left to that one. */
function removeMark(
  { directories, records, run }: FinishParts,
  handle: RecordHandle,
  mark: ByteString,
): void {
  if (isOfRun(mark, run) || isAbandoned(mark))
    removeQuietly(() => directories.at(records.at(handle).parent), mark);
}

/** Syncs directories that keep their own metadata but have new entries. */
async function syncStanding({
  plan,
  touched,
  lastSync,
  directories,
  tally,
  signal,
}: FinishParts): Promise<void> {
  const own = new Set(plan.directories);
  for (const [i, handle] of [...touched].entries()) {
    if (i % STRETCH === STRETCH - 1) await setImmediate();
    signal.throwIfAborted();
    if (own.has(handle)) continue;
    try {
      const directory = directories.at(handle);
      lastSync.note(directory);
      lastSync.sync(directory);
    } catch (error) {
      const { code, message } = entryFailure(error);
      tally.problem(directories.pathOfEntry(handle), code, message);
    }
  }
}

interface Step<T> {
  /** The place of an item, for the list of problems. */
  readonly place: (item: T) => readonly [parent: RecordHandle, name: ByteString];
  readonly act: (item: T) => void;
  readonly failed: (item: T) => void;
}

/**
 * Handles each item. An error with one entry is listed, and the others go on; an error that ends the whole restore is thrown.
 */
async function forEach<T>(
  { tally, directories, signal }: FinishParts,
  items: readonly T[],
  { place, act, failed }: Step<T>,
): Promise<void> {
  for (const [i, item] of items.entries()) {
    if (i % STRETCH === STRETCH - 1) await setImmediate();
    signal.throwIfAborted();
    try {
      act(item);
    } catch (error) {
      const { code, message } = entryFailure(error);
      failed(item);
      tally.problem(directories.pathOf(...place(item)), code, message);
    }
  }
}

/** Whether an extra entry is not to be removed; the reason is noted. */
export function stays(
  { directories, tally, keep, isOwn }: Pick<FinishParts, 'directories' | 'tally' | 'keep' | 'isOwn'>,
  { parent, name, selection }: ExtraEntry,
  path: ByteString,
): boolean {
  const why = keep(path) ?? reasonToStay(directories.at(parent), name, selection, isOwn);
  if (why === undefined) return false;
  tally.omissions.note('deletion', stayText(why), () => path);
  return true;
}

function removeExtra(parts: FinishParts, extra: ExtraEntry): void {
  const { directories, tally } = parts;
  const path = directories.pathOf(extra.parent, extra.name);
  if (stays(parts, extra, path)) return;
  removeTree(directories.at(extra.parent), extra.name);
  tally.deleted(path);
}

function finishDirectory(parts: FinishParts, handle: RecordHandle): void {
  const { directories, records, metadata, lastSync, tally, lifted, plan } = parts;
  const record = records.at(handle);
  const existed = !record.has(RECORD.created);
  const directory = directories.at(handle);
  lastSync.note(directory);
  lifted.end(handle);
  metadata.directory(directory, record, existed, () => directories.pathOfEntry(handle));
  lastSync.sync(directory);
  const mark = plan.marks.get(handle);
  if (mark !== undefined) removeMark(parts, handle, mark);
  tally.directories += 1;
}
