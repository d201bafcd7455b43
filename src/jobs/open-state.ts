/** Opens the state database together with its journal, and brings each up to date from the other. */
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
  /** Damage that was found on opening, as sentences; empty when there was none. */
  readonly findings: readonly string[];
  /** The database was lost. What the journal lacks may still be learned from the destinations. */
  readonly lost: boolean;
  /** Appends a correction for a journal line whose transaction failed: at once, or as soon as there is space on the disk. */
  readonly takeBack: (correction: DurableRecord) => void;
  /** Rewrites the journal from the database. To be called after much was added to the database but not to the journal. */
  rewriteJournal(): void;
  /** Removes old rows and shortens the journal. To be called periodically. */
  tidy(): void;
  close(): void;
}

/**
 * Opens `state.db` and `journal/` in the state directory. The journal supplies what the database lacks: everything when
 * the database was damaged or gone, the last changes when an older copy was put back. A journal that lost lines itself
 * overrides no setting of an intact database, and is rewritten from it.
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
    // Corrections go first: a record that the database rejected must not stay in the journal after there is space again.
    const append = (record: DurableRecord): void => {
      correct();
      journal.append(record);
    };
    const correctIfPossible = (): void => {
      try {
        correct();
      } catch (error) {
        // Tried again with the next line, at the next `tidy`, or on closing.
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
        // Removing a line needs no space on a full disk, while appending one does, and the agent may end before there is space.
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
  /** Whether the readable lines of a damaged journal contradict the database, which takes precedence. */
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
      // The journal may still have old jobs that were pruned. Without new order numbers they would count as the newest,
      // and be kept.
      database.jobs.reorder();
      database.jobs.prune(nowMs);
    }
    const isBehind = database.fresh || ahead.some((id) => database.jobs.record(id) !== undefined);
    // The readable line may be older than a lost one: an alarm that was raised again would disappear.
    const isKept = damagedLines > 0 && !isBehind;
    const told = isKept ? said(database.durable()) : undefined;
    for (const entry of found) {
      if (entry.kind === 'job') continue;
      if (!isKept || entry.kind === 'credential') database.restore(entry);
    }
    return { jobs, isContradicted: told !== undefined && !isDeepStrictEqual(told, said(found)) };
  });
}

/** The settings and repositories in these records. */
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
 * Whether to believe the journal's record of a job rather than the row. The database may have lost the end of its log
 * or been changed by another program, while journal lines are sealed.
 */
function isTruer(
  { job: written, bookkeeping }: JobRecord,
  { job: known, bookkeeping: kept }: JobRecord,
): boolean {
  // Lines of an earlier version lack newer fields, which its rows have with their defaults.
  const filled = { ...NO_BOOKKEEPING, ...bookkeeping };
  if (isTerminal(written.status)) return !isDeepStrictEqual([written, filled], [known, kept]);
  // The row has an end that the journal does not: its line was lost.
  if (isTerminal(known.status)) return false;
  const ahead = stepsOf(written, bookkeeping) - stepsOf(known, kept);
  return (
    ahead > 0 || (ahead === 0 && !isDeepStrictEqual(lastingOf(written, bookkeeping), lastingOf(known, kept)))
  );
}

/** Whether the row lacks the last steps of the job. */
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

/** The fields that change only together with a journal line, and the names of all fields. */
function lastingOf(job: Job, bookkeeping: JobBookkeeping): unknown {
  const { id, type, status, spec, trigger, attempt, created_at, started_at, progress } = job;
  const names = [job, progress, bookkeeping].map((record) => Object.keys(record).sort());
  return { id, type, status, spec, trigger, attempt, created_at, started_at, names };
}

/** Rewrites the journal from the database when it lacks records, as after it was removed or damaged. */
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
  // Jobs that were pruned again because of their age do not count.
  const stayed = restored.jobs.filter((id) => database.jobs.record(id) !== undefined).length;
  if (database.setAside !== null) {
    findings.push(`The state database was damaged. It was set aside as ${database.setAside}.`);
  }
  if (stayed > 0) findings.push(`${stayed} jobs were recovered from the journal.`);
  // A single incomplete line is what a power failure leaves, and what it was to record never happened.
  if (damagedLines > 1 || damagedWholeLines > 0 || restored.isContradicted) {
    const lines =
      damagedLines === 1 ? '1 line of the journal is' : `${damagedLines} lines of the journal are`;
    findings.push(`${lines} damaged.`);
  }
  return findings;
}
