import { describe, expect, test } from 'vitest';
import { jobFields, jobLog } from '../../../../src/api/presentation/job.ts';
import { NO_PROGRESS } from '../../../../src/jobs/job.ts';
import { BACKUP_SPEC, jobOf } from '../../../support/api-jobs.ts';

describe('the fields of a job', () => {
  test('have times in RFC 3339, and null for those to come', () => {
    const fields = jobFields(jobOf(BACKUP_SPEC, { started_at: 1_600_000_000_007 }), 0);
    expect(fields.created_at).toBe('2020-09-13T12:26:40.000Z');
    expect(fields.started_at).toBe('2020-09-13T12:26:40.007Z');
    expect(fields.finished_at).toBeNull();
  });

  test('have a duration in whole seconds that grows while the job runs', () => {
    const running = jobOf(BACKUP_SPEC, { status: 'running', started_at: 1_000 });
    expect(jobFields(running, 4_999).duration_seconds).toBe(3);
    expect(jobFields(running, 5_000).duration_seconds).toBe(4);
    // The clock was set back.
    expect(jobFields(running, 0).duration_seconds).toBe(0);
    // What an earlier attempt took counts.
    expect(jobFields({ ...running, duration_ms: 60_000 }, 5_000).duration_seconds).toBe(60);
  });

  test('have the duration of the job once it has ended', () => {
    const ended = jobOf(BACKUP_SPEC, { status: 'completed', started_at: 1_000, duration_ms: 2_500 });
    expect(jobFields(ended, 900_000).duration_seconds).toBe(2);
  });

  test('hide what a destination must not show', () => {
    const spec = { ...BACKUP_SPEC, destination: 'sftp://ana:geheim@host/dir?key=geheim' };
    expect(jobFields(jobOf(spec), 0).destination).toBe('sftp://ana@host/dir');
  });

  test('have whole numbers where figures were measured', () => {
    const progress = {
      ...NO_PROGRESS,
      percent: 33.3333,
      bytes_done: 10.5,
      rate_bytes_per_second: 1234.56,
      eta_seconds: 0.2,
    };
    expect(jobFields(jobOf(BACKUP_SPEC, { progress, size_bytes: 7.9 }), 0)).toMatchObject({
      size_bytes: 7,
      progress: { percent: 33.3, bytes_done: 10, rate_bytes_per_second: 1234, eta_seconds: 1 },
    });
  });

  test.each([
    [-1, 0],
    [100.4, 100],
    [null, null],
  ])('have a percentage of %j as %j', (percent, shown) => {
    const progress = { ...NO_PROGRESS, percent };
    expect(jobFields(jobOf(BACKUP_SPEC, { progress }), 0).progress.percent).toBe(shown);
  });

  test('leave out figures that are none', () => {
    const progress = {
      ...NO_PROGRESS,
      rate_bytes_per_second: Number.NaN,
      eta_seconds: Number.POSITIVE_INFINITY,
    };
    expect(jobFields(jobOf(BACKUP_SPEC, { progress }), 0).progress).toMatchObject({
      rate_bytes_per_second: 0,
      eta_seconds: null,
    });
  });

  test('have no error code that the registry does not have', () => {
    const error = { code: 'NO_SUCH_CODE', message: 'It failed.', details: {} };
    const shown = jobFields(jobOf(BACKUP_SPEC, { status: 'failed', error }), 0).error;
    expect(shown).toEqual({ ...error, code: 'INTERNAL_ERROR' });
  });

  test('have the error with its details', () => {
    const error = { code: 'READ_ERROR', message: 'It failed. Try again.', details: { path: '/x' } };
    expect(jobFields(jobOf(BACKUP_SPEC, { status: 'failed', error }), 0).error).toEqual(error);
  });
});

test('a log has its lines with times, and the problems', () => {
  const problems = [{ path: '/x', code: 'EIO', message: 'it cannot be read' }];
  const lines = [{ at: 0, level: 'info', text: 'begun' }] as const;
  expect(jobLog(jobOf(BACKUP_SPEC, { problems }), lines)).toEqual({
    id: 'bkp_01JD0K7W3V8X5Q2N6M4T9R1B0C',
    lines: [{ at: '1970-01-01T00:00:00.000Z', level: 'info', text: 'begun' }],
    problems,
  });
});
