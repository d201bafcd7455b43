/**
 * Tells of each job that has ended: at once, and what could not be told then later, after a crash too, so that no failure
 * and no alarm is lost.
 */
import type { Clock } from '../../base/clock.ts';
import type { StateDatabase } from '../../db/state-database.ts';
import type { EngineOutcome, SourceComparison } from '../../engine/protocol.ts';
import { isTerminal } from '../../jobs/job-states.ts';
import type { Job } from '../../jobs/job.ts';
import type { Notifier } from '../../notify/notifier.ts';
import { tellOfJob, type TellOfJob } from './after-job.ts';
import { tellRaised } from '../alarms/alarm-reminder.ts';
import type { Alarms } from '../alarms/alarm-book.ts';

export interface JobEndParts extends Pick<TellOfJob, 'stillFailing'> {
  readonly database: Pick<StateDatabase, 'jobLog' | 'jobs' | 'settings' | 'transaction'>;
  readonly alarms: Pick<Alarms, 'judge'>;
  readonly notifier: Pick<Notifier, 'notify'>;
  readonly clock: Clock;
  /** What else follows from the end of a job, in this order; one that fails keeps none of the others from its work. */
  readonly others: readonly ((job: Job) => void)[];
  readonly trouble: (error: unknown) => void;
}

/** Survives the database, by the journal: what was told is not told again when an older copy of it is put back. */
const UNTOLD = 'ends to tell';
/** Ends that wait, the oldest of which are given up: far more than are ever behind. */
const MOST_UNTOLD = 100;

/** An end that is not told yet, with what alarms are judged by. */
interface Untold {
  readonly id: string;
  readonly compared: SourceComparison | null;
  /** It says nothing of how the source is now. */
  readonly copied: boolean;
}

export class JobEnds {
  readonly #parts: JobEndParts;
  /** Jobs of which notices were sent, while the rest could not be done yet. */
  readonly #told = new Set<string>();

  constructor(parts: JobEndParts) {
    this.#parts = parts;
  }

  /** To be called in the transaction that stores the end. @throws {StateError} WRITE_ERROR, and what SQLite throws */
  keep(job: Job, outcome: EngineOutcome | null): void {
    // Nobody is told of it, and it raises no alarm.
    if (job.status === 'canceled') return;
    const { id } = job;
    const untold = { id, compared: outcome?.compared ?? null, copied: outcome?.copied === true };
    this.#write([...this.#without(job), untold].slice(-MOST_UNTOLD));
  }

  /** The end cannot be stored for now. A failure is told from memory: there may be no room for days. */
  delayed(job: Job): void {
    if (job.status === 'failed') this.#tellOnce(job);
  }

  /** The end is stored. Never throws. */
  ended(job: Job): void {
    this.#guarded(() => {
      const untold = this.#read().find(({ id }) => id === job.id);
      if (untold !== undefined) this.#tell(job, untold);
    });
    for (const other of this.#parts.others) this.#guarded(() => other(job));
  }

  /** Tells what has not been told: to be called at the start, and now and then. Never throws. */
  makeUp(): void {
    const { jobs } = this.#parts.database;
    this.#guarded(() => {
      for (const untold of this.#read()) {
        const job = jobs.get(untold.id);
        // The crash came between its line in the journal and that of the job.
        if (job !== undefined && !isTerminal(job.status)) continue;
        this.#guarded(() =>
          job === undefined ? this.#write(this.#without(untold)) : this.#tell(job, untold),
        );
      }
    });
  }

  /** The notices first: they need no room. */
  #tell(job: Job, { compared, copied }: Untold): void {
    const { database, alarms, notifier, clock } = this.#parts;
    this.#tellOnce(job);
    // Both or neither, so that no run is judged twice.
    const raised = database.transaction(() => {
      const found = copied ? [] : alarms.judge(job, compared);
      this.#write(this.#without(job));
      return found;
    });
    this.#told.delete(job.id);
    tellRaised(raised, { notifier, clock });
  }

  #tellOnce(job: Job): void {
    if (this.#told.has(job.id)) return;
    tellOfJob(job, this.#parts);
    this.#told.add(job.id);
  }

  #without({ id }: { readonly id: string }): readonly Untold[] {
    return this.#read().filter((untold) => untold.id !== id);
  }

  #read(): readonly Untold[] {
    const text = this.#parts.database.settings.get(UNTOLD);
    return text === undefined ? [] : (JSON.parse(text) as readonly Untold[]);
  }

  #write(untold: readonly Untold[]): void {
    const text = untold.length === 0 ? undefined : JSON.stringify(untold);
    this.#parts.database.settings.set(UNTOLD, text);
  }

  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#parts.trouble(error);
    }
  }
}
