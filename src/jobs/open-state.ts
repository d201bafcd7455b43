/** The state database together with its journal: whichever of them knows more brings the other up to date. */
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../base/clock.ts';
import { StateError } from '../base/errors.ts';
import { durableName, type DurableRecord } from '../db/durable.ts';
import { NO_BOOKKEEPING, type JobBookkeeping, type JobRecord } from '../db/jobs.ts';
import { openStateDatabase, type StateDatabase } from '../db/state-database.ts';
import type { Job } from './job.ts';
import { openJournal, type Journal, type JournalOptions } from './journal.ts';
import { isTerminal } from './job-states.ts';

export interface AgentState {
  readonly database: StateDatabase;
  readonly journal: Journal;
  /** What was found wrong when it was opened, as sentences; empty when all was well. */
  readonly findings: readonly string[];
  /** The database was lost. What the journal did not have either may still be learned from the destinations. */
  readonly lost: boolean;
  /** Corrects the journal, which may say what the database could not take: now, or as soon as there is room. */
  readonly takeBack: (correction: DurableRecord) => void;
  /** To be called when much was put into the database that the journal has not been told of. */
  rewriteJournal(): void;
  /** Shortens what has grown: to be called now and then. */
  tidy(): void;
  close(): void;
}

/**
 * Opens `state.db` and `journal/` in the state directory. What is missing in the database is taken from the journal:
 * all of it when the database was damaged or gone, the last of it when an older copy was put back. A journal that lost
 * lines itself overrides no setting of a database that is whole, and is written anew from it.
 * @throws {StateError}
 */
export function openAgentState(
  stateDirectory: string,
  clock: Clock,
  options: JournalOptions = {},
): AgentState {
  const database = openStateDatabase(join(stateDirectory, 'state.db'), clock);
  try {
    const journal = openJournal(join(stateDirectory, 'journal'), options);
    const restored = bringBack(database, journal, clock.now());
    if (database.fresh && journal.found.length > 0) database.events.startAbove(clock.now());
    writeMissing(database, journal);
    const corrections: DurableRecord[] = [];
    const correct = (): void => {
      for (let next = corrections[0]; next !== undefined; next = corrections[0]) {
        journal.append(next);
        corrections.shift();
      }
    };
    // What the database could not take must not stand in the journal for longer than the disk is full.
    const append = (record: DurableRecord): void => {
      correct();
      journal.append(record);
    };
    const correctIfPossible = (): void => {
      try {
        correct();
      } catch (error) {
        // With the next line, the next tidying or the end.
        if (!(error instanceof StateError)) throw error;
      }
    };
    database.onDurable(append);
    const tidy = (): void => {
      correctIfPossible();
      database.prune();
      journal.rotateIfDue(() => everything(database));
    };
    tidy();
    return {
      database,
      journal: { ...journal, append },
      findings: findingsOf(database, journal, restored),
      lost: database.setAside !== null || (database.fresh && journal.wasThere),
      takeBack(correction) {
        // On a full disk a line can be taken away where none can be added, and the agent may end before there is room.
        if (journal.withdraw(durableName(correction))) return;
        corrections.push(correction);
        correctIfPossible();
      },
      rewriteJournal: () => journal.rotate(() => everything(database)),
      tidy,
      close() {
        correctIfPossible();
        journal.close();
        database.close();
      },
    };
  } catch (error) {
    database.close();
    throw error;
  }
}

function* everything(database: StateDatabase): Iterable<DurableRecord> {
  yield* database.durable();
  for (const record of database.jobs.all()) yield { kind: 'job', record };
}

interface BroughtBack {
  /** Ids of the jobs that the database did not know, or knew in another state. */
  readonly jobs: readonly string[];
  /** The readable lines of a damaged journal say otherwise than the database, which counts. */
  readonly isContradicted: boolean;
}

function bringBack(database: StateDatabase, { found, damagedLines }: Journal, nowMs: number): BroughtBack {
  const jobs: string[] = [];
  const ahead: string[] = [];
  let isAdded = false;
  return database.transaction(() => {
    for (const { record } of found.filter((entry) => entry.kind === 'job')) {
      const { id } = record.job;
      const known = database.jobs.record(id);
      if (!bringBackJob(database, record, known)) continue;
      isAdded ||= known === undefined;
      jobs.push(id);
      if (known === undefined || isAhead(record, known)) ahead.push(id);
    }
    if (isAdded && !database.fresh) {
      // The journal still has what was forgotten as old: what is added last would pass for the newest, and be kept.
      database.jobs.reorder();
      database.jobs.prune(nowMs);
    }
    const isBehind = database.fresh || ahead.some((id) => database.jobs.record(id) !== undefined);
    // The line that can be read may be older than the one that cannot: an alarm that was raised again would be gone.
    const isKept = damagedLines > 0 && !isBehind;
    const told = isKept ? said(database.durable()) : undefined;
    for (const entry of found) {
      if (entry.kind === 'job') continue;
      if (!isKept || entry.kind === 'credential') database.restore(entry);
    }
    return { jobs, isContradicted: told !== undefined && !isDeepStrictEqual(told, said(found)) };
  });
}

/** What settings and repositories are according to these records. */
function said(records: Iterable<DurableRecord>): ReadonlyMap<string, DurableRecord> {
  return new Map(
    [...records]
      .filter(
        (record) => record.kind === 'repository' || (record.kind === 'setting' && record.value !== null),
      )
      .map((record) => [durableName(record), record]),
  );
}

function bringBackJob({ jobs }: StateDatabase, record: JobRecord, known: JobRecord | undefined): boolean {
  if (known === undefined) {
    jobs.insert(record);
    return true;
  }
  if (!isTruer(record, known)) return false;
  jobs.update(record);
  return true;
}

/**
 * Whether what the journal says of a job is to be believed: the database may have lost the end of its log, or been
 * changed by somebody else, while the lines of a journal are sealed.
 */
function isTruer(
  { job: written, bookkeeping }: JobRecord,
  { job: known, bookkeeping: kept }: JobRecord,
): boolean {
  // What an earlier version did not know is as it is in rows that it wrote.
  const filled = { ...NO_BOOKKEEPING, ...bookkeeping };
  if (isTerminal(written.status)) return !isDeepStrictEqual([written, filled], [known, kept]);
  // The line that said so was lost.
  if (isTerminal(known.status)) return false;
  const ahead = stepsOf(written, bookkeeping) - stepsOf(known, kept);
  return (
    ahead > 0 || (ahead === 0 && !isDeepStrictEqual(lastingOf(written, bookkeeping), lastingOf(known, kept)))
  );
}

/** Whether the database does not have the last steps of the job. */
function isAhead(
  { job: written, bookkeeping }: JobRecord,
  { job: known, bookkeeping: kept }: JobRecord,
): boolean {
  if (isTerminal(written.status)) return !isTerminal(known.status);
  return stepsOf(written, bookkeeping) > stepsOf(known, kept);
}

/** Rises with every end of an attempt. */
function stepsOf({ attempt }: Job, { deaths, retries, cancelRequested }: JobBookkeeping): number {
  return attempt + deaths + retries + Number(cancelRequested);
}

/** What changes with a line in the journal alone; the names of all the rest. */
function lastingOf(job: Job, bookkeeping: JobBookkeeping): unknown {
  const { id, type, status, spec, trigger, attempt, created_at, started_at, progress } = job;
  const names = [job, progress, bookkeeping].map((record) => Object.keys(record).sort());
  return { id, type, status, spec, trigger, attempt, created_at, started_at, names };
}

/** A journal that was removed, or damaged, gets from the database what it lacks. */
function writeMissing(database: StateDatabase, journal: Journal): void {
  const written = new Map(journal.found.map((record) => [durableName(record), record]));
  for (const record of everything(database)) {
    const there = written.get(durableName(record));
    const stale =
      there?.kind === 'job' && record.kind === 'job' && there.record.job.status !== record.record.job.status;
    if (there !== undefined && !stale) continue;
    journal.rotate(() => everything(database));
    return;
  }
}

function findingsOf(
  database: StateDatabase,
  { damagedLines, damagedWholeLines }: Journal,
  restored: BroughtBack,
): readonly string[] {
  const findings: string[] = [];
  // Without those that are too old to be kept.
  const stayed = restored.jobs.filter((id) => database.jobs.record(id) !== undefined).length;
  if (database.setAside !== null) {
    findings.push(`The state database was damaged. It was set aside as ${database.setAside}.`);
  }
  if (stayed > 0) findings.push(`${stayed} jobs were taken from the journal.`);
  // Half a line of what never came to be is what a loss of power leaves.
  if (damagedLines > 1 || damagedWholeLines > 0 || restored.isContradicted) {
    const lines =
      damagedLines === 1 ? '1 line of the journal is' : `${damagedLines} lines of the journal are`;
    findings.push(`${lines} damaged.`);
  }
  return findings;
}
