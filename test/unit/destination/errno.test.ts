import { afterEach, describe, expect, test, vi } from 'vitest';
import { BugError, DestinationError } from '../../../src/base/errors.ts';
import { storageError } from '../../../src/destination/local/errno.ts';

const action = { op: 'store', directory: '/mnt/backup', key: 'packs/00/a' };

afterEach(() => {
  vi.unstubAllEnvs();
});

function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: something, write`), { code });
}

describe('what an errno means', () => {
  test.each([
    ['ENOSPC', 'full', 'later'],
    ['EDQUOT', 'full', 'later'],
    ['EACCES', 'denied', 'never'],
    ['EPERM', 'denied', 'never'],
    ['EROFS', 'denied', 'never'],
    ['ENOENT', 'not-found', 'never'],
    ['ENOTDIR', 'unsupported', 'never'],
    ['EISDIR', 'unsupported', 'never'],
    ['EEXIST', 'unsupported', 'never'],
    ['ENAMETOOLONG', 'unsupported', 'never'],
    ['EFBIG', 'unsupported', 'never'],
    ['EIO', 'unreachable', 'later'],
    ['ESTALE', 'unreachable', 'later'],
    ['ETIMEDOUT', 'unreachable', 'later'],
    ['EMFILE', 'unreachable', 'now'],
    ['EBUSY', 'unreachable', 'now'],
    ['EUNHEARDOF', 'unreachable', 'later'],
  ])('%s is %s, to be tried again %s', (errno, kind, retry) => {
    const cause = systemError(errno);
    const error = storageError(cause, action);
    expect(error).toBeInstanceOf(DestinationError);
    expect(error).toMatchObject({ kind, retry, cause, details: { errno, key: action.key } });
    expect(error).toMatchObject({
      message: expect.stringContaining('Cannot write to /mnt/backup: '),
      hint: expect.stringMatching(/\w\.$/),
    });
  });

  test.each([
    ['a DestinationError', new DestinationError('exists', 'there')],
    ['another error of the program', new BugError('broken')],
    ['a programming error', new TypeError('undefined is not a function')],
    ['an error of Node’s own', systemError('ERR_OUT_OF_RANGE')],
    ['an abort', AbortSignal.abort().reason],
    ['what is no error', 'text'],
  ])('%s stays as it is', (_, error) => {
    expect(storageError(error, action)).toBe(error);
  });

  test('a limit of the process on the size of files is not blamed on the file system alone', () => {
    expect(storageError(systemError('EFBIG'), action)).toMatchObject({
      message: expect.stringContaining('the file system or a limit allows (EFBIG)'),
      hint: expect.stringContaining('ulimit -f'),
    });
  });

  test('a service whose unit refuses to write says how it is allowed', () => {
    const hint = (): unknown => Reflect.get(storageError(systemError('EROFS'), action) as object, 'hint');
    vi.stubEnv('INVOCATION_ID', undefined);
    expect(hint()).toMatch(/^Mount it with write access\..*system log\.$/);
    vi.stubEnv('INVOCATION_ID', '0123456789abcdef');
    expect(hint()).toMatch(
      /^Mount it with write access\..* sudo \S+ \S+holdfast\.js service allow-write \/mnt\/backup --\w/,
    );
  });
});
