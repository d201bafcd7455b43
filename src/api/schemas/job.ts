/** Schemas of jobs: what all types have in common, each type, and the pause. */
import { type Static, Type } from '../../base/schema-type.ts';
import {
  Count,
  IdInput,
  MaybeTime,
  Nullable,
  PathB64Input,
  PathInput,
  StoredBy,
  StoredByInput,
  Time,
  TimeInput,
} from './values.ts';

const JobStatus = Type.Enum(['queued', 'running', 'completed', 'failed', 'canceled']);

const JobPhase = Nullable(
  Type.Enum(['scanning', 'uploading', 'committing', 'verifying', 'pruning', 'restoring']),
);

export const Progress = Type.Object({
  percent: Nullable(Type.Number({ minimum: 0, maximum: 100 })),
  files_total: Count,
  files_new: Count,
  files_changed: Count,
  files_unchanged: Count,
  files_failed: Count,
  bytes_done: Count,
  bytes_total: Count,
  bytes_uploaded: Count,
  bytes_deduplicated: Count,
  current_path: Nullable(Type.String()),
  rate_bytes_per_second: Count,
  eta_seconds: Nullable(Count),
});
export type Progress = Static<typeof Progress>;

const JobFailure = Type.Object({
  code: Type.String(),
  message: Type.String(),
  details: Type.Record(Type.String(), Type.Unknown()),
});

const Waits = Type.Object({
  code: Type.String(),
  params: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Null()])),
});

/** Fields of jobs of all types, to be spread into the schema of each type. */
const JOB_FIELDS = {
  id: Type.String(),
  status: JobStatus,
  phase: JobPhase,
  result: Nullable(Type.Enum(['success', 'warning'])),
  destination: Type.String(),
  size_bytes: Count,
  duration_seconds: Count,
  trigger: Type.Enum(['api', 'schedule', 'watch', 'cli', 'ui']),
  attempt: Type.Integer({ minimum: 1 }),
  waiting_for: Nullable(Type.String()),
  waits: Nullable(Waits),
  created_at: Time,
  started_at: MaybeTime,
  finished_at: MaybeTime,
  progress: Progress,
  warnings_count: Count,
  error: Nullable(JobFailure),
};
export const JobFields = Type.Object(JOB_FIELDS);
export type JobFields = Static<typeof JobFields>;

export const JobLog = Type.Object({
  id: Type.String(),
  lines: Type.Array(
    Type.Object({ at: Time, level: Type.Enum(['info', 'warn', 'error']), text: Type.String() }),
  ),
  problems: Type.Array(Type.Object({ path: Type.String(), code: Type.String(), message: Type.String() })),
});
export type JobLog = Static<typeof JobLog>;

/** Filters of a list of jobs. */
export const JOB_FILTERS = {
  status: Type.Optional(JobStatus),
  destination: Type.Optional(Type.String({ minLength: 1, maxLength: 4096 })),
  created_after: Type.Optional(TimeInput),
  created_before: Type.Optional(TimeInput),
};

const CompressionInput = Type.String({ maxLength: 64 });

export const BackupRequest = Type.Object(
  {
    source: PathInput,
    destination: Type.Optional(Type.String({ minLength: 1, maxLength: 4096 })),
    options: Type.Optional(
      Type.Object(
        {
          compression: Type.Optional(CompressionInput),
          encryption: Type.Optional(Type.Boolean()),
          deduplication: Type.Optional(Type.Boolean()),
          exclude: Type.Optional(
            Type.Array(Type.String({ minLength: 1, maxLength: 4096 }), { maxItems: 1000 }),
          ),
          tags: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 128 }), { maxItems: 50 })),
          dry_run: Type.Optional(Type.Boolean({ default: false })),
        },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
);
export type BackupRequest = Static<typeof BackupRequest>;

export const Backup = Type.Object({
  ...JOB_FIELDS,
  type: Type.Literal('backup'),
  /** Regular files captured in the snapshot, unchanged ones included. */
  files_backed_up: Count,
  source: Type.String(),
  options: Type.Object({
    compression: Type.String(),
    encryption: Type.Boolean(),
    deduplication: Type.Boolean(),
    exclude: Type.Array(Type.String()),
    tags: Type.Array(Type.String()),
    dry_run: Type.Boolean(),
  }),
  snapshot_id: Nullable(Type.String()),
});
export type Backup = Static<typeof Backup>;

/** Most paths that one request may name. */
const MAX_PATHS = 1000;

const OVERWRITE_MODES = ['never', 'if_changed', 'if_newer', 'always'] as const;
const OverwriteMode = Type.Enum([...OVERWRITE_MODES]);

/** Options of a restore that does not set them. */
export const RESTORE_DEFAULTS = {
  overwrite: 'never',
  dry_run: false,
  verify: true,
  delete_extra: false,
  restore_ownership: false,
} as const;

export const RestoreRequest = Type.Object(
  {
    snapshot_id: Type.Optional(IdInput),
    backup_id: Type.Optional(IdInput),
    source: Type.Optional(PathInput),
    at: Type.Optional(TimeInput),
    stored_by: Type.Optional(StoredByInput),
    paths: Type.Optional(
      Type.Array(
        Type.Union([PathInput, Type.Object({ path_b64: PathB64Input }, { additionalProperties: false })]),
        { minItems: 1, maxItems: MAX_PATHS },
      ),
    ),
    target: Type.Optional(PathInput),
    in_place: Type.Optional(Type.Boolean()),
    options: Type.Optional(
      Type.Object(
        {
          overwrite: Type.Optional(Type.Enum([...OVERWRITE_MODES], { default: RESTORE_DEFAULTS.overwrite })),
          dry_run: Type.Optional(Type.Boolean({ default: RESTORE_DEFAULTS.dry_run })),
          verify: Type.Optional(Type.Boolean({ default: RESTORE_DEFAULTS.verify })),
          delete_extra: Type.Optional(Type.Boolean({ default: RESTORE_DEFAULTS.delete_extra })),
          restore_ownership: Type.Optional(Type.Boolean({ default: RESTORE_DEFAULTS.restore_ownership })),
        },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
);
export type RestoreRequest = Static<typeof RestoreRequest>;

export const Restore = Type.Object({
  ...JOB_FIELDS,
  type: Type.Literal('restore'),
  snapshot_id: Type.String(),
  /** Null for restores queued by older versions, which did not store it. */
  stored_by: Nullable(StoredBy),
  paths: Type.Array(Type.Union([Type.String(), Type.Object({ path_b64: Type.String() })])),
  target: Nullable(Type.String()),
  in_place: Type.Boolean(),
  options: Type.Object({
    overwrite: OverwriteMode,
    dry_run: Type.Boolean(),
    verify: Type.Boolean(),
    delete_extra: Type.Boolean(),
    restore_ownership: Type.Boolean(),
  }),
  files_restored: Count,
  files_skipped: Count,
  files_failed: Count,
});
export type Restore = Static<typeof Restore>;

const DestinationInput = Type.String({ minLength: 1, maxLength: 4096 });

export const CheckRequest = Type.Object(
  {
    destination: Type.Optional(DestinationInput),
    read_data: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  },
  { additionalProperties: false },
);

export const PruneRequest = Type.Object(
  {
    destination: Type.Optional(DestinationInput),
    apply_retention: Type.Boolean({ default: false }),
  },
  { additionalProperties: false },
);

export const Check = Type.Object({ ...JOB_FIELDS, type: Type.Literal('check'), read_data: Type.Number() });
export type Check = Static<typeof Check>;

export const Prune = Type.Object({
  ...JOB_FIELDS,
  type: Type.Literal('prune'),
  apply_retention: Type.Boolean(),
});
export type Prune = Static<typeof Prune>;

/** The Desktop API has no route that starts drills, but its events report them. */
export const Drill = Type.Object({ ...JOB_FIELDS, type: Type.Literal('drill'), files: Count });
export type Drill = Static<typeof Drill>;

/** A year in seconds: the longest pause with an end. */
export const LONGEST_PAUSE = 31_536_000;

export const PauseRequest = Type.Object(
  {
    until: Type.Optional(TimeInput),
    for: Type.Optional(
      Type.Union([
        Type.Integer({ minimum: 1, maximum: LONGEST_PAUSE }),
        Type.String({ minLength: 2, maxLength: 32 }),
      ]),
    ),
    interrupt: Type.Optional(Type.Boolean({ default: false })),
  },
  { additionalProperties: false },
);
export type PauseRequest = Static<typeof PauseRequest>;

export const PauseState = Type.Object({ paused: Type.Boolean(), paused_until: MaybeTime });
