/**
 * A pass: the same backup to several destinations, one job for each. One job at a time reads the source; what it has
 * made is copied by the others.
 */
import { isDeepStrictEqual } from 'node:util';
import { BugError, RequestError } from '../base/errors.ts';
import type { JobRecord } from '../db/jobs.ts';
import type { JobBook } from './job-book.ts';
import { inPass, isTerminal } from './job-states.ts';
import type { Noted } from './agent.ts';
import type { BackupSpec, Job, JobError, JobSpec, JobTrigger, PlainWait } from './job.ts';
import { isPersons, requireRoom, type JobPlaces, type PlacesOf } from './queue.ts';

/** What a job does for its pass. */
export type PassPart =
  | { readonly kind: 'alone' }
  /** `waiting`: those that are to get what it makes. */
  | { readonly kind: 'reads'; readonly pass: string; readonly waiting: readonly Job[] }
  /** `from`: those that have made it, at least one. */
  | { readonly kind: 'copies'; readonly pass: string; readonly from: readonly Job[] }
  /** The source must not be read: the command before has failed for another one. */
  | { readonly kind: 'refused'; readonly error: JobError };

const ALONE: PassPart = { kind: 'alone' };

/** @param members all of the pass */
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

/** Who copies leaves the source to others. */
export function placesOfPart(spec: JobSpec, part: PassPart, placesOf: PlacesOf): JobPlaces {
  const places = placesOf(spec);
  return part.kind === 'copies' || part.kind === 'refused' ? { ...places, source: null } : places;
}

/**
 * The same jobs, those of each pass in such an order that who has its destination on this machine comes first: what a
 * reader stores is read again by the others. Other jobs keep their places.
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
 * The one that was reading the source when its engine or the agent ended, and that can go on at once with what it has
 * stored: the others let it.
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

/** What a job of a pass is to say that it waits for; undefined when that need not change. */
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
  /** The same but for their destinations, in the order in which they are to read the source. */
  readonly specs: readonly BackupSpec[];
  readonly trigger: JobTrigger;
  /** Used when a new pass is begun. */
  readonly pass: string;
  /** Whether a job of that pass reads the source just now. */
  readonly isRead: (pass: string) => boolean;
  /** Called with the first job that is new in the transaction that stores all of them. */
  readonly also?: Noted | undefined;
}

/**
 * Queues one job for each destination. When nobody asked in person, jobs that wait already to do the same are taken
 * along, unless what they are to copy is being made just now.
 * @returns the jobs in the order of `specs`
 * @throws {RequestError} QUEUE_FULL
 */
export function submitPass(book: JobBook, request: PassRequest): readonly Job[] {
  const { specs, trigger, pass, isRead, also } = request;
  const queued = book.queued();
  const waiting = isPersons(trigger)
    ? []
    : queued.filter(
        ({ job, bookkeeping }) =>
          job.started_at === null && (bookkeeping.pass === null || !isRead(bookkeeping.pass)),
      );
  const known = specs.map((spec) => waiting.find(({ job }) => isDeepStrictEqual(job.spec, spec)));
  // What another one has read before is not what is asked for now: in a pass of their own they read anew.
  const joined = known.some((record) => record !== undefined && copiesOf(book, record))
    ? undefined
    : onePass(known);
  if (joined !== undefined) return joined.map(({ job }) => job);
  requireRoom(queued, trigger, known.filter((record) => record === undefined).length);
  const fresh = specs.filter((_, index) => known[index] === undefined);
  const added = book.addAll(fresh, trigger, { pass, also }).values();
  return known.map((record) => {
    if (record === undefined) return (added.next().value ?? unadded()).job;
    return book.change(record.job.id, (found) => inPass(found, pass)).job;
  });
}

/** Whether it gets what another one of its pass has made. */
export function copiesOf(book: Pick<JobBook, 'ofPass'>, record: JobRecord): boolean {
  return partOf(record, book.ofPass(record.bookkeeping.pass)).kind === 'copies';
}

function unadded(): never {
  throw new BugError('A job of a pass was not added');
}

/** All of them, when nothing has to be added and they belong together already. */
function onePass(known: readonly (JobRecord | undefined)[]): readonly JobRecord[] | undefined {
  const there = known.filter((record) => record !== undefined);
  const passes = new Set(there.map(({ bookkeeping }) => bookkeeping.pass));
  return there.length === known.length && passes.size === 1 && !passes.has(null) ? there : undefined;
}

/** What a job fails with that may not read the source because another one's command has failed. */
export function refusalOf({ code, message, details }: JobError): RequestError {
  return new RequestError(code, message, { details: details as Record<string, string | number | boolean> });
}
