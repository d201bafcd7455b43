import { type Static, Type } from '../../base/schema-type.ts';
import { Count, IdInput, Nullable, PathInput, StoredBy, StoredByInput, Time } from './values.ts';

export const Snapshot = Type.Object({
  id: Type.String(),
  source: Type.String(),
  destination: Type.String(),
  host: Type.String(),
  stored_by: StoredBy,
  /** The start time that a write-only key claimed, when it is implausible by the clock of the storage; otherwise null. */
  claimed_start: Nullable(Time),
  tags: Type.Array(Type.String()),
  pinned: Type.Boolean(),
  partial: Type.Boolean(),
  /** The files that the backup could not read: their number, null when it is unknown, and the first of their paths. */
  unread_files: Type.Object({ count: Nullable(Count), paths: Type.Array(Type.String()) }),
  created_at: Time,
  files_count: Count,
  size_bytes: Count,
  unreadable_directories: Count,
  backup_id: Nullable(Type.String()),
  last_drill: Nullable(Type.Object({ id: Type.String(), at: Time, files_count: Count, files_failed: Count })),
});
export type Snapshot = Static<typeof Snapshot>;

export const SnapshotChange = Type.Object({
  path: Type.String(),
  path_b64: Nullable(Type.String()),
  change: Type.Enum(['added', 'removed', 'modified', 'type_changed', 'metadata']),
  size_before: Nullable(Count),
  size_after: Nullable(Count),
});
export type SnapshotChange = Static<typeof SnapshotChange>;

export const SNAPSHOT_FILTERS = {
  source: Type.Optional(PathInput),
  destination: Type.Optional(Type.String({ minLength: 1, maxLength: 4096 })),
  stored_by: Type.Optional(StoredByInput),
};
/** Query parameters that are valid only with the id `latest`. */
export const SnapshotQuery = Type.Object(
  { source: Type.Optional(PathInput), stored_by: Type.Optional(StoredByInput) },
  { additionalProperties: false },
);
export const DIFF_FILTERS = { base: Type.Optional(IdInput) };

export const Deleted = Type.Object({ id: Type.String(), deleted: Type.Literal(true) });
