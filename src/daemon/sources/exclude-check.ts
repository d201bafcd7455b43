/** Checks exclude patterns before a job is queued, so that the person learns of a fault at once. */
import { compileSettings, typedPattern } from '../../exclude/patterns.ts';
import { treePath } from '../../base/tree-path.ts';
import { RequestError } from '../../base/errors.ts';

/** @throws {RequestError} INVALID_REQUEST, with the field of the request, for a pattern that could never match */
export function checkExcludes(patterns: readonly string[], source: string): void {
  try {
    for (const pattern of patterns) checkPattern(pattern, source, 'the backup request');
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    const { message, hint } = error;
    throw new RequestError('INVALID_REQUEST', message, { hint, details: { field: 'options.exclude' } });
  }
}

/** @param from where the pattern is written, for the message. @throws {RequestError} */
export function checkPattern(pattern: string, source: string, from: string): void {
  if (pattern.includes('\0'))
    throw new RequestError('INVALID_REQUEST', `A pattern in ${from} holds a NUL`, {
      hint: 'No path has one. Leave it out.',
    });
  compileSettings([{ pattern: typedPattern(pattern), from }], treePath(source));
}
