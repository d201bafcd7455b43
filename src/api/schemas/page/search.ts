import { Type } from '../../../base/schema-type.ts';
import { PathInput } from '../values.ts';

/** `GET /search`: filters beside `limit` and `cursor`; gives files as `GET /files` does, of the newest snapshot that has each. */
export const SEARCH_FILTERS = {
  /** Substring of the name, or a glob with * and ?. */
  q: Type.String({ minLength: 1, maxLength: 1024 }),
  source: Type.Optional(PathInput),
};
