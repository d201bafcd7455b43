/** The open alarms of this machine, and the usual figures of each source that they are judged by. */
import type { Clock } from '../../base/clock.ts';
import type { SettingStore } from '../../db/settings.ts';
import type { ComparisonWish, SourceComparison } from '../../engine/protocol.ts';
import type { StatusCheck } from '../../jobs/agent.ts';
import type { JobBook } from '../../jobs/job-book.ts';
import { isWhole, type BackupSpec, type Job } from '../../jobs/job.ts';
import {
  NO_HISTORY,
  afterAlarm,
  afterRun,
  emptyAlarm,
  freezesOf,
  hourOf,
  judgeRun,
  withRun,
  type Alarm,
  type Freeze,
  type RunFacts,
  type SourceHistory,
} from '../../watch/alarms.ts';
import type { SnapshotPlace } from '../../watch/way-back.ts';
import { ClaimedNames, type PlacedClaim } from './claimed-names.ts';

const OPEN = 'alarms';
/** Setting: paths of sources that a person has confirmed to be empty on purpose. */
const EMPTY = 'empty sources';
/** Setting: paths of the sources in the settings at the last call of `follow`. */
const FOLLOWED = 'alarm sources';
/** Fact of an alarm about an empty source: the source had files again before the alarm was acknowledged. */
const FILLED = 'filled_since';

export class Alarms {
  readonly #store: SettingStore;
  readonly #book: JobBook;
  readonly #clock: Clock;
  readonly #names: ClaimedNames;
  /** Sources that were removed from the settings, with the time of removal. */
  readonly #removed = new Map<string, number>();

  constructor(store: SettingStore, book: JobBook, clock: Clock) {
    this.#store = store;
    this.#book = book;
    this.#clock = clock;
    this.#names = new ClaimedNames(store, clock);
  }

  open(): readonly Alarm[] {
    return [...this.#ofSources(), ...this.#names.open()];
  }

  /** Returns the new alarms about names under which write-only keys store. @param host of this machine */
  judgeClaims(claims: readonly PlacedClaim[], host: string): readonly Alarm[] {
    const raised = this.#names.judge(claims, host);
    for (const alarm of raised) this.#book.feed.append({ kind: 'alarm', jobId: null, data: { ...alarm } });
    return raised;
  }

  /** Returns the new alarms about a backup that has ended; `compared` is what its engine found, null unless it completed. */
  judge(job: Job, compared: SourceComparison | null): readonly Alarm[] {
    const { spec, status } = job;
    if (spec.type !== 'backup' || spec.options.dry_run) return [];
    // The job was requested before the source was removed from the settings.
    if (job.created_at <= (this.#removed.get(spec.source) ?? Number.NEGATIVE_INFINITY)) return [];
    const raised =
      status === 'completed' ? this.#judgeMade(job, spec, compared) : this.#judgeRefused(job, spec);
    if (raised.length === 0) return [];
    this.#store.set(OPEN, JSON.stringify([...this.#ofSources(), ...raised]));
    for (const alarm of raised) this.#book.feed.append({ kind: 'alarm', jobId: job.id, data: { ...alarm } });
    return raised;
  }

  /** The person has seen the open alarms: retention forgets snapshots again, and empty sources are accepted as empty. */
  acknowledge(): readonly Alarm[] {
    const open = this.#ofSources();
    const empty = open
      .filter(({ kind, facts }) => kind === 'empty' && !(FILLED in facts))
      .map(({ source }) => source);
    this.#setEmpty(new Set([...this.#empty(), ...empty]));
    this.#store.set(OPEN, undefined);
    const names = this.#names.open();
    this.#names.acknowledge();
    return [...open, ...names];
  }

  /** Whether a person has accepted that the source is empty. Ends when it has files again. */
  isEmptyExpected(source: string): boolean {
    return this.#empty().has(source);
  }

  /** What the next comparison of the source needs to know. */
  comparisonOf({ source, destination }: Pick<BackupSpec, 'source' | 'destination'>): ComparisonWish {
    const folders = this.#ofSources().flatMap(({ kind, source: of, facts }) =>
      kind === 'shrunk' && of === source && typeof facts['folder'] === 'string' ? [facts['folder']] : [],
    );
    return { ...hourOf(this.#history(source, destination), this.#clock.now()), folders };
  }

  /** Follows the settings: alarms of sources that were removed from them are dropped. */
  follow(paths: readonly string[]): void {
    const before = (read(this.#store.get(FOLLOWED)) as readonly string[] | undefined) ?? [];
    const gone = new Set(before.filter((path) => !paths.includes(path)));
    for (const path of gone) this.#removed.set(path, this.#clock.now());
    for (const path of paths) this.#removed.delete(path);
    if (gone.size > 0) {
      const open = this.#ofSources();
      const left = open.filter(({ source }) => !gone.has(source));
      if (left.length < open.length)
        this.#store.set(OPEN, left.length === 0 ? undefined : JSON.stringify(left));
    }
    this.#store.set(FOLLOWED, paths.length === 0 ? undefined : JSON.stringify([...new Set(paths)]));
  }

  /** The snapshots that retention must not forget. */
  freezes(): readonly Freeze[] {
    return freezesOf(this.#ofSources());
  }

  /** Without paths, as anybody on the machine may read them. */
  checks(): readonly StatusCheck[] {
    const open = this.#ofSources();
    const sentences = [
      ...(open.length === 0
        ? []
        : [
            `A source looks damaged (${open.map(({ kind }) => kind).join(', ')}). Its older snapshots are kept until the alarm is acknowledged, or its lost files are back.`,
          ]),
      ...(this.#names.open().length === 0
        ? []
        : ['A write-only key stored a backup in the name of a machine for which others store too.']),
    ];
    if (sentences.length === 0) return [];
    return [{ name: 'alarms', status: 'error', message: sentences.join(' ') }];
  }

  #ofSources(): readonly Alarm[] {
    return (read(this.#store.get(OPEN)) as readonly Alarm[] | undefined) ?? [];
  }

  #judgeMade(job: Job, spec: BackupSpec, compared: SourceComparison | null): readonly Alarm[] {
    if (job.files_done > 0) this.#filled(spec.source);
    // Files that a request excluded are not gone.
    if (compared === null || !isWhole(spec)) return [];
    const { destination } = spec;
    const history = this.#history(spec.source, destination);
    const placeOf = (snapshot: string | null | undefined): SnapshotPlace | null =>
      snapshot === null || snapshot === undefined ? null : { snapshot, destination };
    const { snapshotBefore, ...counts } = compared;
    const facts: RunFacts = {
      ...counts,
      source: spec.source,
      at: this.#clock.now(),
      files: job.files_done,
      before: placeOf(snapshotBefore),
      made: placeOf(job.snapshot_id),
    };
    const open = this.#ofSources();
    // The person has acknowledged that the source is empty.
    const isExpected = job.files_done === 0 && this.isEmptyExpected(spec.source);
    const raised = isExpected ? [] : judgeRun(facts, history, open);
    const isQuiet = !isExpected && raised.length === 0 && !open.some(({ source }) => source === spec.source);
    this.#store.set(
      keyOf(spec.source, destination),
      JSON.stringify(isQuiet ? withRun(history, facts) : afterAlarm(history)),
    );
    this.#follow(job, facts, open);
    return raised;
  }

  #history(source: string, destination: string): SourceHistory {
    return (read(this.#store.get(keyOf(source, destination))) as SourceHistory | undefined) ?? NO_HISTORY;
  }

  #judgeRefused({ error }: Job, { source, destination }: BackupSpec): readonly Alarm[] {
    // The source was acknowledged as empty while the job ran.
    if (error?.code !== 'SOURCE_SUSPICIOUSLY_EMPTY' || this.isEmptyExpected(source)) return [];
    const filesBefore = Number(error.details['files_before']);
    const isThere = error.details['is_there'] === true;
    const snapshot = error.details['snapshot'];
    const before = typeof snapshot === 'string' ? { snapshot, destination } : null;
    const alarm = emptyAlarm(
      { source, at: this.#clock.now(), filesBefore, isThere, before },
      this.#ofSources(),
    );
    return alarm === null ? [] : [alarm];
  }

  /** Ends alarms about missing files when the files are back. */
  #follow(job: Job, facts: RunFacts, before: readonly Alarm[]): void {
    const { open, mended } = afterRun(facts, before);
    this.#store.set(OPEN, open.length === 0 ? undefined : JSON.stringify(open));
    for (const alarm of mended)
      this.#book.feed.append({ kind: 'alarm', jobId: job.id, data: { ...alarm, mended_at: facts.at } });
  }

  /**
   * The source has files: withdraws the acceptance of its emptiness, and marks an open alarm so that acknowledging it
   * accepts nothing.
   */
  #filled(source: string): void {
    this.#setEmpty(new Set([...this.#empty()].filter((path) => path !== source)));
    const open = this.#ofSources();
    if (!open.some((alarm) => alarm.kind === 'empty' && alarm.source === source)) return;
    const changed = open.map((alarm) =>
      alarm.kind === 'empty' && alarm.source === source
        ? { ...alarm, facts: { ...alarm.facts, [FILLED]: 'yes' } }
        : alarm,
    );
    this.#store.set(OPEN, JSON.stringify(changed));
  }

  #empty(): ReadonlySet<string> {
    return new Set((read(this.#store.get(EMPTY)) as readonly string[] | undefined) ?? []);
  }

  #setEmpty(paths: ReadonlySet<string>): void {
    this.#store.set(EMPTY, paths.size === 0 ? undefined : JSON.stringify([...paths]));
  }
}

function keyOf(source: string, destination: string): string {
  return `usual ${destination} ${source}`;
}

function read(text: string | undefined): unknown {
  return text === undefined ? undefined : JSON.parse(text);
}
