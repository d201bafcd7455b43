/** Schemas of single values that several resources have. */
import { NO_NUL } from '../../base/one-line.ts';
import { type Static, type TSchema, Type } from '../../base/schema-type.ts';

/** RFC 3339, in UTC with milliseconds. */
export const Time = Type.String();

export function Nullable<Schema extends TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()]);
}

export const MaybeTime = Nullable(Time);
export const Count = Type.Integer({ minimum: 0 });

/** Bytes of the longest path. */
export const MAX_PATH_BYTES = 4096;

/** A path in a request: characters are counted here, bytes when it is read. */
export const PathInput = Type.String({ minLength: 1, maxLength: MAX_PATH_BYTES, pattern: NO_NUL });
/** A path's bytes in base64. */
export const PathB64Input = Type.String({ minLength: 1, maxLength: 5464 });

/** An id in a request: any text, for one that does not exist is 404 and not 400. */
export const IdInput = Type.String({ minLength: 1, maxLength: 128 });

/** A time in a request; read by `readTime`, which says what is wrong with it. */
export const TimeInput = Type.String({ minLength: 1, maxLength: 64 });

/** Parameters of a path that ends in an id. */
export const IdParams = Type.Object({ id: Type.String() });

/** Who stored a snapshot. */
export const StoredBy = Type.Object({
  /** `full`, or the write-only key as `3@1a2b3c4d`: what `stored_by` of a request takes. */
  key: Type.String(),
  /** Its number; null for full keys. */
  write_only_key: Nullable(Count),
  /** What the write-only key is called; null where that is not known. */
  label: Nullable(Type.String()),
});
export type StoredBy = Static<typeof StoredBy>;

/** Which keys are meant: `full`, the number of a write-only key, or `key` of `StoredBy`. */
export const StoredByInput = Type.String({
  pattern: '^(?:full|[1-9][0-9]{0,9}(?:@(?:[0-9a-f]{8}|unknown))?)$',
});
