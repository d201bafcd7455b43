/** Schemas of single values that several resources use. */
import { NO_NUL } from '../../base/one-line.ts';
import { type Static, type TSchema, Type } from '../../base/schema-type.ts';

/** RFC 3339, in UTC with milliseconds. */
export const Time = Type.String();

export function Nullable<Schema extends TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()]);
}

export const MaybeTime = Nullable(Time);
export const Count = Type.Integer({ minimum: 0 });

/** The longest path, in bytes. */
export const MAX_PATH_BYTES = 4096;

/** A path in a request. The schema limits characters; the limit in bytes is checked when the path is read. */
export const PathInput = Type.String({ minLength: 1, maxLength: MAX_PATH_BYTES, pattern: NO_NUL });
/** A path's bytes in base64. */
export const PathB64Input = Type.String({ minLength: 1, maxLength: 5464 });

/** An id in a request. Any text is accepted, because an id that does not exist is answered with 404, not 400. */
export const IdInput = Type.String({ minLength: 1, maxLength: 128 });

/** A time in a request. `readTime` parses it and reports errors. */
export const TimeInput = Type.String({ minLength: 1, maxLength: 64 });

/** Path parameters of a route for one resource. */
export const IdParams = Type.Object({ id: Type.String() });

/** The key that a snapshot was stored with. */
export const StoredBy = Type.Object({
  /** `full`, or a write-only key as `3@1a2b3c4d`: the value for `stored_by` in requests. */
  key: Type.String(),
  /** Number of the write-only key; null for full keys. */
  write_only_key: Nullable(Count),
  /** Label of the write-only key; null where it is not known. */
  label: Nullable(Type.String()),
});
export type StoredBy = Static<typeof StoredBy>;

/** Selects keys: `full`, the number of a write-only key, or `key` of `StoredBy`. */
export const StoredByInput = Type.String({
  pattern: '^(?:full|[1-9][0-9]{0,9}(?:@(?:[0-9a-f]{8}|unknown))?)$',
});
