/** Begins backups of the sources in the settings: to one destination as a job, to several as a pass. */
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../base/clock.ts';
import { inSlices } from '../../base/paced-work.ts';
import type { Settings, SourceSettings } from '../../config/settings.ts';
import type { JobStore } from '../../db/jobs.ts';
import type { Agent, Noted } from '../../jobs/agent.ts';
import type { BackupSpec, Job, JobTrigger } from '../../jobs/job.ts';
import { isPersons } from '../../jobs/queue.ts';
import type { Runner } from '../../jobs/runner.ts';
import { backupsOf, type PlannedJob } from './planning.ts';
import { isFar, placeOf, type Destinations } from '../places/destinations.ts';
import { readerOfDue } from '../sources/watch-readers.ts';
import type { Watching } from '../sources/watching.ts';

export interface BackupParts {
  readonly runner: Pick<Runner, 'submit' | 'submitPass' | 'cancel'>;
  readonly destinations: Destinations;
  readonly settings: () => Settings;
  readonly jobs: JobStore;
  readonly clock: Pick<Clock, 'now'>;
  readonly trouble: (error: unknown) => void;
}

/** A source that is due for a backup, and the trigger. */
type Owed = Pick<SourceSettings, 'path' | 'destinations'> & { readonly trigger: JobTrigger };

export class Backups implements Disposable {
  readonly #parts: BackupParts;
  #beginning = new AbortController();
  /** Backups that were due but could not be queued, for example while the disk of the state directory was full. */
  readonly #owed = new Map<string, Owed>();
  /** Ids of jobs that were canceled because their source or destination had gone from the settings. */
  readonly #dropped = new Set<string>();

  constructor(parts: BackupParts) {
    this.#parts = parts;
  }

  /** Queues the same backup to each of these destinations. @throws {RequestError} QUEUE_FULL, SHUTTING_DOWN */
  submit(specs: readonly BackupSpec[], trigger: JobTrigger, also?: Noted): readonly Job[] {
    const { runner, destinations } = this.#parts;
    const [first] = specs;
    if (first === undefined) return [];
    if (specs.length === 1) return [runner.submit(first, trigger, also)];
    const far = (spec: BackupSpec): number => {
      const place = placeOf(destinations, spec.destination);
      return Number(place === undefined || isFar(place));
    };
    // The first job reads the source, and the others read the snapshot that it makes: best from this machine.
    return runner.submitPass(
      specs.toSorted((a, b) => far(a) - far(b)),
      trigger,
      also,
    );
  }

  /**
   * Queues what the schedule asks for.
   * @param watching learns of a full walk that is due
   * @param missedAt when the run was due, if it was missed, for example while the machine slept; milliseconds since 1970
   * @throws {RequestError} QUEUE_FULL, SHUTTING_DOWN
   */
  due(
    { specs, fullWalk }: PlannedJob,
    watching: Pick<Watching, 'lookAtEverything'>,
    missedAt: number | null = null,
  ): void {
    const { runner, settings, destinations } = this.#parts;
    const backups = specs.filter((spec) => spec.type === 'backup');
    const others = specs.filter((spec) => spec.type !== 'backup');
    for (const spec of others) runner.submit(spec, 'schedule');
    // The walk is noted for the source, not for these jobs: when one fails or is canceled, the next backup of the source does it.
    const owed = [...Map.groupBy(backups, ({ source }) => source)].filter(
      ([source, some]) =>
        fullWalk &&
        watching.lookAtEverything(source, readerOfDue(some, settings(), destinations), missedAt ?? undefined),
    );
    // The wake-up also counts as a change for the watcher, which may already have begun a backup.
    const isMade = missedAt !== null && backups.every((spec) => this.#madeSince(spec, missedAt));
    if (isMade && owed.length === 0) return;
    this.submit(backups, 'schedule');
  }

  /** Backs up all sources of the settings, except those whose backup already waits. */
  all(trigger: JobTrigger): void {
    const { settings, jobs } = this.#parts;
    const waiting = jobs.records('queued').filter(({ job }) => job.started_at === null);
    const waits = (path: string): boolean =>
      waiting.some(({ job: { spec } }) => spec.type === 'backup' && spec.source === path);
    for (const source of settings().sources) if (!waits(source.path)) this.#begin(source, trigger);
  }

  /** Whether an equal backup has begun since then, and has not failed so far. */
  #madeSince({ source, destination }: BackupSpec, sinceMs: number): boolean {
    const job = this.#parts.jobs.newest({ types: ['backup'], source, destination, whole: true });
    // A job from the future was made while the clock was ahead.
    if (job === undefined || job.created_at < sinceMs || job.created_at > this.#parts.clock.now())
      return false;
    return job.status === 'completed' || job.finished_at === null;
  }

  changed(source: SourceSettings): void {
    this.#begin(source, 'watch');
  }

  /** Queues backups that could not be queued earlier, if they are still wanted. To be called periodically. Never throws. */
  makeUp(): void {
    for (const [key, { path, destinations, trigger }] of this.#owed) {
      const source = this.#parts
        .settings()
        .sources.find((one) => one.path === path && isDeepStrictEqual(one.destinations, destinations));
      try {
        if (source !== undefined) this.submit(backupsOf(source), trigger);
        this.#owed.delete(key);
      } catch {
        // The first failure was reported; the next call tries again.
      }
    }
  }

  /**
   * Backs up new sources at once: their schedule would first run after a whole interval, which is long to be without a backup.
   * To be called again when the settings have changed, which ends an earlier call. Resolves when all are queued; never rejects.
   */
  async beginNew(): Promise<void> {
    const { settings, jobs, trouble } = this.#parts;
    // One that was taken out before its first backup began, and is back, is still without any.
    const isNew = ({ path, destinations }: SourceSettings): boolean =>
      destinations.some((destination) => {
        const job = jobs.newest({ types: ['backup'], source: path, destination, whole: true });
        return job === undefined || this.#dropped.has(job.id);
      });
    this.#beginning.abort();
    this.#beginning = new AbortController();
    try {
      await inSlices(
        settings().sources,
        (source) => isNew(source) && this.#begin(source, 'schedule'),
        this.#beginning.signal,
      );
    } catch (error) {
      trouble(error);
    }
  }

  /** Queues nothing more by itself. */
  [Symbol.dispose](): void {
    this.#beginning.abort();
  }

  /**
   * The destinations of a request that names none: those of the source in the settings, or the default destination for
   * other paths. A dry run makes no snapshot to copy, so it only goes to the first one.
   * @returns one list for each entry of the settings. Each entry has rules of its own, so each is a separate pass
   */
  destinationsOf(path: string, isDryRun: boolean): readonly (readonly string[])[] {
    const { settings, destinations } = this.#parts;
    const entries = settings()
      .sources.filter((source) => source.path === path)
      .map((source) => source.destinations);
    if (entries.length === 0) return [[destinations.standard().name]];
    return isDryRun ? [entries.flat().slice(0, 1)] : entries;
  }

  /** Cancels queued backups of sources or destinations that the settings no longer have, unless a person asked for them. */
  dropOld(): void {
    const { runner, settings, jobs } = this.#parts;
    for (const { job } of jobs.records('queued')) {
      const { spec, trigger, id } = job;
      if (spec.type !== 'backup' || isPersons(trigger)) continue;
      const isKept = settings().sources.some(
        ({ path, destinations }) => path === spec.source && destinations.includes(spec.destination),
      );
      if (isKept) continue;
      this.#dropped.add(id);
      this.#quietly(() => runner.cancel(id));
    }
  }

  /** Queues a backup that no caller will ask for again: if that fails, it is noted for `makeUp`. */
  #begin(source: SourceSettings, trigger: JobTrigger): void {
    const { path, destinations } = source;
    const key = JSON.stringify([path, destinations]);
    try {
      this.submit(backupsOf(source), trigger);
      this.#owed.delete(key);
    } catch (error) {
      this.#owed.set(key, { path, destinations, trigger });
      this.#parts.trouble(error);
    }
  }

  #quietly(submit: () => unknown): void {
    try {
      submit();
    } catch (error) {
      this.#parts.trouble(error);
    }
  }
}

/** The backup of a source that was named when the agent was started. */
export async function firstBackup(agent: Agent, { sources }: Settings, path: string): Promise<Job> {
  const source = sources.find((one) => one.path === path);
  const begun = agent.jobs({ types: ['backup'], source: path, limit: source?.destinations.length ?? 1 });
  // A backup that was queued just now because the source is new serves as well.
  const waiting = begun.findLast(({ finished_at: finishedAt }) => finishedAt === null);
  if (waiting !== undefined) return waiting;
  const [spec, ...others] = source === undefined ? [] : backupsOf(source);
  if (spec === undefined) return await agent.requestBackup({ source: path, options: {} }, 'cli');
  const { destination, options } = spec;
  return await agent.requestBackup(
    { source: path, options, ...(others.length === 0 ? { destination } : {}) },
    'cli',
  );
}
