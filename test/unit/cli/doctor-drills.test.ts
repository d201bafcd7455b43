import { expect, test } from 'vitest';
import { restoreDrillFinding } from '../../../src/cli/doctor/drills.ts';
import type { Job } from '../../../src/jobs/job.ts';
import { jobOf } from '../../support/api-jobs.ts';

const drill = (changes: Partial<Job>): Job =>
  jobOf({ type: 'drill', destination: 'nas', files: 20 }, { finished_at: 1_600_000_000_000, ...changes });

const done = drill({ status: 'completed', files_done: 20 });
const failed = drill({ id: 'job-2', status: 'failed' });
const unfinished = [drill({ status: 'canceled' }), drill({ status: 'running', finished_at: null })];

test('the restore drill that ended last is told of, whatever was canceled since', () => {
  expect(restoreDrillFinding([...unfinished, done, failed])).toMatchObject({
    status: 'ok',
    message: expect.stringMatching(/^20 files of "nas" came back whole on 2020-09-1/),
  });
});

test('one that failed is a warning that says where to look', () => {
  expect(restoreDrillFinding([failed, done])).toMatchObject({
    status: 'warning',
    hint: 'See: holdfast jobs job-2',
  });
});

test('one that found damage is an error', () => {
  const error = { code: 'CORRUPT_DATA', message: 'damaged', details: {} } as const;
  expect(restoreDrillFinding([{ ...failed, error }, done])).toMatchObject({
    status: 'error',
    message: expect.stringContaining('The last one of "nas" failed'),
  });
});

test('a good one of one destination hides no failed one of another', () => {
  const elsewhere = jobOf(
    { type: 'drill', destination: 'drive', files: 20 },
    { status: 'completed', files_done: 20, finished_at: 1_600_000_100_000 },
  );
  expect(restoreDrillFinding([elsewhere, failed, done])).toMatchObject({ status: 'warning' });
});

test('one that had nothing to restore proves nothing', () => {
  expect(restoreDrillFinding([drill({ status: 'completed', files_done: 0 })]).status).toBe('warning');
});

test('before the first has ended there is nothing to say', () => {
  expect(restoreDrillFinding(unfinished)).toMatchObject({ status: 'ok', message: 'None has ended yet' });
});
