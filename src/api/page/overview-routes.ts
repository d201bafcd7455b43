/** Shows whether the user's files are protected, and how. */
import type { Clock } from '../../base/clock.ts';
import { installedVersion } from '../../base/program-version.ts';
import type { JobDay } from '../../db/job-days.ts';
import type { Run } from '../../db/runs.ts';
import type { StoredAmount } from '../../db/stored-amounts.ts';
import type { Agent, DestinationStatus, FullStatus, SourceStatus } from '../../jobs/agent.ts';
import type { Job } from '../../jobs/job.ts';
import { othersOf, sentenceOf } from '../../jobs/protection.ts';
import { headlineOf, type Statement } from '../../jobs/statement.ts';
import { presentJob } from '../presentation/job.ts';
import { maybeTimestamp, timestamp } from '../presentation/values.ts';
import type { ApiApp } from '../framework/route.ts';
import {
  Overview,
  type OverviewDestination,
  type OverviewSource,
  type Statement as ShownStatement,
  type Run as ShownRun,
} from '../schemas/page/overview.ts';

/** The most jobs that can be queued. */
const ACTIVE_JOBS = 100;

/** Outcome of a check or a drill. */
export type LastRun = Pick<Run, 'status' | 'result' | 'finishedAt'>;

/**
 * What the overview shows in addition to the status. All of it must be cheap to read, because the page requests the
 * overview after each event.
 */
export interface OverviewFacts {
  /** The newest complete backup of a source, to any destination when none is named. */
  newest(
    source: string,
    destination?: string,
  ): Pick<Job, 'files_done' | 'size_bytes' | 'started_at'> | undefined;
  /** The last runs that ended, oldest first. */
  history(source: string, destination: string): readonly Run[];
  recent(): readonly Job[];
  stored(destination: string): readonly StoredAmount[];
  last(type: 'check' | 'drill', destination: string): LastRun | null;
  /** Free bytes on the disk of a destination; null where they cannot be determined. */
  freeBytes(destination: string): Promise<number | null>;
  defaultDestination(): string;
  /** Whether the recovery kit of this computer opens the destination. */
  isOpenedByKit(destination: string): boolean;
  /** The number of known snapshots in all destinations, and the sum of the bytes of their files. */
  holdings(): { readonly snapshots: number; readonly bytes: number };
  /** Whether the snapshots of this destination are included in `holdings`. Reading a catalog takes time. */
  isCounted(destination: string): boolean;
  /** When each open alarm was raised, in milliseconds since 1970. */
  alarms(): readonly number[];
  /** The last days up to today, the oldest first. */
  days(count: number): readonly JobDay[];
  /** Display names of sources by their paths. */
  names(paths: readonly string[]): ReadonlyMap<string, string>;
  /** Undefined while jobs are started; `until` null for a pause without end. Otherwise in milliseconds since 1970. */
  pause(): { readonly until: number | null } | undefined;
  recoveryKit(): Overview['recovery_kit'];
  /** Upload limit of the current hour in bytes per second; null for none. */
  uploadLimit(): number | null;
}

export interface OverviewParts {
  readonly agent: Pick<Agent, 'fullStatus' | 'jobs'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly facts: OverviewFacts;
}

export function overviewRoutes(app: ApiApp, parts: OverviewParts): void {
  app.get(
    '/overview',
    { config: { scope: 'page' }, schema: { response: { 200: Overview } } },
    async () => await overviewOf(parts),
  );
}

async function overviewOf({ agent, clock, facts }: OverviewParts): Promise<Overview> {
  const status = await agent.fullStatus();
  const now = clock.now();
  const destinations = await Promise.all(
    status.destinations.map(async (one) => await shownPlace(one, facts)),
  );
  const active = (['running', 'queued'] as const).flatMap((state) =>
    agent.jobs({ status: state, limit: ACTIVE_JOBS }).toReversed(),
  );
  const pause = facts.pause();
  return {
    time: timestamp(now),
    version: status.version,
    installed_version: installedVersion(status.version),
    headline: {
      ...shownStatement(headlineOf(status.statements), status, now),
      more: headlineOf(status.statements).more,
    },
    others: othersOf(status).map((one) => shownStatement(one, status, now)),
    checks: status.checks.map(({ name, status: found, code = null, message }) => ({
      name,
      status: found,
      code,
      message,
    })),
    sources: shownSources(status, facts),
    destinations,
    active: active.map((job) => presentJob(job, now)),
    recent: facts.recent().map((job) => presentJob(job, now)),
    saved: savedBy(status, facts),
    alarms: facts.alarms().length,
    days: daysOf(facts),
    pause: pause === undefined ? null : { until: maybeTimestamp(pause.until) },
    recovery_kit: facts.recoveryKit(),
    held_notices:
      status.notices.held_until === null
        ? null
        : { count: status.notices.held, until: status.notices.held_until },
    upload_limit: facts.uploadLimit(),
  };
}

function shownStatement(one: Statement, status: FullStatus, now: number): ShownStatement {
  return {
    level: one.level,
    code: one.code,
    paths: [...one.paths],
    names: [...one.names],
    to: [...one.to],
    since: maybeTimestamp(one.since),
    files: [...one.files],
    figures: { ...one.figures },
    reason: one.reason,
    check: one.check,
    check_code: one.checkCode,
    sentence: sentenceOf(one, status.checks, now),
  };
}

/** The days of the timeline: six weeks. */
const DAYS = 42;

function daysOf(facts: OverviewFacts): Overview['days'] {
  const days = facts.days(DAYS);
  const raised = facts.alarms();
  return days.map(({ at, backups, incomplete, failed, bytes, drills, drillsFailed }, index) => {
    const end = days[index + 1]?.at ?? Number.POSITIVE_INFINITY;
    return {
      at: timestamp(at),
      backups,
      incomplete,
      failed,
      bytes_stored: bytes,
      drills,
      drills_failed: drillsFailed,
      alarms: raised.filter((alarm) => alarm >= at && alarm < end).length,
    };
  });
}

function shownSources({ sources }: FullStatus, facts: OverviewFacts): Overview['sources'] {
  const names = facts.names(sources.map(({ path }) => path));
  return sources.map((source) => shownSource(source, names.get(source.path) ?? source.path, facts));
}

function shownSource(source: SourceStatus, name: string, facts: OverviewFacts): OverviewSource {
  const { path, destination } = source;
  const own = facts.newest(path, destination);
  const earlier = source.last_good_backup_at === null && facts.holdings().snapshots > 0;
  const newest = own ?? (earlier ? facts.newest(path) : undefined);
  return {
    path,
    name,
    destination,
    schedule: source.schedule,
    last_good_backup_at: maybeTimestamp(source.last_good_backup_at),
    earlier_backup_at: earlier ? maybeTimestamp(newest?.started_at ?? null) : null,
    next_run_at: maybeTimestamp(source.next_run_at),
    overdue: source.overdue,
    watching: source.watching,
    files: newest?.files_done ?? null,
    size_bytes: newest?.size_bytes ?? null,
    history: facts.history(path, destination).map(shownRun),
  };
}

function shownRun(run: Run): ShownRun {
  return {
    id: run.id,
    status: run.status,
    result: run.result,
    finished_at: timestamp(run.finishedAt),
    duration_seconds: Math.floor(run.durationMs / 1000),
    files_changed: run.filesChanged,
    bytes_uploaded: run.bytesUploaded,
  };
}

async function shownPlace(place: DestinationStatus, facts: OverviewFacts): Promise<OverviewDestination> {
  const { name, url, reachable, used_bytes: used } = place;
  return {
    name,
    url,
    reachable,
    reached_at: maybeTimestamp(place.reached_at),
    unreachable_reason: place.unreachable_reason,
    untested: place.untested,
    is_embedded: place.embedded,
    opened_by_kit: facts.isOpenedByKit(name),
    used_bytes: used,
    same_disk: place.same_disk,
    free_bytes: reachable === true ? await facts.freeBytes(name) : null,
    is_default: name === facts.defaultDestination(),
    stored: facts.stored(name).map(({ at, bytes }) => ({ at: timestamp(at), bytes })),
    last_check: shownLast(facts.last('check', name)),
    last_drill: shownLast(facts.last('drill', name)),
  };
}

function shownLast(run: LastRun | null): OverviewDestination['last_check'] {
  if (run === null) return null;
  return { status: run.status, result: run.result, finished_at: timestamp(run.finishedAt) };
}

function savedBy(status: FullStatus, facts: OverviewFacts): Overview['saved'] {
  const { snapshots, bytes } = facts.holdings();
  return {
    snapshot_bytes: bytes,
    snapshots,
    // Counts only destinations whose snapshots are included in `snapshot_bytes`: others would make the saving look too
    // small.
    stored_bytes: status.destinations
      .filter(({ name }) => facts.isCounted(name))
      .reduce((sum, { used_bytes: used }) => sum + (used ?? 0), 0),
  };
}
