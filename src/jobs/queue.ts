/** Decides which job comes next. Each source and each destination has one running job at a time. */
import { isDeepStrictEqual } from 'node:util';
import { RequestError } from '../base/errors.ts';
import type { JobRecord } from '../db/jobs.ts';
import type { Noted } from './agent.ts';
import type { JobBook } from './job-book.ts';
import type { Job, JobSpec, JobTrigger, PlainWait } from './job.ts';
import { isDue } from './retry-delay.ts';
import { SHARE_AGAIN_MS } from './upload-shares.ts';

export const MOST_QUEUED = 100;

/** The places that a job needs exclusively. */
export interface JobPlaces {
  /** Null: the job does not read a source. */
  readonly source: string | null;
  readonly destination: string;
  /** The destination is not on this machine. */
  readonly isFar?: boolean;
}

/** The places that a running job occupies at the moment; null: none of that kind. */
export interface Held {
  readonly source: string | null;
  readonly destination: string | null;
}

export type PlacesOf = (spec: JobSpec) => JobPlaces;

/** Identifies places by their names. A caller that knows when two names mean the same place provides its own function. */
export function placesByName(spec: JobSpec): JobPlaces {
  return { source: spec.type === 'backup' ? spec.source : null, destination: spec.destination };
}

export interface JobRequest {
  readonly spec: JobSpec;
  readonly trigger: JobTrigger;
  /** Whether a waiting job copies a snapshot that another job has already begun to read, which lacks what changed since. */
  readonly copies: (record: JobRecord) => boolean;
  readonly also?: Noted | undefined;
}

/**
 * Queues a job. When no person asked for it, an identical job that already waits is returned instead.
 * @throws {RequestError} QUEUE_FULL
 */
export function submitJob(book: JobBook, { spec, trigger, copies, also }: JobRequest): Job {
  if (isPersons(trigger)) requireRoom(book, 1);
  else {
    const same = book.queuedLike(spec).find((record) => canStandFor(record, spec) && !copies(record));
    if (same !== undefined) return same.job;
  }
  return book.add(spec, trigger, also).job;
}

/**
 * Refuses further jobs of people when too many already wait. Jobs that the agent queues itself are not counted: a
 * waiting job stands for all identical ones, so the settings bound their number. If they were counted, jobs that wait
 * for one destination would keep out those for others.
 * @throws {RequestError} QUEUE_FULL
 */
export function requireRoom(book: Pick<JobBook, 'queued'>, more: number): void {
  const counted = book.queued().filter(({ job }) => isPersons(job.trigger));
  if (counted.length + more <= MOST_QUEUED) return;
  throw new RequestError('QUEUE_FULL', `There are already ${counted.length} jobs waiting`, {
    hint: 'Wait until some are done, or cancel some.',
    details: { limit: MOST_QUEUED },
    retry: 'later',
  });
}

/** Whether a person or program is waiting for the job. */
export function isPersons(trigger: JobTrigger): boolean {
  return trigger !== 'schedule' && trigger !== 'watch';
}

/** A job that has begun may find its work done as of its beginning, so it does not cover what changed since. */
function canStandFor({ job }: JobRecord, spec: JobSpec): boolean {
  return job.started_at === null && isDeepStrictEqual(job.spec, spec);
}

/**
 * Tells of a job whether it lets an earlier identical job go first, which has begun and is being retried. As the later job
 * does not begin, it can stand for all requests that come meanwhile: however long a destination is away, only two jobs
 * wait for it.
 * @param queued all queued jobs, in the order in which they were added
 */
export function yieldsToEarlier(queued: readonly JobRecord[]): (record: JobRecord) => boolean {
  const placeOf = new Map(queued.map(({ job: { id } }, place) => [id, place]));
  // Few jobs are being retried, while a thousand may wait.
  const begun = queued.filter(({ job }) => job.started_at !== null);
  return ({ job }) => {
    if (isPersons(job.trigger) || job.started_at !== null) return false;
    const place = placeOf.get(job.id) ?? queued.length;
    return begun.some(
      ({ job: other }) => (placeOf.get(other.id) ?? 0) < place && isDeepStrictEqual(other.spec, job.spec),
    );
  };
}

/**
 * The wait that a job is to show (null: none); undefined when it need not change.
 * @param isBehind whether another job occupies a place that it needs, or there is too little memory
 */
export function queueWait(
  { job }: JobRecord,
  yields: boolean,
  isBehind: boolean,
): PlainWait | null | undefined {
  const said = job.waits?.code ?? null;
  if (yields) return said === 'earlier' ? undefined : 'earlier';
  // A job that has begun keeps its own reason to wait, or continues next.
  const waits = isBehind && job.started_at === null;
  if (waits) return said === null || said === 'earlier' ? 'turn' : undefined;
  // Jobs stored by an earlier version have the reason in words only.
  const isOld = job.waits === undefined && job.waiting_for !== null && job.started_at === null;
  return isOld || said === 'earlier' || said === 'turn' ? null : undefined;
}

/**
 * The jobs that may start as far as places and waiting times go, in order: first restores that somebody waits for, then
 * other jobs that somebody waits for, then the rest, each group in the order in which they were queued.
 */
export function startable(
  queued: readonly JobRecord[],
  taken: readonly Held[],
  placesOf: (record: JobRecord) => JobPlaces,
  nowMs: number,
): readonly JobRecord[] {
  const yields = yieldsToEarlier(queued);
  return queued
    .filter(({ bookkeeping }) => isDue(bookkeeping.retryAt, nowMs))
    .filter((record) => !yields(record))
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

/** Milliseconds after which conditions and limits are checked again while a job waits or runs. */
export const LOOK_AGAIN_MS = 30_000;

export interface LookNow {
  readonly queued: readonly JobRecord[];
  /** Whether a job is running. */
  readonly works: boolean;
  /** Null when there is no pause, or one without an end. */
  readonly pausedUntil: number | null;
  readonly nowMs: number;
  /** Whether several jobs share an upload limit. */
  readonly shares: boolean;
}

/**
 * When the runner looks at the queue again if no event makes it look earlier. Milliseconds until the next look;
 * undefined when there is nothing to look at.
 */
export function untilNextLook({ queued, works, pausedUntil, nowMs, shares }: LookNow): number | undefined {
  if (queued.length === 0 && pausedUntil === null && !works) return undefined;
  const times = [...queued.map(({ bookkeeping }) => bookkeeping.retryAt ?? 0), pausedUntil ?? 0];
  // A time in the past does not matter: that job waits for something else.
  const longest = shares ? SHARE_AGAIN_MS : LOOK_AGAIN_MS;
  return Math.min(longest, ...times.filter((at) => at > nowMs).map((at) => at - nowMs));
}
