import { type Static, Type } from '../../base/schema-type.ts';
import { JOB_FIELDS } from './job.ts';
import {
  Count,
  IdInput,
  Nullable,
  PathB64Input,
  PathInput,
  StoredBy,
  StoredByInput,
  TimeInput,
} from './values.ts';

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
