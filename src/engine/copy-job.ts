/** Runs a backup by copying the snapshot that another destination already has, without reading the source. */
import { HoldfastError, isAbort } from '../base/errors.ts';
import { jobTags } from '../base/job-tag.ts';
import { omissionText } from '../format/omission.ts';
import { parseCompression } from '../codec/compress.ts';
import { type CopyObserver, copySnapshots, type CopySummary, runOf } from '../copier/copy.ts';
import type { BackupSpec } from '../jobs/job.ts';
import { listSnapshots, type Snapshot } from '../repository/snapshots.ts';
import { doneUnderLimit } from './job-progress.ts';
import { alreadyMade, finalMoment, keepProtected, MADE_BEFORE, problemOf, stands } from './made-snapshot.ts';
import { type JobParts, outcomeOf, snapshotOfJob, tagsOfPerson } from './job-parts.ts';
import { sentences } from './job-error.ts';
import type { JobRepository } from './open-repository.ts';
import type { CopyOrigin, EngineOutcome } from './protocol.ts';
import type { Moment } from './report.ts';
import { readSpool } from './spool.ts';
import { recallWalk, rememberWalkIfPossible } from './walk-memory.ts';

/** No origin can be copied from: the source has to be read. */
export class NothingToCopy extends Error {
  override readonly name = 'NothingToCopy';
}

/** @throws {NothingToCopy}; {DestinationError} {RepositoryError} from the job's own destination */
export async function runCopy(
  parts: JobParts,
  spec: BackupSpec,
  origins: readonly CopyOrigin[],
  signal: AbortSignal,
): Promise<EngineOutcome> {
  const { job, place, report } = parts;
  report.phase('scanning');
  const { live } = await listSnapshots(place.cached, signal, { remembered: true });
  const made = snapshotOfJob(live, job.id);
  if (made !== undefined) {
    if (await stands(parts, made, signal)) return await standing(parts, made, MADE_BEFORE, signal);
    throw new NothingToCopy();
  }
  for (const origin of origins) {
    const outcome = await copyFrom(origin, live, parts, spec, signal);
    if (outcome !== undefined) return outcome;
  }
  throw new NothingToCopy();
}

async function standing(
  parts: JobParts,
  made: Snapshot,
  note: string,
  signal: AbortSignal,
): Promise<EngineOutcome> {
  return { ...(await alreadyMade(parts, made, note, undefined, signal)), copied: true };
}

/** Undefined when the snapshot cannot be copied from this origin, which is noted. */
async function copyFrom(
  origin: CopyOrigin,
  live: readonly Snapshot[],
  parts: JobParts,
  spec: BackupSpec,
  signal: AbortSignal,
): Promise<EngineOutcome | undefined> {
  const { job, report } = parts;
  const { name } = origin.destination;
  const giveUp = (why: string): undefined => {
    report.note(`Nothing is copied from ${name}: ${why}`);
    return undefined;
  };
  let from: JobRepository;
  try {
    from = await parts.openOther(origin.destination, signal);
  } catch (error) {
    return giveUp(reasonOf(error, signal));
  }
  from.useSpool(
    job.pass?.spool?.use === 'read' && from.directory === undefined
      ? readSpool(job.pass.spool.directory)
      : undefined,
  );
  try {
    const snapshot = await findRun(from, origin, signal);
    if (snapshot === undefined) return giveUp('the snapshot no longer exists.');
    const same = sameRun(live, snapshot);
    if (same !== undefined) {
      if (await stands(parts, same, signal)) return await standing(parts, same, SAME_RUN, signal);
      return giveUp('the copy of it that is there lacks data.');
    }
    return await copy(snapshot, from, name, { parts, spec }, signal);
  } catch (error) {
    // An error of the job's own destination makes the job fail or wait.
    if (!(error instanceof DamagedOrigin) && !from.hasThrown(error)) throw error;
    return giveUp(reasonOf(error, signal));
  } finally {
    from.useSpool(undefined);
  }
}

/** Also finds the snapshot under another id, which it got when its tags were changed. */
async function findRun(
  { cached }: JobRepository,
  { snapshotId, jobId }: CopyOrigin,
  signal: AbortSignal,
): Promise<Snapshot | undefined> {
  const { live } = await listSnapshots(cached, signal, { remembered: true });
  return live.find(({ id }) => id === snapshotId) ?? snapshotOfJob(live, jobId);
}

class DamagedOrigin extends Error {
  override readonly name = 'DamagedOrigin';
}

interface Copying {
  readonly parts: JobParts;
  readonly spec: BackupSpec;
}

async function copy(
  snapshot: Snapshot,
  from: JobRepository,
  name: string,
  { parts, spec }: Copying,
  signal: AbortSignal,
): Promise<EngineOutcome> {
  const { job, place, report } = parts;
  const { clock } = place.repository;
  const beganMs = clock.monotonic();
  report.phase('uploading');
  const watch = watchCopy(parts, snapshot);
  const summary = await copySnapshots(
    {
      from: from.cached,
      to: place.cached,
      snapshots: [snapshot],
      compression: parseCompression(spec.options.compression),
      tags: ({ record }) => [...tagsOfPerson(record.tags), ...jobTags(job.id, spec.options.exclude)],
    },
    watch,
    signal,
  );
  const { made } = watch;
  if (summary.there > 0) return await standingCopy(snapshot, parts, signal);
  if (made === undefined)
    throw new DamagedOrigin(watch.failure?.message ?? 'it was not copied', { cause: watch.failure });
  await rememberAs(made, snapshot, from, parts);
  await keepProtected(parts, signal);
  // As after a backup: flushed, so that the catalog need not read the snapshot from the destination.
  place.cached.cache.write?.();
  return outcome(made, summary, { parts, name, durationMs: clock.monotonic() - beganMs });
}

/** The outcome when another job has copied the same run meanwhile. */
async function standingCopy(
  snapshot: Snapshot,
  parts: JobParts,
  signal: AbortSignal,
): Promise<EngineOutcome> {
  const { live } = await listSnapshots(parts.place.cached, signal, { remembered: true });
  const same = sameRun(live, snapshot);
  if (same === undefined) throw new DamagedOrigin('it was not copied');
  if (!(await stands(parts, same, signal)))
    throw new DamagedOrigin('the copy of it that is there lacks data');
  return await standing(parts, same, SAME_RUN, signal);
}

const SAME_RUN = 'The same run is already there.';

function sameRun(live: readonly Snapshot[], snapshot: Snapshot): Snapshot | undefined {
  return live.find((one) => runOf(one) === runOf(snapshot));
}

interface CopyWatch extends CopyObserver {
  readonly made: Snapshot | undefined;
  readonly failure: Error | undefined;
}

function watchCopy({ report, place }: JobParts, { record: { counts } }: Snapshot): CopyWatch {
  let made: Snapshot | undefined;
  let failure: Error | undefined;
  let [read, total] = [0, 0];
  let store = { uploadedBytes: 0, handedBytes: 0 };
  const doneOf = doneUnderLimit(place.upload);
  report.follow((): Moment => {
    const done = doneOf({ bytesDone: read, bytesRead: read, bytesHanded: store.handedBytes });
    const share = total === 0 ? 0 : done / total;
    return {
      files: Math.floor(counts.files * share),
      bytes: Math.floor(counts.bytes * share),
      filesDone: 0,
      bytesDone: done,
      filesTotal: 0,
      bytesTotal: total,
      counters: { bytes_uploaded: store.uploadedBytes },
    };
  });
  return {
    get made() {
      return made;
    },
    get failure() {
      return failure;
    },
    live: (stored) => {
      store = stored;
    },
    begin: (_snapshot, bytes) => {
      total = bytes;
    },
    read: (bytes) => {
      read += bytes;
    },
    copied: (_snapshot, copied) => {
      made = copied;
    },
    failed: (_snapshot, error) => {
      failure = error;
    },
  };
}

interface CopyFacts {
  readonly parts: JobParts;
  readonly name: string;
  readonly durationMs: number;
}

function outcome(
  made: Snapshot,
  summary: CopySummary,
  { parts, name, durationMs }: CopyFacts,
): EngineOutcome {
  const { counts, errors, errorsMore, omitted } = made.record;
  for (const what of omitted) parts.report.note(`Not backed up: ${omissionText(what)}`);
  for (const problem of errors) parts.report.problem(problemOf(problem));
  const bytesNew = Math.min(summary.bytesNew, counts.bytes);
  const moment = finalMoment(made, {
    bytes_uploaded: summary.bytesUploaded,
    bytes_deduplicated: counts.bytes - bytesNew,
  });
  return outcomeOf(parts, {
    snapshotId: made.id,
    sourceReadAt: made.record.startedMs,
    files: counts.files,
    bytes: counts.bytes,
    warnings: errors.length + errorsMore,
    progress: parts.report.finished(moment),
    copied: true,
    facts: {
      copied_from: name,
      bytes_read: 0,
      bytes_new: summary.bytesNew,
      bytes_uploaded: summary.bytesUploaded,
      duration_ms: Math.round(durationMs),
    },
  });
}

/** The rules are known only if they were recorded for exactly the snapshot that was copied. */
async function rememberAs(
  made: Snapshot,
  snapshot: Snapshot,
  from: JobRepository,
  { job: { stateDirectory }, place, report }: JobParts,
): Promise<void> {
  const key = { stateDirectory, sources: snapshot.record.paths };
  const last = await recallWalk({ ...key, repositoryId: from.repository.id });
  if (last?.snapshot !== snapshot.id) return;
  const walk = { ...last, snapshot: made.id };
  await rememberWalkIfPossible({ ...key, repositoryId: place.repository.id }, walk, report);
}

/** @throws errors that do not come from a destination or repository */
function reasonOf(error: unknown, signal: AbortSignal): string {
  signal.throwIfAborted();
  if (isAbort(error)) throw error;
  if (error instanceof DamagedOrigin) return sentences(error.message);
  if (!(error instanceof HoldfastError) || error.side === 'bug') throw error;
  return sentences(error.message, error.hint);
}
