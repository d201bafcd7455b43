/**
 * A pass: the same backup to several destinations, one job for each. One job at a time reads the source; the others
 * copy the snapshot that it made.
 */
import { isDeepStrictEqual } from 'node:util';
import { BugError, RequestError } from '../base/errors.ts';
import type { JobRecord } from '../db/jobs.ts';
import type { JobBook } from './job-book.ts';
import { inPass, isTerminal } from './job-states.ts';
import type { Noted } from './agent.ts';
import type { BackupSpec, Job, JobError, JobSpec, JobTrigger, PlainWait } from './job.ts';
import { isPersons, requireRoom, type JobPlaces, type PlacesOf } from './queue.ts';

/** The role of a job in its pass. */
export type PassPart =
  | { readonly kind: 'alone' }
  /** `waiting`: the jobs that are to copy the snapshot. */
  | { readonly kind: 'reads'; readonly pass: string; readonly waiting: readonly Job[] }
  /** `from`: the jobs that have the snapshot, at least one. */
  | { readonly kind: 'copies'; readonly pass: string; readonly from: readonly Job[] }
  /** The job must not read the source because the command before the backup has failed for another job. */
  | { readonly kind: 'refused'; readonly error: JobError };

const ALONE: PassPart = { kind: 'alone' };

/** @param members all jobs of the pass */
export function partOf({ job, bookkeeping }: JobRecord, members: readonly JobRecord[]): PassPart {
  const { pass, readsItself } = bookkeeping;
  if (pass === null) return ALONE;
  const others = members.map((one) => one.job).filter(({ id }) => id !== job.id);
  const from = others.filter((other) => other.status === 'completed' && other.snapshot_id !== null);
  if (from.length > 0 && !readsItself) return { kind: 'copies', pass, from };
  const failed = others.find(({ error, status }) => status === 'failed' && error?.code === 'HOOK_FAILED');
  if (failed?.error != null) return { kind: 'refused', error: failed.error };
  return { kind: 'reads', pass, waiting: others.filter(({ status }) => !isTerminal(status)) };
}

/** A copying job does not occupy the source. */
export function placesOfPart(spec: JobSpec, part: PassPart, placesOf: PlacesOf): JobPlaces {
  const places = placesOf(spec);
  return part.kind === 'copies' || part.kind === 'refused' ? { ...places, source: null } : places;
}

/**
 * Reorders the jobs of each pass so that those with a destination on this machine come first: the snapshot that the
 * reader stores is read again by the others. Other jobs keep their positions.
 */
export function nearFirst(
  records: readonly JobRecord[],
  isFar: (record: JobRecord) => boolean,
): readonly JobRecord[] {
  const members = Map.groupBy(records, ({ bookkeeping }) => bookkeeping.pass);
  const ordered = new Map(
    [...members].map(([pass, some]) => {
      const sorted = pass === null ? some : some.toSorted((a, b) => Number(isFar(a)) - Number(isFar(b)));
      return [pass, sorted.values()] as const;
    }),
  );
  return records.map((record) => ordered.get(record.bookkeeping.pass)?.next().value ?? record);
}

/**
 * The job that was reading the source when its engine or the agent ended, and that can go on at once with what it has
 * stored. Other jobs of the pass give way to it.
 */
export function interruptedReader(
  { job }: JobRecord,
  part: PassPart,
  members: readonly JobRecord[],
): JobRecord | undefined {
  if (part.kind !== 'reads' || job.started_at !== null) return undefined;
  return members.find(
    ({ job: other }) =>
      other.status === 'queued' &&
      other.started_at !== null &&
      other.error === null &&
      other.waiting_for === null,
  );
}

/** The wait that a job of a pass is to show (null: none); undefined when it need not change. */
export function passWait(
  { job, bookkeeping }: JobRecord,
  part: PassPart,
  isRead: (pass: string) => boolean,
): PlainWait | null | undefined {
  const waits =
    part.kind === 'reads' &&
    bookkeeping.pass !== null &&
    bookkeeping.retryAt === null &&
    isRead(bookkeeping.pass);
  const said = job.waits?.code ?? null;
  if (waits) return said === null ? 'reader' : undefined;
  return said === 'reader' ? null : undefined;
}

export interface PassRequest {
  /** Equal except for their destinations, in the order in which they are to read the source. */
  readonly specs: readonly BackupSpec[];
  readonly trigger: JobTrigger;
  /** Id of the pass, if a new one is begun. */
  readonly pass: string;
  /** Whether a job of that pass is reading the source at the moment. */
  readonly isRead: (pass: string) => boolean;
  /** Called with the first new job, in the transaction that stores all of them. */
  readonly also?: Noted | undefined;
}

/**
 * Queues one job for each destination. When no person asked for it, identical jobs that already wait join the pass,
 * unless the snapshot that they are to copy is being made at the moment.
 * @returns the jobs in the order of `specs`
 * @throws {RequestError} QUEUE_FULL
 */
export function submitPass(book: JobBook, request: PassRequest): readonly Job[] {
  const { specs, trigger, pass, isRead, also } = request;
  const canJoin = ({ job, bookkeeping }: JobRecord): boolean =>
    job.started_at === null && (bookkeeping.pass === null || !isRead(bookkeeping.pass));
  const known = specs.map((spec) =>
    isPersons(trigger)
      ? undefined
      : book.queuedLike(spec).find((record) => canJoin(record) && isDeepStrictEqual(record.job.spec, spec)),
  );
  // A snapshot that was read earlier lacks what changed since: the waiting jobs move to a new pass that reads the source again.
  const joined = known.some((record) => record !== undefined && copiesOf(book, record))
    ? undefined
    : onePass(known);
  if (joined !== undefined) return joined.map(({ job }) => job);
  if (isPersons(trigger)) requireRoom(book, specs.length);
  const fresh = specs.filter((_, index) => known[index] === undefined);
  const added = book.addAll(fresh, trigger, { pass, also }).values();
  return known.map((record) => {
    if (record === undefined) return (added.next().value ?? unadded()).job;
    return book.change(record.job.id, (found) => inPass(found, pass)).job;
  });
}

/** Whether the job copies a snapshot that another job of its pass has made. */
export function copiesOf(book: Pick<JobBook, 'ofPass'>, record: JobRecord): boolean {
  return partOf(record, book.ofPass(record.bookkeeping.pass)).kind === 'copies';
}

function unadded(): never {
  throw new BugError('A job of a pass was not added');
}

/** The waiting jobs, when there is one for each destination and all belong to the same pass. */
function onePass(known: readonly (JobRecord | undefined)[]): readonly JobRecord[] | undefined {
  const there = known.filter((record) => record !== undefined);
  const passes = new Set(there.map(({ bookkeeping }) => bookkeeping.pass));
  return there.length === known.length && passes.size === 1 && !passes.has(null) ? there : undefined;
}

/** The error of a job that may not read the source because the hook of another job of the pass failed. */
export function refusalOf({ code, message, details }: JobError): RequestError {
  return new RequestError(code, message, { details: details as Record<string, string | number | boolean> });
}
