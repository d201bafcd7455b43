import { type Static, Type } from '../../../base/schema-type.ts';
import { File } from '../snapshot.ts';
import { Count, IdInput, PathB64Input, PathInput } from '../values.ts';

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

export const Entries = Type.Object({
  items: Type.Array(File),
  /** Number of all entries of the directory. */
  total: Count,
});
export type Entries = Static<typeof Entries>;

/**
 * `GET /search`: filters in addition to `limit` and `cursor`. Returns files in the form of `GET /files`, each from the
 * newest snapshot that has it.
 */
export const SEARCH_FILTERS = {
  /** Substring of the name, or a glob with * and ?. */
  q: Type.String({ minLength: 1, maxLength: 1024 }),
  source: Type.Optional(PathInput),
};
