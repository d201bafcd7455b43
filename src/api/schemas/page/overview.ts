/** What the first page shows: whether the person is protected, and by what. Words are the page's own: this has codes and figures. */
import { type Static, Type } from '../../../base/schema-type.ts';
import { Count, MaybeTime, Nullable, Time } from '../values.ts';
import { AnyJob } from './jobs.ts';

/**
 * One thing that is to be said of how the person is protected. `paths`: the sources it is true of, called `names`, where `~`
 * is the home directory; `to`: the destinations, when others of the same source are not meant; `since`: of the last good
 * backup; `files`: some of those that could not be read; `check`: name of the check that says it.
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
      'denied',
      'unreachable',
      'source_missing',
      'source_empty',
      'other',
    ]),
  ),
  check: Nullable(Type.String()),
  /** In English: what the command line says. */
  sentence: Type.String(),
});
export type Statement = Static<typeof Statement>;

/** The worst there is to say. `more`: how many others are to be put right, or good to know where nothing is. */
export const Headline = Type.Object({ ...Statement.properties, more: Count });
export type Headline = Static<typeof Headline>;

/** One run of the history strip. */
export const Run = Type.Object({
  id: Type.String(),
  status: Type.Enum(['queued', 'running', 'completed', 'failed', 'canceled']),
  result: Nullable(Type.Enum(['success', 'warning'])),
  finished_at: MaybeTime,
  duration_seconds: Count,
  /** New ones among them. */
  files_changed: Count,
  bytes_uploaded: Count,
});
export type Run = Static<typeof Run>;

/** One destination of a source. */
export const OverviewSource = Type.Object({
  path: Type.String(),
  destination: Type.String(),
  schedule: Nullable(Type.String()),
  last_good_backup_at: MaybeTime,
  next_run_at: MaybeTime,
  overdue: Type.Boolean(),
  watching: Type.Boolean(),
  /** Of the newest backup; null before the first. */
  files: Nullable(Count),
  size_bytes: Nullable(Count),
  /** The last 30 that ended, the oldest first. */
  history: Type.Array(Run),
});
export type OverviewSource = Static<typeof OverviewSource>;

export const OverviewDestination = Type.Object({
  name: Type.String(),
  url: Type.String(),
  /** Null: nobody has tried yet. */
  reachable: Nullable(Type.Boolean()),
  reached_at: MaybeTime,
  unreachable_reason: Nullable(Type.Enum(['not_mounted', 'not_there', 'no_answer'])),
  untested: Type.Boolean(),
  is_embedded: Type.Boolean(),
  used_bytes: Nullable(Count),
  /** It is on a disk with files that are backed up to it; null where that cannot be told. */
  same_disk: Nullable(Type.Boolean()),
  /** Of its disk; null where that cannot be told. */
  free_bytes: Nullable(Count),
  is_default: Type.Boolean(),
  /** Stored bytes over time, one for each day at most, the oldest first. */
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

export const Overview = Type.Object({
  time: Time,
  version: Type.String(),
  headline: Headline,
  /** The others that `more` counts, the worst first. */
  others: Type.Array(Statement),
  checks: Type.Array(
    Type.Object({
      name: Type.String(),
      status: Type.Enum(['ok', 'warning', 'error']),
      message: Type.String(),
    }),
  ),
  sources: Type.Array(OverviewSource),
  destinations: Type.Array(OverviewDestination),
  /** Running and waiting jobs, those that run first. */
  active: Type.Array(AnyJob),
  /** The last 10 that ended. */
  recent: Type.Array(AnyJob),
  /** The bytes of the files of all snapshots, each counted by itself, and what the destinations of these snapshots store for them. */
  saved: Type.Object({ snapshot_bytes: Count, snapshots: Count, stored_bytes: Count }),
  alarms: Count,
  pause: Nullable(Type.Object({ until: MaybeTime })),
  /** `unsaved`: the kit is still only on this machine; the page reminds of it until it is `saved`. */
  recovery_kit: Type.Enum(['unsaved', 'saved', 'none']),
  /** Upload limit of this hour, bytes a second. */
  upload_limit: Nullable(Count),
});
export type Overview = Static<typeof Overview>;
