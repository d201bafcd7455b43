import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { causeText, errnoText, placedCauseText } from '../../../src/base/errno-words.ts';
import { StateError } from '../../../src/base/errors.ts';

function thrownBy(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  return undefined;
}

function raw(code: string, message: string): Error {
  return Object.assign(new Error(message), { code, errno: -1 });
}

/** With the code of the failure that it is about, and no call that failed. */
function ofOurs(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

describe('an error of the system', () => {
  test('is told in words, with its code', () => {
    const missing = thrownBy(() => readFileSync('/no/such/file'));
    expect(causeText(missing)).toBe('no such file or directory (ENOENT)');
    expect(causeText(raw('EPERM', 'EPERM: operation not permitted, openat'))).toBe(
      'the system does not allow it (EPERM)',
    );
    expect(causeText(raw('ECONNRESET', 'read ECONNRESET'))).toBe(
      'the other side closed the connection (ECONNRESET)',
    );
    expect(causeText(raw('EIO', ''))).toBe('the drive or share reported an error (EIO)');
  });

  test.runIf(process.platform === 'linux')('that refuses a change names the protection of files', () => {
    for (const syscall of ['renameat', 'unlinkat', 'openat', 'rename', 'open']) {
      const refused = Object.assign(raw('EPERM', `EPERM: operation not permitted, ${syscall} 'i'`), {
        syscall,
      });
      expect(causeText(refused)).toMatch(
        /^it or its directory is protected against changes \(chattr \+i .*\(EPERM\)$/,
      );
    }
    const owner = Object.assign(raw('EPERM', 'EPERM: operation not permitted, fchownat'), {
      syscall: 'fchownat',
    });
    expect(causeText(owner)).toBe('the system does not allow it (EPERM)');
  });

  test('keeps the place where the reader needs it', () => {
    const missing = thrownBy(() => readdirSync('/no/such/directory'));
    expect(placedCauseText(missing)).toBe('/no/such/directory: no such file or directory (ENOENT)');
    expect(placedCauseText(raw('ECONNREFUSED', 'connect ECONNREFUSED 10.0.0.2:22'))).toBe(
      '10.0.0.2:22: the connection was refused (ECONNREFUSED)',
    );
    expect(placedCauseText(raw('ECONNRESET', 'read ECONNRESET'))).toBe(causeText(raw('ECONNRESET', '')));
  });

  test('without words of ours is told in its own, without call and path', () => {
    expect(causeText(raw('ECHRNG', "ECHRNG: channel out of range, open '/tmp/a'"))).toBe(
      'channel out of range (ECHRNG)',
    );
    expect(causeText(raw('ECHRNG', 'open ECHRNG'))).toBe('ECHRNG');
    expect(errnoText('toString')).toBe('toString');
  });
});

describe('another error', () => {
  test('keeps its message', () => {
    expect(causeText(new StateError('X', 'Cannot write it'))).toBe('Cannot write it');
    expect(causeText(ofOurs('EACCES', 'it needs a file beside it (EACCES)'))).toBe(
      'it needs a file beside it (EACCES)',
    );
    expect(causeText(ofOurs('ETIMEDOUT', 'its file system does not answer'))).toBe(
      'its file system does not answer',
    );
    expect(causeText(new TypeError('x is not a function'))).toBe('x is not a function');
    expect(placedCauseText('plain')).toBe('plain');
  });

  test('that says nothing is unknown', () => {
    expect(causeText(new Error(''))).toBe('unknown error');
    expect(causeText(undefined)).toBe('unknown error');
  });
});
