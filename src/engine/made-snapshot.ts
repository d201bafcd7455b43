/** The outcome of a backup whose snapshot already exists. */
import { isAbort } from '../base/errors.ts';
import { holdfastThere } from '../base/holdfast-command.ts';
import { pathText } from '../base/tree-path.ts';
import type { EntryProblem } from '../format/records.ts';
import type { JobProblem } from '../jobs/job.ts';
import { isWhole } from '../repository/check/whole-snapshot.ts';
import { extendProtection, protectionWarning } from '../repository/protection.ts';
import type { Snapshot } from '../repository/snapshots.ts';
import { type JobParts, outcomeOf } from './job-parts.ts';
import type { EngineOutcome } from './protocol.ts';
import type { Counters, Moment } from './report.ts';
import { type ComparedRun, compareWithLast } from './source-comparison.ts';

/** The note for a job that was interrupted between the commit of its snapshot and the daemon's learning of it. */
export const MADE_BEFORE = 'An earlier attempt had already completed the snapshot of this job.';

/**
 * Whether the snapshot of an earlier attempt can be restored. It may have been committed after others had pruned data
 * that it needs, and its run may have died or lost its connection before it could withdraw it. The snapshot is not
 * removed here, as reading it may succeed later; removing one that lacks data is up to a person.
 */
export async function stands(
  { place, report }: JobParts,
  snapshot: Snapshot,
  signal: AbortSignal,
): Promise<boolean> {
  if (await isWhole(place.cached, snapshot, signal)) return true;
  const id = snapshot.id.slice(0, 8);
  report.note(
    `Snapshot ${id} of an earlier attempt lacks data, and does not count. When a check confirms that, remove it with: ${holdfastThere`forget ${id}`}`,
  );
  return false;
}

/** The outcome of a job whose snapshot already exists. */
export async function alreadyMade(
  parts: JobParts,
  snapshot: Snapshot,
  note: string,
  last: Snapshot | undefined,
  signal: AbortSignal,
): Promise<EngineOutcome> {
  const { counts, errors, errorsMore, startedMs, finishedMs } = snapshot.record;
  for (const problem of errors) parts.report.problem(problemOf(problem));
  parts.report.note(note);
  const moment = finalMoment(snapshot, { bytes_deduplicated: counts.bytes });
  return outcomeOf(parts, {
    snapshotId: snapshot.id,
    sourceReadAt: startedMs,
    files: counts.files,
    bytes: counts.bytes,
    warnings: errors.length + errorsMore,
    progress: parts.report.finished(moment),
    compared: await compareWithLast({ ...nothingStored(parts, snapshot), last }, signal),
    facts: { resumed: true, duration_ms: finishedMs - startedMs },
  });
}

/** How much of it was new is no longer known, so nothing counts as new. */
export function nothingStored({ place }: JobParts, made: Snapshot): Omit<ComparedRun, 'last'> {
  return { repository: place.cached, made, bytesNew: 0, bytesStored: 0 };
}

export function finalMoment({ record: { counts } }: Snapshot, counters: Counters): Moment {
  return {
    files: counts.files,
    bytes: counts.bytes,
    filesDone: counts.files + counts.failed,
    bytesDone: counts.bytes,
    filesTotal: undefined,
    bytesTotal: undefined,
    counters: {
      files_new: counts.new,
      files_changed: counts.changed,
      files_unchanged: counts.unchanged,
      files_failed: counts.failed,
      ...counters,
    },
  };
}

export function problemOf({ path, code, message }: EntryProblem): JobProblem {
  return { path: pathText(path), code, message };
}

/**
 * After a job has made its snapshot: extends the protection of the objects that snapshots need. Errors are only noted
 * in the log, as the job already has its snapshot.
 */
export async function keepProtected({ place, report }: JobParts, signal: AbortSignal): Promise<void> {
  try {
    const protection = await extendProtection(place.cached, signal);
    const warning = protection && protectionWarning(protection);
    if (warning !== undefined) report.note(warning);
  } catch (error) {
    if (!isAbort(error)) throw error;
    report.note('The snapshot is complete. The next backup finishes the remaining protection of its data.');
  }
}
