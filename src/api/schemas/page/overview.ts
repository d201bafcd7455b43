/**
 * Schema of the overview page: whether the user's files are protected, and how. It has codes and figures; the page adds
 * the words.
 */
import { type Static, Type } from '../../../base/schema-type.ts';
import { Count, MaybeTime, Nullable, Time } from '../values.ts';
import { AnyJob } from './jobs.ts';

const CheckCode = Nullable(
  Type.Enum([
    'device_removed',
    'repository_contradicted',
    'account_suspended',
    'account_suspended_waiting',
    'trial_ended',
    'trial_ended_stopping',
    'trial_ended_waiting',
    'no_plan',
    'enrollment_unreadable',
  ]),
);

/**
 * One statement about how well the user is protected. `paths`: the sources concerned. `names`: their display names,
 * with `~` for the home directory. `to`: the destinations concerned; empty when all destinations of the sources are.
 * `since`: the oldest of their last good backups; null when one of them has none. `files`: some of the files that could
 * not be read. `check`: name of the check behind the statement.
 */
export const Statement = Type.Object({
  level: Type.Enum(['good', 'warning', 'bad']),
  code: Type.Enum([
    'no_source',
    'check_failed',
    'files_rewritten',
    'source_unreadable',
    'source_left_out',
    'source_empty',
    'files_disappeared',
    'files_burst',
    'name_claimed',
    'destination_gone',
    'damaged',
    'drill_failed',
    'never_backed_up',
    'overdue',
    'first_backup_runs',
    'first_backup_paused',
    'last_failed',
    'command_failed',
    'files_unread',
    'clock_behind',
    'same_place',
    'state_nearly_full',
    'check_warns',
    'check_undone',
    'drill_undone',
    'prune_failed',
    'paused',
    'not_watched',
    'destination_away',
    'same_disk',
    'untested',
    'protected',
  ]),
  paths: Type.Array(Type.String()),
  names: Type.Array(Type.String()),
  to: Type.Array(Type.String()),
  since: MaybeTime,
  files: Type.Array(Type.String()),
  figures: Type.Record(Type.String(), Type.Number()),
  reason: Nullable(
    Type.Enum([
      'away',
      'full',
      'other_repository',
      'emptied',
      'locked_out',
      'no_secret',
      'denied',
      'unreachable',
      'source_missing',
      'source_unreadable',
      'source_silent',
      'source_own',
      'source_unfit',
      'source_empty',
      'read_only',
      'no_permission',
      'foreign',
      'command',
      'unscheduled',
      'other',
    ]),
  ),
  check: Nullable(Type.String()),
  /** Which of the things that the check can say it says; null where its name tells. */
  check_code: CheckCode,
  /** In English, as the command line shows it. */
  sentence: Type.String(),
});
export type Statement = Static<typeof Statement>;

/** The worst statement. `more`: the number of other statements that are shown below it. */
export const Headline = Type.Object({ ...Statement.properties, more: Count });
export type Headline = Static<typeof Headline>;

/** One run of the history strip. */
export const Run = Type.Object({
  id: Type.String(),
  status: Type.Enum(['queued', 'running', 'completed', 'failed', 'canceled']),
  result: Nullable(Type.Enum(['success', 'warning'])),
  finished_at: MaybeTime,
  duration_seconds: Count,
  /** Includes new files. */
  files_changed: Count,
  bytes_uploaded: Count,
});
export type Run = Static<typeof Run>;

/** A source with one of its destinations. */
export const OverviewSource = Type.Object({
  path: Type.String(),
  /** Shorter than the path, as long as no two are the same; `~` for the home directory. */
  name: Type.String(),
  destination: Type.String(),
  schedule: Nullable(Type.String()),
  last_good_backup_at: MaybeTime,
  /** Before the first good backup to this destination: the newest one to any other, or to where this one was before. */
  earlier_backup_at: MaybeTime,
  next_run_at: MaybeTime,
  overdue: Type.Boolean(),
  watching: Type.Boolean(),
  /** Files of the newest backup, or of the earlier one; null before the first one. */
  files: Nullable(Count),
  size_bytes: Nullable(Count),
  /** The last 30 runs that ended, oldest first. */
  history: Type.Array(Run),
});
export type OverviewSource = Static<typeof OverviewSource>;

export const OverviewDestination = Type.Object({
  name: Type.String(),
  url: Type.String(),
  /** Null when access has not been tried yet. */
  reachable: Nullable(Type.Boolean()),
  reached_at: MaybeTime,
  unreachable_reason: Nullable(Type.Enum(['not_mounted', 'not_there', 'no_answer'])),
  untested: Type.Boolean(),
  is_embedded: Type.Boolean(),
  /** False where the settings name another passphrase, as for a repository that another computer made. */
  opened_by_kit: Type.Boolean(),
  used_bytes: Nullable(Count),
  /**
   * Whether the destination is on the same disk as files that are backed up to it; null where that cannot be
   * determined.
   */
  same_disk: Nullable(Type.Boolean()),
  /** Free bytes on the disk of the destination; null where they cannot be determined. */
  free_bytes: Nullable(Count),
  is_default: Type.Boolean(),
  /** Stored bytes over time, at most one entry a day, oldest first. */
  stored: Type.Array(Type.Object({ at: Time, bytes: Count })),
  last_check: Nullable(
    Type.Object({
      status: Type.String(),
      result: Nullable(Type.String()),
      finished_at: Time,
    }),
  ),
  last_drill: Nullable(
    Type.Object({ status: Type.String(), result: Nullable(Type.String()), finished_at: Time }),
  ),
});
export type OverviewDestination = Static<typeof OverviewDestination>;

/** What happened on one day of the timeline. */
export const OverviewDay = Type.Object({
  /** When the day began on this machine. */
  at: Time,
  /** Completed backups, of which `incomplete` lack some files. */
  backups: Count,
  incomplete: Count,
  failed: Count,
  bytes_stored: Count,
  drills: Count,
  drills_failed: Count,
  /** Alarms of that day which nobody has acknowledged yet. */
  alarms: Count,
});
export type OverviewDay = Static<typeof OverviewDay>;

export const Overview = Type.Object({
  time: Time,
  version: Type.String(),
  /** Another one when a newer program was put in the place of the one that runs. */
  installed_version: Type.String(),
  headline: Headline,
  /** The other statements that `more` counts, worst first. */
  others: Type.Array(Statement),
  checks: Type.Array(
    Type.Object({
      name: Type.String(),
      status: Type.Enum(['ok', 'warning', 'error']),
      code: CheckCode,
      message: Type.String(),
    }),
  ),
  sources: Type.Array(OverviewSource),
  destinations: Type.Array(OverviewDestination),
  /** Running and queued jobs, running ones first. */
  active: Type.Array(AnyJob),
  /** The last 10 jobs that ended. */
  recent: Type.Array(AnyJob),
  /**
   * `snapshot_bytes`: the sum of the bytes of the files of all snapshots. `stored_bytes`: what the destinations of
   * these snapshots store for them.
   */
  saved: Type.Object({ snapshot_bytes: Count, snapshots: Count, stored_bytes: Count }),
  alarms: Count,
  /** The last six weeks, the oldest day first. */
  days: Type.Array(OverviewDay),
  pause: Nullable(Type.Object({ until: MaybeTime })),
  /** `unsaved`: the kit is only on this machine, and the page reminds the user until it is `saved`. */
  recovery_kit: Type.Enum(['unsaved', 'saved', 'none']),
  /** Notices that wait for the end of their quiet hours, which is `HH:MM`; null when none do. */
  held_notices: Nullable(Type.Object({ count: Count, until: Type.String() })),
  /** Upload limit of the current hour in bytes per second; null for none. */
  upload_limit: Nullable(Count),
});
export type Overview = Static<typeof Overview>;
