import { describe, expect, test } from 'vitest';
import {
  BugError,
  DestinationError,
  RepositoryError,
  RequestError,
  SourceError,
  StateError,
} from '../../../src/base/errors.ts';
import { jobErrorOf } from '../../../src/engine/job-error.ts';

describe('the error of a job', () => {
  test.each([
    [new DestinationError('full', 'x'), 'INSUFFICIENT_STORAGE'],
    [new DestinationError('unreachable', 'x'), 'DESTINATION_UNREACHABLE'],
    [new DestinationError('denied', 'x'), 'DESTINATION_AUTH_FAILED'],
    [new DestinationError('denied', 'x', { details: { errno: 'EROFS' } }), 'DESTINATION_ERROR'],
    [new DestinationError('not-found', 'x'), 'DESTINATION_ERROR'],
    [new RepositoryError('NO_REPOSITORY', 'x'), 'DESTINATION_ERROR'],
    [new RepositoryError('WRONG_PASSPHRASE', 'x'), 'WRONG_PASSPHRASE'],
    [new RepositoryError('REPOSITORY_LOCKED', 'x'), 'REPOSITORY_LOCKED'],
    [new RepositoryError('CORRUPT_DATA', 'x'), 'CORRUPT_DATA'],
    [new RepositoryError('PATH_NOT_IN_SNAPSHOT', 'x'), 'PATH_NOT_IN_SNAPSHOT'],
    [new StateError('TARGET_FULL', 'x'), 'INSUFFICIENT_STORAGE'],
    [new StateError('TARGET_IN_USE', 'x'), 'INVALID_TARGET'],
    [new StateError('STATE_DAMAGED', 'x'), 'WRITE_ERROR'],
    [new SourceError('INVALID_SOURCE', 'x'), 'INVALID_SOURCE'],
    [new SourceError('ANYTHING', 'x'), 'READ_ERROR'],
    [new RequestError('INVALID_TARGET', 'x'), 'INVALID_TARGET'],
    [new RequestError('EXCLUDE_PATTERN', 'x'), 'INVALID_REQUEST'],
    [new BugError('x'), 'INTERNAL_ERROR'],
    [Object.assign(new Error('x'), { code: 'ENOSPC' }), 'INSUFFICIENT_STORAGE'],
    [Object.assign(new Error('x'), { code: 'EIO' }), 'WRITE_ERROR'],
    [new TypeError('x'), 'INTERNAL_ERROR'],
    ['thrown text', 'INTERNAL_ERROR'],
  ])('of %s has the code %s', (error, code) => {
    expect(jobErrorOf(error, 'restore').code).toBe(code);
  });

  test('says what happened and then what to do', () => {
    const error = new DestinationError('full', 'No space is left', { hint: 'Free some space.' });
    expect(jobErrorOf(error, 'backup').message).toBe('No space is left. Free some space.');
  });

  test('names a request beside the command, for whoever reads the job through the API', () => {
    const error = new RepositoryError('PATH_NOT_IN_SNAPSHOT', '/x is not in snapshot 1', {
      hint: 'To look further, run: holdfast versions /x',
    });
    expect(jobErrorOf(error, 'restore').message).toBe(
      '/x is not in snapshot 1. To look further, run: holdfast versions /x. A program asks GET /files/versions.',
    );
  });

  test('carries the details of the error but no stack', () => {
    const error = new DestinationError('full', 'x', { details: { key: 'packs/a' }, retry: 'later' });
    expect(jobErrorOf(error, 'backup').details).toEqual({ key: 'packs/a', retry: 'later' });
    const bug = new BugError('x', { details: { stack: 'at somewhere' } });
    expect(jobErrorOf(bug, 'backup').details).toEqual({});
  });

  test.each([
    ['backup', 'ENOSPC', true],
    ['prune', 'EROFS', true],
    ['backup', 'EACCES', undefined],
    ['restore', 'ENOSPC', undefined],
  ] as const)(
    'of a %s says whether the disk of the state, with %s, may take writes again',
    (type, errno, waits) => {
      const cause = Object.assign(new Error('x'), { code: errno });
      expect(
        jobErrorOf(new StateError('WRITE_ERROR', 'x', { cause }), type).details['state_unwritable'],
      ).toBe(waits);
    },
  );
});
