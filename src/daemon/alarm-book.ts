/** Alarms that wait for an answer, and what is usual for each source. */
import type { Clock } from '../base/clock.ts';
import type { SettingStore } from '../db/settings.ts';
import type { StatusCheck } from '../jobs/agent.ts';
import type { JobBook } from '../jobs/job-book.ts';
import type { Job } from '../jobs/job.ts';
import {
  NO_HISTORY,
  frozenBefore,
  judgeRun,
  withRun,
  type Alarm,
  type RunFacts,
  type SourceHistory,
} from '../watch/alarms.ts';

const OPEN = 'alarms';

export class Alarms {
  readonly #store: SettingStore;
  readonly #book: JobBook;
  readonly #clock: Clock;

  constructor(store: SettingStore, book: JobBook, clock: Clock) {
    this.#store = store;
    this.#book = book;
    this.#clock = clock;
  }

  open(): readonly Alarm[] {
    return (read(this.#store.get(OPEN)) as readonly Alarm[] | undefined) ?? [];
  }

  /** Returns what is new about a backup that has ended. */
  judge(job: Job): readonly Alarm[] {
    const { spec } = job;
    if (spec.type !== 'backup' || job.status !== 'completed' || spec.options.dry_run) return [];
    const key = `history ${spec.destination} ${spec.source}`;
    const kept = (read(this.#store.get(key)) as Kept | undefined) ?? { files: null, history: NO_HISTORY };
    const facts = factsOf(job, spec.source, kept.files, this.#clock.now());
    const raised = judgeRun(facts, kept.history, this.open());
    const history = raised.length > 0 ? kept.history : withRun(kept.history, facts);
    this.#store.set(key, JSON.stringify({ files: job.files_done, history } satisfies Kept));
    if (raised.length === 0) return [];
    this.#store.set(OPEN, JSON.stringify([...this.open(), ...raised]));
    for (const alarm of raised) this.#book.feed.append({ kind: 'alarm', jobId: job.id, data: { ...alarm } });
    return raised;
  }

  /** The person has seen them; retention goes on. */
  acknowledge(): readonly Alarm[] {
    const open = this.open();
    this.#store.set(OPEN, undefined);
    return open;
  }

  frozenBefore(): number | null {
    return frozenBefore(this.open());
  }

  /** Without paths: anybody on the machine may read them. */
  checks(): readonly StatusCheck[] {
    const open = this.open();
    if (open.length === 0) return [];
    return [
      {
        name: 'alarms',
        status: 'warning',
        message: `A source looks damaged (${open.map(({ kind }) => kind).join(', ')}). Older snapshots are kept until the alarm is acknowledged.`,
      },
    ];
  }
}

interface Kept {
  readonly files: number | null;
  readonly history: SourceHistory;
}

function factsOf(job: Job, source: string, filesBefore: number | null, at: number): RunFacts {
  const { progress } = job;
  return {
    source,
    at,
    filesBefore,
    files: job.files_done,
    filesNew: progress.files_new,
    filesChanged: progress.files_changed,
    bytesNew: Math.max(0, progress.bytes_done - progress.bytes_deduplicated),
    bytesStored: progress.bytes_uploaded,
  };
}

function read(text: string | undefined): unknown {
  return text === undefined ? undefined : JSON.parse(text);
}
