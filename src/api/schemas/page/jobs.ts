/** Jobs of all types in one list. */
import { type Static, Type } from '../../../base/schema-type.ts';
import { Backup } from '../backup.ts';
import { JOB_FILTERS } from '../job.ts';
import { Check, Drill, Prune } from '../operation.ts';
import { Restore } from '../restore.ts';
import { Count, Nullable, PathInput } from '../values.ts';

export const AnyJob = Type.Union([Backup, Restore, Check, Prune, Drill]);
export type AnyJob = Static<typeof AnyJob>;

/** `GET /jobs`: filters beside `limit` and `cursor`. Reading one, its log and canceling it: `/jobs/:id`, `/jobs/:id/log`, `/jobs/:id/cancel`. */
export const ANY_JOB_FILTERS = {
  ...JOB_FILTERS,
  type: Type.Optional(Type.Enum(['backup', 'restore', 'check', 'prune', 'drill'])),
  source: Type.Optional(PathInput),
};

/** `POST /drill` -> 202 with the job. */
export const DrillRequest = Type.Object(
  {
    destination: Type.Optional(Type.String({ minLength: 1, maxLength: 4096 })),
    files: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
  },
  { additionalProperties: false },
);

/** `GET /alarms`; `POST /alarms/acknowledge` gives those that were open. */
export const Alarms = Type.Object({
  items: Type.Array(
    Type.Object({
      id: Type.String(),
      kind: Type.Enum(['empty', 'unreadable', 'left_out', 'shrunk', 'rewritten', 'burst', 'claimed']),
      /** A path; of `claimed` the name of a machine. */
      source: Type.String(),
      at: Type.String(),
      text: Type.String(),
      facts: Type.Record(Type.String(), Type.Unknown()),
      /** Id of the last snapshot from before what happened; null where it is not known. */
      snapshot_before: Nullable(Type.String()),
    }),
  ),
});
export type Alarms = Static<typeof Alarms>;
export type Alarm = Alarms['items'][number];

/**
 * What a restore would do, from a dry run (`POST /restore` with `dry_run`) whose job has ended: `GET /restore-preview/:id`.
 * `kept` is there and stays; `overwritten` is there and would be replaced, or compared part by part first; `deleted`
 * would go (`delete_extra`). Whatever is no directory counts as a file; a deleted directory counts once.
 */
export const RestorePreview = Type.Object({
  files_new: Count,
  files_overwritten: Count,
  files_kept: Count,
  files_unchanged: Count,
  files_deleted: Count,
  bytes: Count,
  /** By path, on this machine; at most 1,000: what would be lost before what stays. */
  items: Type.Array(
    Type.Object({ path: Type.String(), what: Type.Enum(['overwritten', 'kept', 'deleted']) }),
  ),
  /** There are more than those. */
  is_cut: Type.Boolean(),
});
export type RestorePreview = Static<typeof RestorePreview>;
