import { describe, expect, it } from 'vitest';
import type { Job } from '../../../src/jobs/job.ts';
import { noticeOfJob } from '../../../src/notify/job-notice.ts';
import { titleOf } from '../../../src/notify/notice.ts';
import { restoreJob, sampleJob } from './sample-job.ts';

const kindOf = (job: Job): string | undefined => noticeOfJob(job, 'workshop', [])?.kind;

describe('the notice of a job', () => {
  it('says what was done', () => {
    expect(noticeOfJob(sampleJob(), 'workshop', ['a line'])).toEqual({
      kind: 'backup.completed',
      host: 'workshop',
      source: '/home/ada',
      destination: 'nas',
      job: { id: 'bkp_01JD0000000000000000000000', durationMs: 65_000, exitStatus: 0, errorCode: null },
      text: '1234 files, 5.0 MiB, in 1m5s.',
      log: ['a line'],
    });
  });

  it('counts one file as one', () => {
    expect(noticeOfJob(sampleJob({ files_done: 1 }), 'workshop', [])?.text).toMatch(/^1 file, /);
  });

  it('names the files that could not be saved', () => {
    const problem = { path: '/home/ada/db', code: 'READ_ERROR', message: 'permission denied' };
    const job = sampleJob({
      result: 'warning',
      warnings_count: 12,
      problems: Array.from({ length: 12 }, () => problem),
    });
    const notice = noticeOfJob(job, 'workshop', []);
    expect(notice).toMatchObject({ kind: 'backup.warning', job: { exitStatus: 3 } });
    expect(notice?.text).toMatch(
      / 12 warnings\. The first ones:\n(?:\/home\/ada\/db: permission denied\n?){10}$/,
    );
  });

  it('has a title that says only what is so: a warning need not be about files', () => {
    const titleFor = (job: Job): string | undefined => {
      const notice = noticeOfJob(job, 'workshop', []);
      return notice === null ? undefined : titleOf({ source: null, job: null, ...notice });
    };
    expect(titleFor(sampleJob())).toBe('Backup completed: /home/ada');
    expect(titleFor(sampleJob({ result: 'warning' }))).toBe('Backup completed with warnings: /home/ada');
    expect(titleFor(restoreJob())).toBe('Restore completed');
    expect(titleFor(restoreJob({ result: 'warning' }))).toBe('Restore completed with warnings');
  });

  it('says why it failed', () => {
    const error = {
      code: 'WRONG_PASSPHRASE',
      message: 'The passphrase is wrong. Give another.',
      details: {},
    };
    expect(noticeOfJob(sampleJob({ status: 'failed', result: null, error }), 'workshop', [])).toMatchObject({
      kind: 'backup.failed',
      job: { exitStatus: 1, errorCode: 'WRONG_PASSPHRASE' },
      text: 'The passphrase is wrong. Give another.',
    });
  });

  it('says what to do about damage, which the error only names', () => {
    const error = { code: 'CORRUPT_DATA', message: 'pack 1 is damaged.', details: {} };
    for (const type of ['check', 'drill'] as const) {
      const job = sampleJob({ type, status: 'failed', result: null, error });
      expect(noticeOfJob(job, 'workshop', [])?.text).toBe(
        'pack 1 is damaged. To see what that means for your backups, and what to do, run: holdfast status',
      );
    }
  });

  it('tells the start of backups and the end of restores', () => {
    const running = sampleJob({ status: 'running', result: null, finished_at: null });
    expect(noticeOfJob(running, 'workshop', [])).toMatchObject({
      kind: 'backup.started',
      job: { durationMs: null, exitStatus: null },
    });
    expect(kindOf(restoreJob())).toBe('restore.completed');
    expect(noticeOfJob(restoreJob({ status: 'failed' }), 'workshop', [])).toMatchObject({
      kind: 'restore.failed',
      source: null,
    });
  });

  it('is about maintenance only when it fails', () => {
    const check = sampleJob({ type: 'check', spec: { type: 'check', destination: 'nas', read_data: 1 } });
    expect(kindOf(check)).toBeUndefined();
    expect(kindOf({ ...check, status: 'failed' })).toBe('check.failed');
  });

  it('is not there for jobs that wait, were canceled or only pretended', () => {
    expect(kindOf(sampleJob({ status: 'queued' }))).toBeUndefined();
    expect(kindOf(sampleJob({ status: 'canceled' }))).toBeUndefined();
    const { spec } = sampleJob();
    if (spec.type !== 'backup') throw new Error('not a backup');
    expect(
      kindOf(sampleJob({ spec: { ...spec, options: { ...spec.options, dry_run: true } } })),
    ).toBeUndefined();
    expect(kindOf(restoreJob({}, true))).toBeUndefined();
  });
});
