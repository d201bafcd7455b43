/** What the agent says of its own state. */
import type { ConfigState } from '../config/config-source.ts';
import type { Settings } from '../config/settings.ts';
import type { JobStore } from '../db/jobs.ts';
import type {
  DestinationStatus,
  FullStatus,
  PublicStatus,
  SourceStatus,
  StatusCheck,
} from '../jobs/agent.ts';
import type { Pause } from '../jobs/pause.ts';
import type { Scheduler } from '../schedule/scheduler.ts';
import type { Destinations } from './destinations.ts';
import { freeBytesOf } from './free-space.ts';
import { backupKey } from './planning.ts';
import { reachability } from './reachability.ts';
import type { Watching } from './watching.ts';

/** A source without schedule is overdue after this many days. */
const UNSCHEDULED_DAYS = 7;
/** A run is late, not overdue, for this long: it may be waiting for its turn. Milliseconds. */
const LATE_MS = 3_600_000;
const DAY_MS = 86_400_000;

export interface StatusParts {
  readonly now: () => number;
  /** Milliseconds. */
  readonly uptime: () => number;
  readonly version: string;
  readonly jobs: JobStore;
  readonly settings: () => Settings;
  readonly config: () => ConfigState & { readonly file: string };
  readonly pause: () => Pause | undefined;
  readonly scheduler: Pick<Scheduler, 'nextRun'>;
  readonly watching: Pick<Watching, 'stateOf' | 'directories'>;
  readonly destinations: Destinations;
  /** Of the last job there; undefined while unknown. */
  readonly storedBytes: (destination: string) => number | undefined;
  /** Of every check that has something to say beside those made here. */
  readonly findings: () => readonly StatusCheck[];
}

export function publicStatus(parts: StatusParts): PublicStatus {
  const { jobs, now, uptime, version } = parts;
  const checks = checksOf(parts);
  const last = jobs.newest({ types: ['backup'], status: 'completed' });
  const failed = jobs.newest({ types: ['backup'], status: 'failed' });
  const newest = latest(last, failed);
  const next = parts.settings().sources.flatMap((source) => parts.scheduler.nextRun(backupKey(source)) ?? []);
  const worst = checks.some(({ status }) => status === 'error')
    ? 'error'
    : checks.some(({ status }) => status === 'warning')
      ? 'degraded'
      : 'ok';
  const pause = parts.pause();
  const paused = pause !== undefined && (pause.until === null || pause.until > now());
  return {
    status: worst === 'ok' && paused ? 'paused' : worst,
    version,
    uptime_seconds: Math.floor(uptime() / 1000),
    jobs: { running: jobs.count('running'), queued: jobs.count('queued') },
    last_backup:
      newest === undefined || newest.finished_at === null
        ? null
        : { status: newest.status, finished_at: newest.finished_at },
    next_run_at: next.length === 0 ? null : Math.min(...next),
    // After the judgement: a pause that somebody wanted is nothing bad, but it is said whatever else is wrong.
    checks: paused ? [...checks, pauseCheck(pause)] : checks,
  };
}

function pauseCheck({ until }: Pause): StatusCheck {
  const end = until === null ? 'somebody resumes them' : `${new Date(until).toISOString().slice(0, 16)}Z`;
  return {
    name: 'pause',
    status: 'warning',
    message: `Backups are paused until ${end}.`,
  };
}

type Ended = NonNullable<ReturnType<JobStore['newest']>>;

function latest(a: Ended | undefined, b: Ended | undefined): Ended | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return (a.finished_at ?? 0) >= (b.finished_at ?? 0) ? a : b;
}

export async function fullStatus(parts: StatusParts): Promise<FullStatus> {
  const { destinations, settings, watching, config, storedBytes } = parts;
  const places = destinations.all();
  const shown = places.map((place): DestinationStatus => ({
    name: place.name,
    url: place.shown,
    reachable: reachability(place, parts),
    used_bytes: storedBytes(place.name) ?? null,
  }));
  const main = places.find(({ name }) => name === settings().defaultDestination);
  const { status, error, file } = config();
  const unwatched = settings().sources.some(({ watch, path }) => watch && watching.stateOf(path) === 'lost');
  return {
    ...publicStatus(parts),
    sources: settings().sources.flatMap((source) =>
      source.destinations.map((destination) => sourceStatus(source, destination, parts)),
    ),
    destinations: shown,
    storage: {
      used_bytes: shown.reduce((sum, { used_bytes: bytes }) => sum + (bytes ?? 0), 0),
      free_bytes: main?.directory === undefined ? null : await freeBytesOf(main.directory),
    },
    watcher: { status: unwatched ? 'degraded' : 'ok', directories: watching.directories },
    config: { status, file, error: error?.message ?? null },
  };
}

function sourceStatus(
  source: Settings['sources'][number],
  destination: string,
  parts: StatusParts,
): SourceStatus {
  // What lies at another place, where the source was backed up to before, does not count.
  const { path } = source;
  const last = parts.jobs.newest({ types: ['backup'], status: 'completed', source: path, destination });
  const next = parts.scheduler.nextRun(backupKey(source));
  const nowMs = parts.now();
  const lastGood = last?.finished_at ?? null;
  const late = next !== null && next + LATE_MS < nowMs;
  const old = next === null && lastGood !== null && nowMs - lastGood > UNSCHEDULED_DAYS * DAY_MS;
  const state = parts.watching.stateOf(source.path);
  return {
    path,
    destination,
    schedule: source.schedule,
    last_good_backup_at: lastGood,
    next_run_at: next,
    overdue: late || old,
    watching: state === 'watching' || state === 'polling',
  };
}

/** Named so that nothing of the person's machine is in them: anybody on it may ask. */
function checksOf(parts: StatusParts): readonly StatusCheck[] {
  const { status } = parts.config();
  const missing = parts.destinations.all().filter((place) => !parts.destinations.isPresent(place)).length;
  return [
    status === 'ok'
      ? { name: 'configuration', status: 'ok', message: 'The configuration is in force.' }
      : {
          name: 'configuration',
          status: 'warning',
          message: 'The configuration file cannot be used; the last valid one stays in force.',
        },
    missing === 0
      ? { name: 'destinations', status: 'ok', message: 'All destinations are there.' }
      : {
          name: 'destinations',
          status: 'error',
          message: `${missing} of the destinations cannot be reached.`,
        },
    ...failedCheck(parts),
    ...parts.findings(),
  ];
}

/**
 * Of several destinations of a source one may fail again and again while the last backup, to another one, is good.
 * Without paths and names: anybody on the machine may read it.
 */
function failedCheck({ settings, jobs }: StatusParts): readonly StatusCheck[] {
  const failing = settings()
    .sources.filter(({ destinations }) => destinations.length > 1)
    .flatMap(({ path: source, destinations }) =>
      destinations.filter((destination) => {
        const last = (status: 'completed' | 'failed'): number =>
          jobs.newest({ types: ['backup'], status, source, destination })?.finished_at ?? 0;
        return last('failed') > last('completed');
      }),
    );
  if (failing.length === 0) return [];
  const what = failing.length === 1 ? 'one destination' : `${failing.length} destinations`;
  return [
    {
      name: 'destinations of a source',
      status: 'warning',
      message: `The last backup to ${what} failed, while others of the source are good.`,
    },
  ];
}
