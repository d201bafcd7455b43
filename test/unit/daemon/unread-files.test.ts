import { describe, expect, test } from 'vitest';
import { defaultSettings, defaultSource } from '../../../src/config/effective-settings.ts';
import { isAccepted, unreadIn, withAccepted } from '../../../src/daemon/health/unread-files.ts';
import { completed, newJob, started } from '../../../src/jobs/job-states.ts';
import type { Job, JobProblem } from '../../../src/jobs/job.ts';
import { OUTCOME } from '../jobs/fake-engines.ts';
import { backupOf } from '../jobs/runner-site.ts';

const context = { home: '/home/ana', stateDirectory: '/state' };
const plain = defaultSource('/a', defaultSettings(context), context);
const accepting = (...acceptUnreadable: readonly string[]) => ({ ...plain, acceptUnreadable });

const denied = (path: string): JobProblem => ({
  path,
  code: 'EACCES',
  message: 'it cannot be read: permission denied (EACCES)',
});

function job(problems: readonly JobProblem[], failed: number, warnings = problems.length): Job {
  const outcome = {
    ...OUTCOME,
    result: 'warning' as const,
    warnings,
    progress: { ...OUTCOME.progress, files_failed: failed },
  };
  const made = completed(started(newJob('bkp_1', backupOf('/a', 'usb'), 'api', 0), 0), outcome, 1);
  return { ...made.job, problems };
}

describe('what the last backup could not read', () => {
  test('is counted and named, files apart from folders', () => {
    const problems = ['/a/1', '/a/2', '/a/3', '/a/4', '/a/folder'].map(denied);
    expect(unreadIn(job(problems, 4), plain)).toEqual({
      files: 4,
      folders: 1,
      named: ['/a/1', '/a/2', '/a/3'],
    });
  });

  test('is neither what changed, nor what vanished, nor what a command or a rule came to', () => {
    const codes = ['CHANGED', 'ENOENT', 'HOOK_FAILED', 'EXCLUDE_FILE_UNREADABLE'];
    const problems = codes.map((code) => ({ path: '/a/x', code, message: '' }));
    expect(unreadIn(job(problems, 0), plain)).toEqual({ files: 0, folders: 0, named: [] });
  });

  test('leaves out what was accepted, with what is below, and nothing of a longer name', () => {
    const problems = ['/a/b/c', '/a/bc', '/a/d'].map(denied);
    expect(unreadIn(job(problems, 3), accepting('/a/b', '/a/d'))).toEqual({
      files: 1,
      folders: 0,
      named: ['/a/bc'],
    });
    expect(isAccepted('/a/bc', ['/a/b'])).toBe(false);
    expect(isAccepted('/a/bc', ['/'])).toBe(true);
  });

  test('counts what is beyond the list, which nobody can have accepted', () => {
    expect(unreadIn(job([denied('/a/b')], 5, 5), accepting('/a/b'))).toMatchObject({ files: 4, named: [] });
  });

  test('is known by its count where the names are kept no longer', () => {
    expect(unreadIn(job([], 2, 2), plain)).toMatchObject({ files: 2, named: [] });
  });
});

describe('the outcome of a backup', () => {
  const outcome = { ...OUTCOME, files: 3, result: 'warning' as const, warnings: 1 };

  test('is a good one when all that could not be read was accepted', () => {
    expect(withAccepted(outcome, [denied('/a/b')], accepting('/a/b')).result).toBe('success');
  });

  test.each([
    ['something else could not be read', outcome, [denied('/a/c')]],
    ['more was told of than is listed', { ...outcome, warnings: 2 }, [denied('/a/b')]],
    ['it has no file at all', { ...outcome, files: 0 }, [denied('/a/b')]],
    ['a file changed meanwhile', outcome, [{ path: '/a/b', code: 'CHANGED', message: '' }]],
  ] as const)('stays a warning when %s', (_, of, problems) => {
    expect(withAccepted(of, problems, accepting('/a/b')).result).toBe('warning');
  });
});
