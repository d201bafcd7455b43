/** Schemas of snapshots and of the files in them. */
import { type Static, Type } from '../../base/schema-type.ts';
import {
  Count,
  IdInput,
  Nullable,
  PathB64Input,
  PathInput,
  StoredBy,
  StoredByInput,
  Time,
} from './values.ts';

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

const FileType = Type.Enum(['file', 'directory', 'symlink', 'other']);

export const FILE_FIELDS = {
  path: Type.String(),
  path_b64: Nullable(Type.String()),
  name: Type.String(),
  type: FileType,
  size_bytes: Count,
  modified_at: Time,
  mode: Count,
  link_target: Nullable(Type.String()),
  children_count: Nullable(Count),
  snapshot_id: Type.String(),
  backup_id: Nullable(Type.String()),
  source: Type.String(),
  stored_by: StoredBy,
  backed_up_at: Time,
};
export const File = Type.Object(FILE_FIELDS);
export type File = Static<typeof File>;

export const FileVersion = Type.Object({
  ...FILE_FIELDS,
  change: Type.Enum(['added', 'modified', 'unchanged', 'removed']),
});
export type FileVersion = Static<typeof FileVersion>;

const PATH_INPUT = { path: Type.Optional(PathInput), path_b64: Type.Optional(PathB64Input) };
/** `latest`, an id or a time. */
const SnapshotInput = Type.String({ minLength: 1, maxLength: 128, default: 'latest' });

/** Filters of the list of files. */
export const FILE_FILTERS = {
  snapshot: SnapshotInput,
  backup_id: Type.Optional(IdInput),
  source: Type.Optional(PathInput),
  stored_by: Type.Optional(StoredByInput),
  ...PATH_INPUT,
  q: Type.Optional(Type.String({ minLength: 1, maxLength: 1024 })),
  type: Type.Optional(FileType),
  view: Type.Enum(['flat', 'tree'], { default: 'flat' }),
  sort: Type.Enum(['path', 'name', 'size', 'modified'], { default: 'path' }),
};

/** Filters of the list of versions. */
export const VERSION_FILTERS = {
  ...PATH_INPUT,
  source: Type.Optional(PathInput),
  stored_by: Type.Optional(StoredByInput),
};

export const ContentQuery = Type.Object(
  { snapshot: SnapshotInput, stored_by: Type.Optional(StoredByInput), ...PATH_INPUT },
  { additionalProperties: false },
);
