/** The state database together with its journal: whichever of them knows more brings the other up to date. */
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { durableName, type DurableRecord } from '../db/durable.ts';
import type { JobRecord } from '../db/jobs.ts';
import { openStateDatabase, type StateDatabase } from '../db/state-database.ts';
import { openJournal, type Journal, type JournalOptions } from './journal.ts';
import { isTerminal } from './job-states.ts';

export interface AgentState {
  readonly database: StateDatabase;
  readonly journal: Journal;
  /** What was found wrong when it was opened, as sentences; empty when all was well. */
  readonly findings: readonly string[];
  /** Shortens what has grown: to be called now and then. */
  tidy(): void;
  close(): void;
}

/**
 * Opens `state.db` and `journal/` in the state directory. What is missing in the database is taken from the journal:
 * all of it when the database was damaged or gone, the last of it when an older copy was put back.
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
    const restored = bringBack(database, journal.found);
    if (database.fresh && journal.found.length > 0) database.events.startAbove(clock.now());
    writeMissing(database, journal);
    database.onDurable((record) => journal.append(record));
    const tidy = (): void => {
      database.prune();
      journal.rotateIfDue(() => everything(database));
    };
    tidy();
    return {
      database,
      journal,
      findings: findingsOf(database, journal, restored),
      tidy,
      close() {
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

/** Returns how many jobs the database did not know, or knew in an earlier state. */
function bringBack(database: StateDatabase, found: readonly DurableRecord[]): number {
  let jobs = 0;
  database.transaction(() => {
    for (const entry of found) {
      if (entry.kind !== 'job') database.restore(entry);
      else if (bringBackJob(database, entry.record)) jobs += 1;
    }
  });
  return jobs;
}

function bringBackJob({ jobs }: StateDatabase, record: JobRecord): boolean {
  const known = jobs.record(record.job.id);
  if (known === undefined) {
    jobs.insert(record);
    return true;
  }
  if (isTerminal(known.job.status) || !isTerminal(record.job.status)) return false;
  jobs.update(record);
  return true;
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

function findingsOf(database: StateDatabase, journal: Journal, restored: number): readonly string[] {
  const findings: string[] = [];
  if (database.setAside !== null) {
    findings.push(`The state database was damaged. It was set aside as ${database.setAside}.`);
  }
  if (restored > 0) findings.push(`${restored} jobs were taken from the journal.`);
  if (journal.damagedLines > 1) findings.push(`${journal.damagedLines} lines of the journal are damaged.`);
  return findings;
}
