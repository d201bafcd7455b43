import { describe, expect, test } from 'vitest';
import type { AnyJob } from '../../../src/api/schemas/page/jobs.ts';
import { activeJobs, heard, type LiveJobs, remembered } from '../../../src/ui/agent/overview.ts';
import { AskError } from '../../../src/ui/agent/ask.ts';
import { backupJob } from '../../support/backup-job.ts';
import { outcomesOf } from '../../../src/ui/pages/first-run/first-backup.tsx';

const NONE: LiveJobs = new Map();

function job(
  id: string,
  facts: Partial<Pick<AnyJob, 'status' | 'created_at' | 'phase'>> = {},
  source = '/a',
): AnyJob {
  return backupJob({
    id,
    status: 'running',
    result: null,
    snapshot_id: null,
    started_at: null,
    finished_at: null,
    source,
    created_at: `2026-11-22T12:00:00.00${id}Z`,
    ...facts,
  });
}

describe('running and waiting jobs', () => {
  test('are as the last event tells, without asking again', () => {
    const live = heard(NONE, { kind: 'job.updated', job: job('1', { phase: 'uploading' }) });
    expect(activeJobs([job('1', { phase: 'scanning' })], live)).toMatchObject([{ phase: 'uploading' }]);
  });

  test('come up as soon as they are made, and go as soon as they end', () => {
    const made = heard(NONE, { kind: 'job.created', job: job('2', { status: 'queued' }) });
    expect(activeJobs([job('1')], made).map(({ id }) => id)).toEqual(['1', '2']);
    const ended = heard(made, { kind: 'job.finished', job: job('1', { status: 'completed' }) });
    expect(activeJobs([job('1')], ended).map(({ id }) => id)).toEqual(['2']);
  });

  test('stand with those first that run, then those that wait, the oldest first', () => {
    const told = [job('3', { status: 'queued' }), job('2', { status: 'queued' }), job('4')];
    expect(activeJobs(told, NONE).map(({ id }) => id)).toEqual(['4', '2', '3']);
  });

  test('are forgotten once they are over and the overview knows it', () => {
    const ended = heard(NONE, { kind: 'job.finished', job: job('1', { status: 'failed' }) });
    expect(remembered(ended, [job('1')])).toBe(ended);
    expect([...remembered(ended, [])]).toEqual([]);
  });

  test('are not touched by events that are about no job', () => {
    expect(heard(NONE, { kind: 'status', job: null })).toBe(NONE);
  });
});

describe('the first backup of a source', () => {
  const source = {
    path: '/a',
    name: 'a',
    destination: 'nas',
    schedule: null,
    last_good_backup_at: null,
    earlier_backup_at: null,
    next_run_at: null,
    overdue: false,
    watching: true,
    files: null,
    size_bytes: null,
    history: [],
  };
  const good = { ...source, last_good_backup_at: '2026-11-22T12:00:00.000Z' };
  const state = (known: Partial<Parameters<typeof outcomesOf>[1]>) =>
    outcomesOf(['/a'], { sources: [source], jobs: [], recent: [], refusals: [], ...known })[0]?.state;

  test('is done when it is good at each destination', () => {
    expect(state({ sources: [good] })).toBe('done');
    expect(state({ sources: [good, { ...source, destination: 'usb' }] })).toBe('waits');
  });

  test('is under way, waits, or has failed', () => {
    expect(state({})).toBe('waits');
    expect(state({ jobs: [job('1')] })).toBe('active');
    expect(state({ jobs: [job('1', {}, '/b')] })).toBe('waits');
    expect(state({ recent: [job('1', { status: 'failed' })] })).toBe('failed');
    expect(state({ jobs: [job('2')], recent: [job('1', { status: 'failed' })] })).toBe('active');
  });

  test('has failed when it was refused, until there is a job of it', () => {
    const refusals = [{ path: '/a', error: new AskError('INVALID_SOURCE', 400, 'it is away', {}) }];
    expect(state({ refusals })).toBe('failed');
    expect(state({ refusals, jobs: [job('1')] })).toBe('active');
    expect(state({ refusals: refusals.map((one) => ({ ...one, path: '/b' })) })).toBe('waits');
  });
});
