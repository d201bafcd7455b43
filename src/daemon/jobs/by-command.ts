/**
 * What a command has done beside the agent, noted as jobs that have ended: a person who backs up a source by hand is
 * protected by that, and damage that a check by hand has found is damage.
 */
import type { DoneByCommand } from '../../control/calls.ts';
import type { Settings } from '../../config/settings.ts';
import type { JobBook } from '../../jobs/job-book.ts';
import { completed, failed, ran, started } from '../../jobs/job-states.ts';
import { NO_PROGRESS, type JobSpec } from '../../jobs/job.ts';
import type { EngineOutcome } from '../../engine/protocol.ts';
import type { Clock } from '../../base/clock.ts';
import type { Destinations, Place } from '../places/destinations.ts';
import { configuredPath, storedAs } from '../sources/configured-source.ts';
import type { JobEnds } from './job-ends.ts';

export interface ByCommandParts {
  readonly book: JobBook;
  readonly ends: Pick<JobEnds, 'keep' | 'ended'>;
  readonly settings: () => Pick<Settings, 'sources'>;
  readonly destinations: Pick<Destinations, 'all' | 'repositoryId'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** Returns the number of jobs: none when the settings know nothing of it. @throws what the book throws */
export function noteDone(done: DoneByCommand, parts: ByCommandParts): number {
  const { destinations } = parts;
  const places = destinations.all().filter((one) => destinations.repositoryId(one) === done.repository_id);
  const specs = places.flatMap((place) => specOf(done, place, parts) ?? []);
  for (const spec of specs) note(spec, done, parts);
  return specs.length;
}

function specOf(done: DoneByCommand, { name }: Place, { settings }: ByCommandParts): JobSpec | undefined {
  if (done.type === 'check') return { type: 'check', destination: name, read_data: done.read_data };
  const path = configuredPath(settings(), done.source);
  const source = settings().sources.find((one) => one.path === path && one.destinations.includes(name));
  if (source === undefined) return undefined;
  return { type: 'backup', source: path, destination: name, options: storedAs(source) };
}

/** Without a pause between the steps, so that no runner takes the job. */
function note(spec: JobSpec, done: DoneByCommand, { book, ends, clock }: ByCommandParts): void {
  const { id } = book.add(spec, 'cli').job;
  book.change(id, (record) => started(record, done.began_at));
  const error = done.type === 'check' ? done.damage : null;
  if (error !== null) {
    const { job } = book.change(
      id,
      (record) => failed(ran(record, done.duration_ms), { ...error, code: 'CORRUPT_DATA' }, clock.now()),
      (ended) => ends.keep(ended, null),
    );
    ends.ended(job);
    return;
  }
  if (done.type === 'backup') for (const problem of done.problems) book.addProblem(id, problem);
  const outcome = outcomeOf(done);
  const { job } = book.change(id, (record) => completed(ran(record, done.duration_ms), outcome, clock.now()));
  ends.ended(job);
}

function outcomeOf(done: DoneByCommand): EngineOutcome {
  const nothing: EngineOutcome = {
    result: 'success',
    snapshotId: null,
    sourceReadAt: null,
    hasReadSource: false,
    repositoryId: done.repository_id,
    files: 0,
    filesSkipped: 0,
    bytes: 0,
    warnings: 0,
    progress: { ...NO_PROGRESS, percent: 100 },
    storedBytes: null,
    compared: null,
    facts: {},
  };
  if (done.type === 'check') return nothing;
  const { files, files_failed: unread, bytes } = done;
  return {
    ...nothing,
    result: unread > 0 || done.problems.length > 0 ? 'warning' : 'success',
    snapshotId: done.snapshot_id,
    sourceReadAt: done.began_at,
    files,
    bytes,
    warnings: Math.max(unread, done.problems.length),
    progress: {
      ...nothing.progress,
      files_total: files,
      files_failed: unread,
      bytes_done: bytes,
      bytes_total: bytes,
    },
  };
}
