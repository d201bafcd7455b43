import { describe, expect, it } from 'vitest';
import {
  BugError,
  DestinationError,
  RepositoryError,
  SourceError,
  corrupt,
  errnoOf,
  isAbort,
  newerFormat,
} from '../../../src/base/errors.ts';

describe('errors', () => {
  it('say their side, code, hint and cause', () => {
    const cause = new Error('why');
    const error = new RepositoryError('REFUSED', 'No', {
      hint: 'Do this.',
      op: 'prune',
      retry: 'later',
      cause,
    });

    expect(error).toMatchObject({
      name: 'RepositoryError',
      side: 'repository',
      code: 'REFUSED',
      op: 'prune',
      retry: 'later',
      hint: 'Do this.',
    });
    expect(error.cause).toBe(cause);
    expect(new SourceError('EACCES', 'x')).toMatchObject({ hint: '', op: '', retry: 'never', details: {} });
    expect('cause' in new BugError('x')).toBe(false);
    expect(new DestinationError('corrupt-reply', 'x').code).toBe('DESTINATION_CORRUPT_REPLY');
  });

  it('of stored bytes name the object, and damage is not a newer version', () => {
    expect(corrupt('pack x', 'it is broken')).toMatchObject({
      code: 'CORRUPT_DATA',
      message: 'pack x: it is broken',
      details: { object: 'pack x' },
    });
    expect(newerFormat('pack x')).toMatchObject({ code: 'NEWER_FORMAT', details: { object: 'pack x' } });
  });

  it('of the system give their errno, and aborts are known', () => {
    expect(errnoOf(Object.assign(new Error('x'), { code: 'ENOENT' }))).toBe('ENOENT');
    for (const other of [undefined, null, 'ENOENT', new Error('x'), { code: 1 }])
      expect(errnoOf(other)).toBeUndefined();
    expect(isAbort(AbortSignal.abort().reason)).toBe(true);
    expect(isAbort(new Error('AbortError'))).toBe(false);
  });
});
