/** Schemas of the list of jobs of all types, of drills, alarms and previews of restores. */
import { type Static, Type } from '../../../base/schema-type.ts';
import { Backup, Check, Drill, JOB_FILTERS, Prune, Restore } from '../job.ts';
import { Count, Nullable, PathInput } from '../values.ts';

export const AnyJob = Type.Union([Backup, Restore, Check, Prune, Drill]);
export type AnyJob = Static<typeof AnyJob>;

/**
 * `GET /jobs`: filters in addition to `limit` and `cursor`. A single job is read, its log is read and it is canceled at
 * `/jobs/:id`, `/jobs/:id/log` and `/jobs/:id/cancel`.
 */
export const ANY_JOB_FILTERS = {
  ...JOB_FILTERS,
  type: Type.Optional(Type.Enum(['backup', 'restore', 'check', 'prune', 'drill'])),
  source: Type.Optional(PathInput),
};

/** `POST /drill` answers 202 with the job. */
export const DrillRequest = Type.Object(
  {
    destination: Type.Optional(Type.String({ minLength: 1, maxLength: 4096 })),
    files: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
  },
  { additionalProperties: false },
);

/** `GET /alarms` lists the open alarms; `POST /alarms/acknowledge` returns those that it acknowledged. */
export const Alarms = Type.Object({
  items: Type.Array(
    Type.Object({
      id: Type.String(),
      kind: Type.Enum(['empty', 'unreadable', 'left_out', 'shrunk', 'rewritten', 'burst', 'claimed']),
      /** Path of the source; for `claimed`, the name of a machine. */
      source: Type.String(),
      at: Type.String(),
      text: Type.String(),
      facts: Type.Record(Type.String(), Type.Unknown()),
      /** Id of the last snapshot before the event; null when it is not known. */
      snapshot_before: Nullable(Type.String()),
    }),
  ),
});
export type Alarms = Static<typeof Alarms>;
export type Alarm = Alarms['items'][number];

/**
 * `GET /restore-preview/:id`: what a restore would do, from a finished dry run (`POST /restore` with `dry_run`).
 * `kept`: exists and stays. `overwritten`: exists and would be replaced, or first compared part by part. `deleted`:
 * would be removed (`delete_extra`). Everything that is not a directory counts as a file; a deleted directory counts
 * once.
 */
export const RestorePreview = Type.Object({
  files_new: Count,
  files_overwritten: Count,
  files_kept: Count,
  files_unchanged: Count,
  files_deleted: Count,
  bytes: Count,
  /** Paths on this machine, at most 1,000. What would be lost comes before what stays. */
  items: Type.Array(
    Type.Object({ path: Type.String(), what: Type.Enum(['overwritten', 'kept', 'deleted']) }),
  ),
  /** Whether there are more items than these. */
  is_cut: Type.Boolean(),
});
export type RestorePreview = Static<typeof RestorePreview>;
