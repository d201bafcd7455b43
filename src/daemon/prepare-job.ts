/** What an engine process has to be told of a job, beside what the job itself says. */
import type { ConfigSource } from '../config/config-source.ts';
import type { SourceSettings } from '../config/settings.ts';
import type { EngineJob } from '../engine/protocol.ts';
import type { Job } from '../jobs/job.ts';
import type { Alarms } from './alarm-book.ts';
import type { Destinations } from './destinations.ts';
import { pathToBytes } from './path-bytes.ts';
import type { Watching } from './watching.ts';

export interface Preparing {
  readonly destinations: Destinations;
  readonly settings: () => ConfigSource['current'];
  readonly watching: Watching;
  readonly alarms: Alarms;
  /** Ids of jobs that are to look at everything. */
  readonly fullWalks: Set<string>;
  readonly stateDirectory: string;
  readonly never: () => readonly string[];
}

/** @throws {RequestError} INVALID_DESTINATION; {ConfigError} {StateError} when a secret cannot be had */
export async function prepareJob(job: Job, parts: Preparing, signal: AbortSignal): Promise<EngineJob> {
  const { destinations, settings, watching, alarms, fullWalks, stateDirectory, never } = parts;
  const { spec } = job;
  const place = destinations.find(spec.destination);
  const source = spec.type === 'backup' ? sourceOf(settings(), spec.source) : undefined;
  const { keepLast, keepHourly, keepDaily, keepWeekly, keepMonthly, keepYearly, keepWithin } =
    settings().retention;
  const changes = watching.take(job, place.url);
  const wholeWalk = fullWalks.delete(job.id);
  return {
    id: job.id,
    spec,
    destination: await destinations.open(place, signal),
    stateDirectory,
    never: never().map((path) => pathToBytes(path)),
    changes: wholeWalk ? null : changes,
    exclude: source?.exclude ?? NOTHING_EXCLUDED,
    retention:
      spec.type !== 'prune' || !spec.apply_retention
        ? null
        : {
            keep_last: keepLast,
            keep_hourly: keepHourly,
            keep_daily: keepDaily,
            keep_weekly: keepWeekly,
            keep_monthly: keepMonthly,
            keep_yearly: keepYearly,
            keep_within: keepWithin,
            frozen: alarms.freezes(),
          },
    emptyExpected: spec.type === 'backup' && alarms.isEmptyExpected(spec.source),
    workers: null,
    allowedRoots: settings().restore.allowedRoots,
  };
}

const NOTHING_EXCLUDED: EngineJob['exclude'] = {
  patterns: [],
  ignoreFiles: [],
  caches: false,
  ifPresent: [],
  largerThan: null,
  oneFileSystem: false,
};

export function sourceOf({ sources }: ConfigSource['current'], path: string): SourceSettings | undefined {
  return sources.find((source) => source.path === path);
}
