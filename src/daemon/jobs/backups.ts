/** How backups of the sources in the settings are begun: to one destination as a job, to several as a pass. */
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../base/clock.ts';
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

/** What of the settings is owed a backup, and for what reason. */
type Owed = Pick<SourceSettings, 'path' | 'destinations'> & { readonly trigger: JobTrigger };

export class Backups {
  readonly #parts: BackupParts;
  /** Backups that were worthwhile and could not be noted, as while the disk of the state is full. */
  readonly #owed = new Map<string, Owed>();

  constructor(parts: BackupParts) {
    this.#parts = parts;
  }

  /** The same backup to each of these destinations. @throws {RequestError} QUEUE_FULL, SHUTTING_DOWN */
  submit(specs: readonly BackupSpec[], trigger: JobTrigger, also?: Noted): readonly Job[] {
    const { runner, destinations } = this.#parts;
    const [first] = specs;
    if (first === undefined) return [];
    if (specs.length === 1) return [runner.submit(first, trigger, also)];
    const far = (spec: BackupSpec): number => {
      const place = placeOf(destinations, spec.destination);
      return Number(place === undefined || isFar(place));
    };
    // Who comes first reads the source, and what it makes is read again by the others: best from this machine.
    return runner.submitPass(
      specs.toSorted((a, b) => far(a) - far(b)),
      trigger,
      also,
    );
  }

  /**
   * What is due by the schedule.
   * @param watching is told of a whole walk that is due
   * @param missedAt when it was due, where that was missed, as by a machine that slept; milliseconds since 1970
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
    // Of the source, not of these jobs: one that fails or is canceled leaves the walk to whichever comes next.
    const owed = [...Map.groupBy(backups, ({ source }) => source)].filter(
      ([source, some]) =>
        fullWalk &&
        watching.lookAtEverything(source, readerOfDue(some, settings(), destinations), missedAt ?? undefined),
    );
    // What woke the machine is a change to the watcher, too, which may have come first.
    const isMade = missedAt !== null && backups.every((spec) => this.#madeSince(spec, missedAt));
    if (isMade && owed.length === 0) return;
    this.submit(backups, 'schedule');
  }

  /** All sources of the settings now, but those whose backup waits already. */
  all(trigger: JobTrigger): void {
    const { settings, jobs } = this.#parts;
    const waiting = jobs.records('queued').filter(({ job }) => job.started_at === null);
    const waits = (path: string): boolean =>
      waiting.some(({ job: { spec } }) => spec.type === 'backup' && spec.source === path);
    for (const source of settings().sources) if (!waits(source.path)) this.#begin(source, trigger);
  }

  /** Whether such a backup has begun since then, and has not failed so far. */
  #madeSince({ source, destination }: BackupSpec, sinceMs: number): boolean {
    const job = this.#parts.jobs.newest({ types: ['backup'], source, destination, whole: true });
    // One from a time to come was made while the clock was ahead.
    if (job === undefined || job.created_at < sinceMs || job.created_at > this.#parts.clock.now())
      return false;
    return job.status === 'completed' || job.finished_at === null;
  }

  changed(source: SourceSettings): void {
    this.#begin(source, 'watch');
  }

  /** Begins what could not be noted, if it is still wanted: to be called now and then. Never throws. */
  makeUp(): void {
    for (const [key, { path, destinations, trigger }] of this.#owed) {
      const source = this.#parts
        .settings()
        .sources.find((one) => one.path === path && isDeepStrictEqual(one.destinations, destinations));
      try {
        if (source !== undefined) this.submit(backupsOf(source), trigger);
        this.#owed.delete(key);
      } catch {
        // It was told when it failed first, and is tried again.
      }
    }
  }

  /** The schedule of a new source has its first run when its interval has passed: that is long to be without a backup. */
  beginNew(): void {
    const { settings, jobs } = this.#parts;
    for (const source of settings().sources) {
      const isNew = source.destinations.some(
        (destination) =>
          jobs.newest({ types: ['backup'], source: source.path, destination, whole: true }) === undefined,
      );
      if (isNew) this.#begin(source, 'schedule');
    }
  }

  /**
   * Where a request goes that names no destination: where the settings send the source, be it one place or several; the
   * default destination gets what they do not have. A dry run has nothing to copy, so it goes to the first.
   * @returns those of each entry of the settings, which has rules of its own, so that each is read by itself
   */
  destinationsOf(path: string, isDryRun: boolean): readonly (readonly string[])[] {
    const { settings, destinations } = this.#parts;
    const entries = settings()
      .sources.filter((source) => source.path === path)
      .map((source) => source.destinations);
    if (entries.length === 0) return [[destinations.standard().name]];
    return isDryRun ? [entries.flat().slice(0, 1)] : entries;
  }

  /** Nobody asked for what waits of sources that are not in the settings any more; their rules are gone, too. */
  dropOld(): void {
    const { runner, settings, jobs } = this.#parts;
    for (const { job } of jobs.records('queued')) {
      const { spec, trigger, id } = job;
      if (spec.type !== 'backup' || isPersons(trigger)) continue;
      const isKept = settings().sources.some(
        ({ path, destinations }) => path === spec.source && destinations.includes(spec.destination),
      );
      if (!isKept) this.#quietly(() => runner.cancel(id));
    }
  }

  /** Nobody comes back to ask for it: when it cannot be noted now, it is later. */
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

/** Of a source that was named at the start. */
export async function firstBackup(agent: Agent, { sources }: Settings, path: string): Promise<Job> {
  const source = sources.find((one) => one.path === path);
  const begun = agent.jobs({ types: ['backup'], source: path, limit: source?.destinations.length ?? 1 });
  // What has just been queued because the source is new serves as well.
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
