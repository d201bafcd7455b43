/** Schemas of what jobs of all types have in common. */
import { type Static, Type } from '../../base/schema-type.ts';
import { Count, MaybeTime, Nullable, Time, TimeInput } from './values.ts';

export const JobStatus = Type.Enum(['queued', 'running', 'completed', 'failed', 'canceled']);

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

export const JobFailure = Type.Object({
  code: Type.String(),
  message: Type.String(),
  details: Type.Record(Type.String(), Type.Unknown()),
});

const Waits = Type.Object({
  code: Type.String(),
  params: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Null()])),
});

/** Fields of jobs of all types, to be spread into the schema of each type. */
export const JOB_FIELDS = {
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
