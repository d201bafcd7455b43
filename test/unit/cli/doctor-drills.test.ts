import { expect, test } from 'vitest';
import { keyDrillFinding, restoreDrillFinding } from '../../../src/cli/doctor/drills.ts';
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
    message: expect.stringMatching(/^20 files from "nas" restored correctly on 2020-09-1/),
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
    message: expect.stringContaining('The last drill of "nas" failed'),
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
  expect(restoreDrillFinding(unfinished)).toMatchObject({
    status: 'ok',
    message: 'No drill has finished yet',
  });
});

const DAY = 86_400_000;
const NOW = 1_700_000_000_000;

test('a key drill of one destination proves nothing about another, and the ones never drilled are named', () => {
  const drilled = { name: 'embedded', last: NOW - DAY };
  expect(keyDrillFinding([drilled, { name: 'nas', last: undefined }], NOW)).toEqual({
    check: 'key drill',
    status: 'warning',
    message: 'The recovery code of "nas" has never been tested on this machine',
    hint: 'Test it twice a year, typing the code from paper: holdfast keys drill -r nas',
  });
  expect(keyDrillFinding([drilled, { name: 'nas', last: NOW - 300 * DAY }], NOW)).toMatchObject({
    status: 'warning',
    message: expect.stringContaining('last shown to work on "nas" on 2023-01-1'),
  });
  expect(keyDrillFinding([drilled, { name: 'nas', last: NOW }], NOW)).toMatchObject({
    status: 'ok',
    message: expect.stringContaining('on "embedded", "nas" on 2023-11-1'),
  });
});

test('without a repository there is nothing to drill, and without an agent no name of one', () => {
  expect(keyDrillFinding([], NOW)).toMatchObject({ status: 'ok' });
  expect(keyDrillFinding([{ name: undefined, last: undefined }], NOW)).toMatchObject({
    status: 'warning',
    message: 'The recovery code has never been tested on this machine',
    hint: 'Test it twice a year, typing the code from paper: holdfast keys drill',
  });
});
