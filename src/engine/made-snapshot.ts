/** What a backup says of a snapshot that is there. */
import { holdfastThere } from '../base/holdfast-command.ts';
import { textOfBytes } from '../base/byte-path.ts';
import type { EntryProblem } from '../format/records.ts';
import type { JobProblem } from '../jobs/job.ts';
import type { Snapshot } from '../repository/snapshots.ts';
import { isWhole } from '../repository/check/whole-snapshot.ts';
import { outcomeOf, type JobParts } from './job-parts.ts';
import type { EngineOutcome } from './protocol.ts';
import type { Counters, Moment } from './report.ts';
import { compareWithLast, type ComparedRun } from './source-comparison.ts';

/** What is said of a job that was interrupted when its snapshot was committed and the daemon had not heard of it. */
export const MADE_BEFORE = 'The snapshot of this job was there already: an earlier attempt had completed it.';

/**
 * Whether the snapshot of an earlier attempt can be restored: it may have been stored when others had pruned what it needs,
 * and its run have died, or lost its connection, before it could take it back. It stays in any case, since it may be read
 * another time; one that lacks something is for a person to remove.
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

/** The outcome of a job whose snapshot is there. */
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

/** How much of it was new is no longer known. */
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
  return { path: textOfBytes(path), code, message };
}
