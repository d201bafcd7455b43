/** Which job comes next. One runs at a time for each source and for each destination. */
import { isDeepStrictEqual } from 'node:util';
import { RequestError } from '../base/errors.ts';
import type { JobRecord } from '../db/jobs.ts';
import type { JobBook } from './job-book.ts';
import type { Noted } from './agent.ts';
import type { Job, JobSpec, JobTrigger, PlainWait } from './job.ts';
import { isDue } from './retry-delay.ts';

export const MOST_QUEUED = 100;

/** What a job needs for itself alone. */
export interface JobPlaces {
  /** Null: the job reads no source. */
  readonly source: string | null;
  readonly destination: string;
  /** The destination is not on this machine. */
  readonly isFar?: boolean;
}

/** What a job has for itself alone just now; null: none of the kind. */
export interface Held {
  readonly source: string | null;
  readonly destination: string | null;
}

export type PlacesOf = (spec: JobSpec) => JobPlaces;

/** Places by their names. Who knows that two names mean the same place gives the runner something better. */
export function placesByName(spec: JobSpec): JobPlaces {
  return { source: spec.type === 'backup' ? spec.source : null, destination: spec.destination };
}

export interface JobRequest {
  readonly spec: JobSpec;
  readonly trigger: JobTrigger;
  /** Whether a job that waits gets what another one has begun to read: that has not seen what changed since. */
  readonly copies: (record: JobRecord) => boolean;
  readonly also?: Noted | undefined;
}

/**
 * Queues a job, or gives the one that already waits to do the same, when nobody asked for it in person.
 * @throws {RequestError} QUEUE_FULL
 */
export function submitJob(book: JobBook, { spec, trigger, copies, also }: JobRequest): Job {
  const queued = book.queued();
  const same = isPersons(trigger)
    ? undefined
    : queued.find((record) => canStandFor(record, spec) && !copies(record));
  if (same !== undefined) return same.job;
  requireRoom(queued, trigger, 1);
  return book.add(spec, trigger, also).job;
}

/**
 * Whether so many more may wait of those that somebody asks for. What the agent queues by itself is bounded by what the
 * settings name, since one that waits stands for all that are the same: else jobs that wait for one destination would
 * keep those to the others from being made.
 * @throws {RequestError} QUEUE_FULL
 */
export function requireRoom(queued: readonly JobRecord[], trigger: JobTrigger, more: number): void {
  if (!isPersons(trigger)) return;
  const counted = queued.filter(({ job }) => isPersons(job.trigger));
  if (counted.length + more <= MOST_QUEUED) return;
  throw new RequestError('QUEUE_FULL', `There are already ${counted.length} jobs waiting`, {
    hint: 'Wait until some are done, or cancel some.',
    details: { limit: MOST_QUEUED },
    retry: 'later',
  });
}

/** Whether somebody is waiting for it. */
export function isPersons(trigger: JobTrigger): boolean {
  return trigger !== 'schedule' && trigger !== 'watch';
}

/** One that has begun before may find its work done as of then, so it does not stand for what changed since. */
function canStandFor({ job }: JobRecord, spec: JobSpec): boolean {
  return job.started_at === null && isDeepStrictEqual(job.spec, spec);
}

/**
 * Whether it leaves the first turn to the same job from before, which has begun and is tried again. So it does not begin
 * itself, and stands for all that comes until then: however long a destination is away, two jobs wait for it.
 */
export function yieldsToEarlier({ job }: JobRecord, queued: readonly JobRecord[]): boolean {
  if (isPersons(job.trigger) || job.started_at !== null) return false;
  const place = queued.findIndex(({ job: { id } }) => id === job.id);
  return queued
    .slice(0, place)
    .some(({ job: other }) => other.started_at !== null && isDeepStrictEqual(other.spec, job.spec));
}

/**
 * What a job is to say that it waits for; undefined when that need not change.
 * @param isBehind whether another job has what it needs
 */
export function queueWait(
  { job }: JobRecord,
  yields: boolean,
  isBehind: boolean,
): PlainWait | null | undefined {
  const said = job.waits?.code ?? null;
  if (yields) return said === 'earlier' ? undefined : 'earlier';
  // One that has begun waits for what it has said, or goes on next.
  const waits = isBehind && job.started_at === null;
  if (waits) return said === null || said === 'earlier' ? 'turn' : undefined;
  // What an earlier version has stored says it in words alone.
  const isOld = job.waits === undefined && job.waiting_for !== null && job.started_at === null;
  return isOld || said === 'earlier' || said === 'turn' ? null : undefined;
}

/**
 * Those that may start now as far as places and waiting times go, the first ones first: restores that somebody waits
 * for, then everything else that somebody waits for, then the rest, each in the order of their coming.
 */
export function startable(
  queued: readonly JobRecord[],
  taken: readonly Held[],
  placesOf: (record: JobRecord) => JobPlaces,
  nowMs: number,
): readonly JobRecord[] {
  return queued
    .filter(({ bookkeeping }) => isDue(bookkeeping.retryAt, nowMs))
    .filter((record) => !yieldsToEarlier(record, queued))
    .filter((record) => !isTaken(placesOf(record), taken))
    .map((record, index) => ({ record, index, rank: rankOf(record.job) }))
    .sort((a, b) => a.rank - b.rank || a.index - b.index)
    .map(({ record }) => record);
}

export function isTaken(places: JobPlaces, taken: readonly Held[]): boolean {
  return taken.some(
    ({ source, destination }) =>
      destination === places.destination || (source !== null && source === places.source),
  );
}

function rankOf({ trigger, type }: Job): number {
  if (!isPersons(trigger)) return 2;
  return type === 'restore' ? 0 : 1;
}
