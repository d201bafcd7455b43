/** The agent's status, public and full, from its jobs, settings and surroundings. */
import { localTime } from '../../base/units.ts';
import type { ConfigState } from '../../config/config-source.ts';
import type { Settings } from '../../config/settings.ts';
import type { JobStore } from '../../db/jobs.ts';
import type {
  DestinationStatus,
  FullStatus,
  PublicStatus,
  SourceStatus,
  StatusCheck,
} from '../../jobs/agent.ts';
import { isOver, type Pause } from '../../jobs/pause.ts';
import { headlineOf, statement, type Statement, type StatementCode } from '../../jobs/statement.ts';
import type { Metrics, MetricTarget } from '../../notify/metrics.ts';
import type { HeldNotices } from '../../notify/notifier.ts';
import type { Scheduler } from '../../schedule/scheduler.ts';
import { backupKey } from '../jobs/planning.ts';
import type { Destinations } from '../places/destinations.ts';
import { freeBytesOf } from '../places/free-space.ts';
import { reachability } from '../places/reachability.ts';
import type { Watching } from '../sources/watching.ts';
import { lastEnded } from './good-backups.ts';
import { damageChecks, maintenanceFindings, undoneChecks } from './maintenance-checks.ts';
import { type Standing, standingChecks, type StandingParts, standingsOf } from './standing.ts';
import { isAhead, isUnwritten, type Known, type StatementParts, statementsOf } from './statements.ts';

export interface StatusParts extends Omit<StatementParts, 'jobs' | 'settings' | 'now' | 'unwatched'> {
  readonly now: () => number;
  /** In milliseconds. */
  readonly uptime: () => number;
  readonly version: string;
  readonly jobs: JobStore;
  readonly settings: () => Settings;
  readonly config: () => ConfigState & { readonly file: string };
  readonly pause: () => Pause | undefined;
  readonly scheduler: Pick<Scheduler, 'nextRun'>;
  readonly watching: Pick<Watching, 'stateOf' | 'directories'>;
  readonly destinations: Pick<Destinations, 'all' | 'isPresent' | 'isSeen'>;
  /** Bytes that the last job found there; undefined while unknown. */
  readonly storedBytes: (destination: string) => number | undefined;
  readonly notes: StandingParts['notes'];
  readonly heldNotices: () => HeldNotices | null;
  /** Measures the room for the state anew. Never rejects. */
  readonly measure: () => Promise<void>;
  readonly isEmptyExpected: StandingParts['isEmptyExpected'];
  /** Further checks, other than those made here. */
  readonly findings: () => readonly StatusCheck[];
}

/** Computes checks and statements in one place, so that everything that shows the status agrees. */
function judged(parts: StatusParts): Known & { readonly statements: readonly Statement[] } {
  const standings = standingsOf(parts);
  const maintenance = maintenanceFindings(parts);
  const away = parts.destinations.all().filter((place) => reachability(place, parts).reachable === false);
  const pause = parts.pause();
  const now = pause === undefined || isOver(pause, parts.now()) ? undefined : pause;
  const found = { standings, maintenance, away, pause: now, checks: parts.findings() };
  const checks = [...checksOf(parts, found), ...(now === undefined ? [] : [pauseCheck(now)])];
  const known = { ...found, checks };
  return { ...known, statements: statementsOf({ ...parts, unwatched: () => unwatchedOf(parts) }, known) };
}

export function publicStatus(parts: StatusParts): PublicStatus {
  // For the next answer, as this one cannot wait.
  void parts.measure();
  return publicPart(parts, judged(parts));
}

function publicPart(parts: StatusParts, { checks, statements }: ReturnType<typeof judged>): PublicStatus {
  const { jobs, now, uptime, version } = parts;
  const newest = lastEnded(jobs, { types: ['backup'] }, now());
  const next = parts.settings().sources.flatMap((source) => parts.scheduler.nextRun(backupKey(source)) ?? []);
  const { code, level, severity, more } = headlineOf(statements);
  return {
    status: stateOf(statements),
    version,
    uptime_seconds: Math.floor(uptime() / 1000),
    jobs: { running: jobs.count('running'), queued: jobs.count('queued') },
    last_backup:
      newest === undefined || newest.finished_at === null
        ? null
        : { status: newest.status, finished_at: newest.finished_at },
    next_run_at: next.length === 0 ? null : Math.min(...next),
    headline: { code, level, severity, more },
    checks,
  };
}

const CALM: Readonly<Partial<Record<StatementCode, PublicStatus['status']>>> = {
  first_backup_runs: 'starting',
  first_backup_paused: 'paused',
  paused: 'paused',
};

/** The one-word status for programs agrees with the headline. */
function stateOf([worst, ...others]: readonly Statement[]): PublicStatus['status'] {
  const { code, level } = worst ?? statement('no_source');
  // With no source chosen the other statements decide, but the status is never `ok`.
  if (code === 'no_source') return others.length === 0 ? 'starting' : stateOf(others);
  if (level === 'bad') return 'error';
  if (level === 'good') return 'ok';
  const [first, ...more] = [code, ...others.filter((one) => one.level !== 'good').map((one) => one.code)];
  // A pause or a first backup must not hide that something is wrong.
  if (more.some((one) => CALM[one] === undefined)) return 'degraded';
  return CALM[first] ?? 'degraded';
}

function unwatchedOf({ settings, watching }: StatusParts): readonly string[] {
  const { sources } = settings();
  const lost = sources.filter(({ watch, path }) => watch && watching.stateOf(path) === 'lost');
  return [...new Set(lost.map(({ path }) => path))];
}

function pauseCheck({ until }: Pause): StatusCheck {
  const end = until === null ? 'somebody resumes them' : localTime(until);
  return {
    name: 'pause',
    status: 'warning',
    message: `Backups are paused until ${end}.`,
  };
}

export async function fullStatus(parts: StatusParts): Promise<FullStatus> {
  const { destinations, settings, watching, config, storedBytes } = parts;
  const places = destinations.all();
  await parts.measure();
  const known = judged(parts);
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
      same_disk: place.directory === undefined ? false : sharesWithSource(place.name, parts),
    };
  });
  // A place with several names counts once.
  const again = new Set(parts.onePlaces().flatMap((names) => names.slice(1)));
  const main = places.find(({ name }) => name === settings().defaultDestination);
  const { status, error, file } = config();
  const held = parts.heldNotices();
  return {
    ...publicPart(parts, known),
    statements: known.statements,
    sources: known.standings.map((standing) => sourceStatus(standing, parts)),
    destinations: shown,
    storage: {
      used_bytes: shown
        .filter(({ name }) => !again.has(name))
        .reduce((sum, { used_bytes: bytes }) => sum + (bytes ?? 0), 0),
      free_bytes: main?.directory === undefined ? null : await freeBytesOf(main.directory),
    },
    notices: { held: held?.count ?? 0, held_until: held?.until ?? null },
    watcher: { status: unwatchedOf(parts).length > 0 ? 'degraded' : 'ok', directories: watching.directories },
    config: { status, file, error: error?.message ?? null },
  };
}

function sharesWithSource(destination: string, { settings, sharesDisk }: StatusParts): boolean {
  return settings().sources.some(
    ({ path, destinations }) => destinations.includes(destination) && sharesDisk(destination, path),
  );
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

/** The checks name nothing of the person's machine, as anybody on it may read them. */
function checksOf(parts: StatusParts, known: Known): readonly StatusCheck[] {
  const { status } = parts.config();
  return [
    status === 'ok'
      ? { name: 'configuration', status: 'ok', message: 'The configuration is in force.' }
      : {
          name: 'configuration',
          status: 'warning',
          message: 'The configuration file cannot be used; the last valid one stays in force.',
        },
    // Damage comes before a destination that is only away, as the worst comes first.
    ...damageChecks(parts),
    destinationsCheck(parts, known),
    ...standingChecks(known.standings, parts),
    ...undoneChecks(parts),
    ...roomChecks(parts, known),
    ...clockChecks(parts, known),
    ...watcherChecks(parts),
    ...diskChecks(parts),
    ...known.checks,
  ];
}

/** An unplugged disk is no problem as long as the backups on it are recent enough. */
function destinationsCheck(parts: StatusParts, { away, standings }: Known): StatusCheck {
  if (away.length === 0)
    return { name: 'destinations', status: 'ok', message: 'All destinations can be reached.' };
  const isMissed = away.some(
    ({ name, directory }) =>
      (directory !== undefined && parts.isOfSystem(name)) ||
      standings.some((one) => one.destination === name && (one.lastGoodAt === null || one.overdue)),
  );
  const which = away.length === 1 ? 'One destination' : `${away.length} of the destinations`;
  return isMissed
    ? { name: 'destinations', status: 'error', message: `${which} cannot be reached.` }
    : {
        name: 'destinations',
        status: 'ok',
        message: `${which} cannot be reached; the last backups there are recent.`,
      };
}

/** A full disk is an error that is reported where the state is written. */
function roomChecks({ scarceBytes }: StatusParts, { checks }: Known): readonly StatusCheck[] {
  if (isUnwritten(checks)) return [];
  const message =
    'The disk of the state directory is nearly full: backups stop when it is full. Free up space there.';
  return scarceBytes() === null ? [] : [{ name: 'state room', status: 'warning', message }];
}

function clockChecks({ now }: StatusParts, { standings }: Known): readonly StatusCheck[] {
  if (!standings.some(({ statedGoodAt }) => isAhead(statedGoodAt, now()))) return [];
  const message = 'The clock is or was wrong: the last backup has a time in the future.';
  return [{ name: 'clock', status: 'warning', message }];
}

function watcherChecks(parts: StatusParts): readonly StatusCheck[] {
  const message =
    'Changes in a source are not noticed as they happen; they are backed up at the next scheduled time.';
  return unwatchedOf(parts).length === 0 ? [] : [{ name: 'watcher', status: 'warning', message }];
}

function diskChecks(parts: StatusParts): readonly StatusCheck[] {
  const { sources } = parts.settings();
  const isAlone = sources.some(({ path, destinations }) =>
    destinations.every((name) => parts.sharesDisk(name, path)),
  );
  const message = 'Backups are on the same disk as the files. If the disk fails, both are lost.';
  return isAlone ? [{ name: 'same disk', status: 'ok', message }] : [];
}

/** The pairs of source and destination that have figures. */
export function targetsOf({ sources }: Settings, jobs: JobStore): readonly MetricTarget[] {
  return sources.flatMap(({ path: source, destinations }) =>
    destinations.map((destination) => ({
      source,
      destination,
      lastSuccessAt:
        jobs.newest({ types: ['backup'], status: 'completed', good: true, source, destination })
          ?.finished_at ?? null,
    })),
  );
}

/** The metrics as they are served. */
export async function figuresNow(
  metrics: Metrics,
  known: Parameters<typeof reachability>[1] & {
    readonly destinations: Pick<Destinations, 'all'>;
    readonly jobs: Pick<JobStore, 'count'>;
  },
): Promise<{ readonly type: string; readonly text: string }> {
  metrics.setQueueLength(known.jobs.count('queued'));
  for (const place of known.destinations.all()) {
    const { reachable } = reachability(place, known);
    if (reachable !== null) metrics.setDestinationUp(place.name, reachable);
  }
  return { type: metrics.contentType, text: await metrics.text() };
}
