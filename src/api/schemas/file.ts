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

const FileType = Type.Enum(['file', 'directory', 'symlink', 'other']);

const FILE_FIELDS = {
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
