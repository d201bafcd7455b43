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
import { damageChecks, undoneChecks } from './maintenance-checks.ts';
import { backupKey } from './planning.ts';
import { reachability } from './reachability.ts';
import { lastEnded } from './good-backups.ts';
import { standingChecks, standingsOf, type Standing, type StandingParts } from './standing.ts';
import type { Watching } from './watching.ts';

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
  readonly destinations: Pick<Destinations, 'all' | 'isPresent' | 'isSeen'>;
  /** Of the last job there; undefined while unknown. */
  readonly storedBytes: (destination: string) => number | undefined;
  readonly notes: StandingParts['notes'];
  /** Of every check that has something to say beside those made here. */
  readonly findings: () => readonly StatusCheck[];
}

export function publicStatus(parts: StatusParts): PublicStatus {
  const { jobs, now, uptime, version } = parts;
  const checks = checksOf(parts);
  const newest = lastEnded(jobs, { types: ['backup'] }, now());
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

export async function fullStatus(parts: StatusParts): Promise<FullStatus> {
  const { destinations, settings, watching, config, storedBytes } = parts;
  const places = destinations.all();
  const embedded = settings().embedded.name;
  const shown = places.map((place): DestinationStatus => {
    const { reachable, reachedAt, reason } = reachability(place, parts);
    return {
      name: place.name,
      url: place.shown,
      reachable,
      reached_at: reachedAt,
      unreachable_reason: reason,
      untested: place.untested === true && reachedAt === null,
      embedded: place.name === embedded,
      used_bytes: storedBytes(place.name) ?? null,
    };
  });
  const main = places.find(({ name }) => name === settings().defaultDestination);
  const { status, error, file } = config();
  const unwatched = settings().sources.some(({ watch, path }) => watch && watching.stateOf(path) === 'lost');
  return {
    ...publicStatus(parts),
    sources: standingsOf(parts).map((standing) => sourceStatus(standing, parts)),
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
  { source, destination, lastGoodAt, overdue }: Standing,
  { scheduler, watching }: StatusParts,
): SourceStatus {
  const { path, schedule } = source;
  const state = watching.stateOf(path);
  return {
    path,
    destination,
    schedule,
    last_good_backup_at: lastGoodAt,
    next_run_at: scheduler.nextRun(backupKey(source)),
    overdue,
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
    // Before what is only away: the worst comes first.
    ...damageChecks(parts),
    missing === 0
      ? { name: 'destinations', status: 'ok', message: 'All destinations are there.' }
      : {
          name: 'destinations',
          status: 'error',
          message: `${missing} of the destinations cannot be reached.`,
        },
    ...standingChecks(parts),
    ...undoneChecks(parts),
    ...parts.findings(),
  ];
}
