/** The state of each source at each of its destinations, from its last backups and its schedule. */
import type { Settings, SourceSettings } from '../../config/settings.ts';
import type { JobStore } from '../../db/jobs.ts';
import type { SettingStore } from '../../db/settings.ts';
import type { StatusCheck } from '../../jobs/agent.ts';
import type { Job, JobError } from '../../jobs/job.ts';
import { isAbsent } from '../../notify/absence.ts';
import { parseSchedule, type Schedule } from '../../schedule/schedule.ts';
import type { Alarms } from '../alarms/alarm-book.ts';
import { dueAfter, schedulesOf, zoneOf } from '../jobs/planning.ts';
import { protectedSince } from './absence-watch.ts';
import { goodAt, lastEnded } from './good-backups.ts';
import { maintenanceFindings, type MaintenanceParts } from './maintenance-checks.ts';
import { NONE_UNREAD, type Unread, unreadIn } from './unread-files.ts';

/** Milliseconds for which a run is at least late before it is overdue, as it may be waiting for its turn. */
const LATE_MS = 3_600_000;

export interface Standing {
  readonly source: SourceSettings;
  readonly destination: string;
  /** When the source was read for its last good backup; milliseconds since 1970, null when there is none. */
  readonly lastGoodAt: number | null;
  /** The time that the last good backup states, even if it is in the future; null when there is none. */
  readonly statedGoodAt: number | null;
  /** Whether the last backup failed; canceled ones do not count. */
  readonly hasFailed: boolean;
  /** The error of the last backup, if it failed or is being retried after a failure. */
  readonly failure: JobError | null;
  /** Id of the job of that error. */
  readonly failedJob: string | null;
  /** Id of the last completed backup. */
  readonly lastJob: string | null;
  /** Whether, by the settings, there should be a newer good backup, or any, whatever the reason for the delay. */
  readonly overdue: boolean;
  /** Files missing from the last completed backup because they could not be read, unless the person has accepted that. */
  readonly unread: Unread;
  /** Whether the exclude rules left out everything in the source from the last completed backup. */
  readonly isLeftOut: boolean;
  /** Whether a command before or after the last completed backup failed. Before it, the settings let the backup run all the same. */
  readonly hasFailedCommand: boolean;
}

export interface StandingParts {
  readonly settings: () => Settings;
  readonly jobs: Pick<JobStore, 'get' | 'newest' | 'records'>;
  readonly now: () => number;
  /** Notes of when sources were added, and of good backups. */
  readonly notes: Pick<SettingStore, 'get'>;
  /** Whether a person has said that the source is meant to be empty, which the next backup goes by. */
  readonly isEmptyExpected: (source: string) => boolean;
}

export function standingsOf(parts: StandingParts): readonly Standing[] {
  const { settings, jobs, now, notes } = parts;
  const { sources, notices, ...others } = settings();
  const zone = zoneOf(others);
  return sources.flatMap((source) => {
    const schedules = schedulesOf(source).map(parseSchedule);
    return source.destinations.map((destination): Standing => {
      // Excludes backups to another place under the same name: see PlacedJobs.
      const asked = { types: ['backup'], source: source.path, destination, whole: true } as const;
      const last = jobs.newest({ ...asked, status: 'completed' });
      const good =
        last === undefined ? undefined : jobs.newest({ ...asked, status: 'completed', good: true });
      const lastGoodAt = goodAt(notes, destination, source.path, good, now());
      const ended = lastEnded(jobs, asked, now());
      const isSettled = isEmptyAsMeant(ended?.error ?? null, source.path, parts);
      const hasFailed = ended?.status === 'failed' && !isSettled;
      // A job that is being retried is queued with the error of its last attempt. Newer ones may wait for it without one.
      const tried = jobs.newest({ ...asked, status: 'queued', hasError: true });
      const isTried = (tried?.started_at ?? 0) > (ended?.finished_at ?? 0);
      const isBeingTried = isTried && tried?.error !== null;
      const failing = isBeingTried ? tried : hasFailed ? ended : undefined;
      const failure = failing?.error ?? null;
      const since = lastGoodAt ?? protectedSince(notes, destination, source.path);
      const overdue =
        since !== undefined &&
        (isAbsent({ lastGoodAt, since, dueAt: dueAfter(source, since, zone) }, notices.absenceDays, now()) ||
          schedules.some((schedule) => isMissed(schedule, since, zone, now())));
      // Loads the problems only if there are any.
      const hasProblems = last !== undefined && (last.warnings_count > 0 || last.progress.files_failed > 0);
      const withProblems = hasProblems ? jobs.get(last.id) : last;
      const unread = withProblems === undefined ? NONE_UNREAD : unreadIn(withProblems, source);
      const hasProblem = (wanted: string): boolean =>
        withProblems?.problems.some(({ code }) => code === wanted) === true;
      const statedGoodAt = good === undefined ? null : (good.source_read_at ?? good.started_at);
      return {
        source,
        destination,
        lastGoodAt,
        statedGoodAt,
        hasFailed,
        failure,
        failedJob: failing?.id ?? null,
        lastJob: last?.id ?? null,
        overdue,
        unread,
        isLeftOut: hasProblem('SOURCE_LEFT_OUT'),
        hasFailedCommand: hasProblem('HOOK_FAILED'),
      };
    });
  });
}

/** Whether the backup failed only because the source is empty, and a person has said since that it is meant to be. */
function isEmptyAsMeant(error: JobError | null, source: string, { isEmptyExpected }: StandingParts): boolean {
  if (error?.code !== 'SOURCE_SUSPICIOUSLY_EMPTY' || error.details['is_there'] === false) return false;
  return isEmptyExpected(source);
}

/**
 * Whether a run was due after `sinceMs` and should be over: as much time has passed since then as lies between two runs.
 * The scheduler's next run does not tell, as it moves on as soon as a job is queued, however long the job then waits.
 */
function isMissed(schedule: Schedule, sinceMs: number, zone: string, nowMs: number): boolean {
  const due = schedule.next(sinceMs, zone);
  if (due === null || due > nowMs) return false;
  const following = schedule.next(due, zone);
  return nowMs > due + Math.max(LATE_MS, following === null ? 0 : following - due);
}

/** Without paths and names, as anybody on the machine may read them. */
export function standingChecks(all: readonly Standing[], parts: StandingParts): readonly StatusCheck[] {
  return [
    ...overdueCheck(all, parts),
    ...failedChecks(all),
    ...unreadCheck(all),
    ...leftOutCheck(all),
    ...commandCheck(all),
  ];
}

function overdueCheck(all: readonly Standing[], { jobs }: StandingParts): readonly StatusCheck[] {
  const late = all.filter(({ overdue }) => overdue);
  if (late.length === 0) return [];
  const queued = new Map<string, Job>();
  for (const { job } of jobs.records('queued').toReversed())
    if (job.spec.type === 'backup') queued.set(keyOf(job.spec.source, job.spec.destination), job);
  const reasons = late.flatMap(({ source, destination, hasFailed }) => {
    const waits = queued.get(keyOf(source.path, destination));
    return waits?.waiting_for ?? (hasFailed ? 'The last attempt failed.' : []);
  });
  const what = lateness(late);
  return [
    {
      name: 'overdue',
      status: 'error',
      message: [what, ...new Set(reasons)].join(' '),
    },
  ];
}

function keyOf(source: string, destination: string): string {
  return JSON.stringify([source, destination]);
}

function lateness(late: readonly Standing[]): string {
  const none = late.filter(({ lastGoodAt }) => lastGoodAt === null).length;
  if (none === 0)
    return late.length === 1
      ? 'The last good backup of one source is older than it should be.'
      : `${late.length} of the last good backups are older than they should be.`;
  if (none < late.length) return `${late.length} backups are late; of some sources there is none yet.`;
  return none === 1 ? 'The first backup of one source is late.' : `${none} first backups are late.`;
}

/** Failures are checked per source and destination: one may fail again and again while the last backup of all is good. */
function failedChecks(all: readonly Standing[]): readonly StatusCheck[] {
  const failing = all.filter(({ hasFailed }) => hasFailed);
  const partly = new Set(all.filter(({ hasFailed }) => !hasFailed).map(({ source }) => source.path));
  const isWhole = ({ source }: Standing): boolean => !partly.has(source.path);
  const whole = new Set(failing.filter(isWhole).map(({ source }) => source.path)).size;
  const parts = failing.filter((one) => !isWhole(one)).length;
  const checks: StatusCheck[] = [];
  if (whole > 0) {
    const what = whole === 1 ? 'one source' : `${whole} sources`;
    checks.push({ name: 'sources', status: 'warning', message: `The last backup of ${what} failed.` });
  }
  if (parts > 0) {
    const what = parts === 1 ? 'one destination' : `${parts} destinations`;
    const message = `The last backup to ${what} failed, but the source has good backups elsewhere.`;
    checks.push({ name: 'destinations of a source', status: 'warning', message });
  }
  return checks;
}

/** Without this check a backup with warnings would look like a good one until somebody looks at the job. */
function unreadCheck(all: readonly Standing[]): readonly StatusCheck[] {
  const unread = all.filter((one) => one.unread.files + one.unread.folders > 0);
  const count = new Set(unread.map(({ source }) => source.path)).size;
  if (count === 0) return [];
  const which =
    count === 1 ? 'one source are not in its last backup' : `${count} sources are not in their last backups`;
  const message = `Files of ${which}, because they could not be read. The job names them; give yourself permission to read them, leave them out, or accept it.`;
  return [{ name: 'unread files', status: 'warning', message }];
}

/** Such a backup completes although it contains nothing of what is to be protected. */
function leftOutCheck(all: readonly Standing[]): readonly StatusCheck[] {
  const count = new Set(all.filter((one) => one.isLeftOut).map(({ source }) => source.path)).size;
  if (count === 0) return [];
  const which = count === 1 ? 'one source' : `${count} sources`;
  const message = `The exclude rules leave out everything in ${which}. The job names the rule: a pattern, or a file that excludes its folder. Change the rule, or remove the source.`;
  return [{ name: 'left out', status: 'error', message }];
}

/** The backup is complete, but what a command should have prepared may be missing from it, or what it stopped is still stopped. */
function commandCheck(all: readonly Standing[]): readonly StatusCheck[] {
  const count = new Set(all.filter((one) => one.hasFailedCommand).map(({ source }) => source.path)).size;
  if (count === 0) return [];
  const which = count === 1 ? 'the last backup of one source' : `the last backups of ${count} sources`;
  const message = `A command before or after ${which} failed. The job has what it printed.`;
  return [{ name: 'commands', status: 'warning', message }];
}

export interface StillFailingParts extends StandingParts, Pick<MaintenanceParts, 'destinations'> {
  readonly alarms: Pick<Alarms, 'open'>;
}

/**
 * Lists what is wrong on this machine when a backup has gone well. A monitor has one light for everything, so the
 * success of one source must not hide that another one fails. Sentences for people, the worst first. Empty unless the
 * job is a backup that completed.
 */
export function stillFailing(
  { type, status }: Pick<Job, 'type' | 'status'>,
  parts: StillFailingParts,
): readonly string[] {
  if (type !== 'backup' || status !== 'completed' || parts.settings().notices.healthchecks === null)
    return [];
  const { damaged, unrestored } = maintenanceFindings(parts);
  return [
    ...damaged.map((name) => `The backups in ${name} are damaged.`),
    ...unrestored.map((name) => `The last restore drill of ${name} failed.`),
    ...parts.alarms.open().map(({ source }) => `An alarm for ${source} needs your attention.`),
    ...standingsOf(parts).flatMap(({ source: { path }, destination, hasFailed, overdue }) =>
      hasFailed
        ? [`The last backup of ${path} to ${destination} failed.`]
        : overdue
          ? [`A backup of ${path} to ${destination} is overdue.`]
          : [],
    ),
  ];
}
