import { type Static, Type } from '../../base/schema-type.ts';
import { JOB_FIELDS } from './job.ts';
import { Count, Nullable, PathInput } from './values.ts';

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
