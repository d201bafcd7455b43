/** Tags of snapshots that say which job has made them. Nobody else may give one: it is taken at its word. */
import { RequestError } from './errors.ts';

const BEGINNING = 'job:';

/** Stands in the tags of a snapshot, so that a job that was interrupted after its commit finds it. */
export function jobTag(id: string): string {
  return `${BEGINNING}${id}`;
}

/** Of a snapshot whose job had exclude rules of its own beside those of the settings: it shows less than its source has. */
export const NARROWED_TAG = `${BEGINNING}narrowed`;

/** @param exclude rules of the job's own */
export function jobTags(id: string, exclude: readonly string[]): readonly string[] {
  return exclude.length === 0 ? [jobTag(id)] : [jobTag(id), NARROWED_TAG];
}

export function isNarrowed(tags: readonly string[]): boolean {
  return tags.includes(NARROWED_TAG);
}

export function isJobTag(tag: string): boolean {
  return tag.startsWith(BEGINNING);
}

/**
 * Tags that somebody chose for a snapshot.
 * @throws {RequestError} INVALID_REQUEST, naming the field of the request, for one that would pass for a job's
 */
export function requireOwnTags(
  tags: readonly string[],
  details: Readonly<Record<string, string>> = {},
): void {
  const found = tags.find(isJobTag);
  if (found === undefined) return;
  throw new RequestError('INVALID_REQUEST', `The tag "${found}" is not for people to give`, {
    hint: 'Tags that begin with "job:" say which backup has made a snapshot. Choose another word.',
    details,
  });
}
