/** Tags of snapshots that name the job that made them. They are trusted, so nobody else may set one. */
import { RequestError } from './errors.ts';

const BEGINNING = 'job:';

/** The tag of a job's snapshot, by which a job that was interrupted after its commit finds it. */
export function jobTag(id: string): string {
  return `${BEGINNING}${id}`;
}

/**
 * Marks a snapshot whose job had exclude rules in addition to those of the settings: it shows less than its source has.
 */
export const NARROWED_TAG = `${BEGINNING}narrowed`;

/** @param exclude the job's own rules */
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
 * Checks the tags that a user chose for a snapshot.
 * @throws {RequestError} INVALID_REQUEST, naming the field of the request, for a tag that looks like a job's
 */
export function requireOwnTags(
  tags: readonly string[],
  details: Readonly<Record<string, string>> = {},
): void {
  const found = tags.find(isJobTag);
  if (found === undefined) return;
  throw new RequestError('INVALID_REQUEST', `The tag "${found}" is reserved`, {
    hint: 'Tags that begin with "job:" record which backup made a snapshot. Choose another tag.',
    details,
  });
}
