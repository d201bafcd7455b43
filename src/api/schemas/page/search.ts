import { Type } from '../../../base/schema-type.ts';
import { PathInput } from '../values.ts';

/**
 * `GET /search`: filters in addition to `limit` and `cursor`. Returns files in the form of `GET /files`, each from the
 * newest snapshot that has it.
 */
export const SEARCH_FILTERS = {
  /** Substring of the name, or a glob with * and ?. */
  q: Type.String({ minLength: 1, maxLength: 1024 }),
  source: Type.Optional(PathInput),
};
