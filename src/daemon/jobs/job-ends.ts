/**
 * Reports each ended job by notices and alarms: at once or, if that fails, later. The list of unreported ends survives
 * a crash, so that no failure and no alarm is lost.
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
  /** What else follows from the end of a job, in this order. One that throws does not keep the others from running. */
  readonly others: readonly ((job: Job) => void)[];
  readonly trouble: (error: unknown) => void;
}

/** Also in the journal, so that nothing is reported twice when an older copy of the database is put back. */
const UNTOLD = 'ends to tell';
/** Ends that wait; the oldest ones beyond that are dropped. Far more than are ever behind. */
const MOST_UNTOLD = 100;

/** An unreported end, with the facts by which alarms are judged. */
interface Untold {
  readonly id: string;
  readonly compared: SourceComparison | null;
  /** The job copied a snapshot, so it says nothing about the present state of the source. */
  readonly copied: boolean;
}

export class JobEnds {
  readonly #parts: JobEndParts;
  /** Jobs whose notices were sent, but whose end could not be removed from the list yet. */
  readonly #told = new Set<string>();

  constructor(parts: JobEndParts) {
    this.#parts = parts;
  }

  /** To be called in the transaction that stores the end. @throws {StateError} WRITE_ERROR, and what SQLite throws */
  keep(job: Job, outcome: EngineOutcome | null): void {
    // A canceled job causes neither a notice nor an alarm.
    if (job.status === 'canceled') return;
    const { id } = job;
    const untold = { id, compared: outcome?.compared ?? null, copied: outcome?.copied === true };
    this.#write([...this.#without(job), untold].slice(-MOST_UNTOLD));
  }

  /** To be called when the end cannot be stored for now. A failure is reported from memory, as there may be no space for days. */
  delayed(job: Job): void {
    if (job.status === 'failed') this.#tellOnce(job);
  }

  /** To be called when the end is stored. Never throws. */
  ended(job: Job): void {
    this.#guarded(() => {
      const untold = this.#read().find(({ id }) => id === job.id);
      if (untold !== undefined) this.#tell(job, untold);
    });
    for (const other of this.#parts.others) this.#guarded(() => other(job));
  }

  /** To be called when a job that has ended got a warning since: what was said of its end is no longer all. Never throws. */
  warned(job: Job): void {
    this.#guarded(() => tellOfJob(job, this.#parts));
  }

  /** Reports the ends in the list. To be called at the start and periodically. Never throws. */
  makeUp(): void {
    const { jobs } = this.#parts.database;
    this.#guarded(() => {
      for (const untold of this.#read()) {
        const job = jobs.get(untold.id);
        // The list is written to the journal before the job, so after a crash between the two the job has not ended.
        if (job !== undefined && !isTerminal(job.status)) continue;
        this.#guarded(() =>
          job === undefined ? this.#write(this.#without(untold)) : this.#tell(job, untold),
        );
      }
    });
  }

  /** Notices come first, as they need no space on the disk. */
  #tell(job: Job, { compared, copied }: Untold): void {
    const { database, alarms, notifier, clock } = this.#parts;
    this.#tellOnce(job);
    // In one transaction, so that no run is judged twice.
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
