import { type Static, Type } from '../../../base/schema-type.ts';
import { FILE_FIELDS } from '../snapshot.ts';
import { Count, IdInput, Nullable, PathB64Input, PathInput } from '../values.ts';

/** `GET /entries`: entries of a directory of one snapshot, from any offset of the sort order. */
export const EntriesQuery = Type.Object(
  {
    snapshot: IdInput,
    path: Type.Optional(PathInput),
    path_b64: Type.Optional(PathB64Input),
    sort: Type.Enum(['name', 'size', 'modified'], { default: 'name' }),
    offset: Type.Integer({ minimum: 0, maximum: 1_000_000_000, default: 0 }),
    limit: Type.Integer({ minimum: 1, maximum: 1000, default: 100 }),
  },
  { additionalProperties: false },
);

/** `GET /archive`: a directory of one snapshot with everything below it, as a tar archive. */
export const ArchiveQuery = Type.Object(
  { snapshot: IdInput, path: Type.Optional(PathInput), path_b64: Type.Optional(PathB64Input) },
  { additionalProperties: false },
);

export const ListedFile = Type.Object({
  ...FILE_FIELDS,
  /**
   * What has become of it in the newest snapshot of the same source in the same destination; null: nothing, or it is
   * not known. Times and permissions do not count.
   */
  since: Nullable(Type.Enum(['deleted', 'changed'])),
});
export type ListedFile = Static<typeof ListedFile>;

export const Entries = Type.Object({
  items: Type.Array(ListedFile),
  /** Number of all entries of the directory. */
  total: Count,
});
export type Entries = Static<typeof Entries>;

/**
 * `GET /search`: filters in addition to `limit` and `cursor`. Returns files in the form of `GET /files`, each from the
 * newest snapshot that has it.
 */
export const SEARCH_FILTERS = {
  /** Substring of the name, or a glob with * and ?. Needed unless `of` is `deleted`. */
  q: Type.String({ maxLength: 1024, default: '' }),
  /** `deleted`: only what the newest snapshot of its source no longer has, the last to disappear first. */
  of: Type.Enum(['all', 'deleted'], { default: 'all' }),
  source: Type.Optional(PathInput),
};

export const SearchHit = Type.Object({
  ...FILE_FIELDS,
  /** Whether the newest snapshot of its source no longer has it. */
  deleted: Type.Boolean(),
});
export type SearchHit = Static<typeof SearchHit>;
