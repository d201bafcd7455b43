import { describe, expect, test } from 'vitest';
import { jobText, noJobsText, stateWords } from '../../../src/cli/agent/listing-jobs.ts';
import { createStyles } from '../../../src/cli/terminal/terminal.ts';
import { NO_PROGRESS, type Job } from '../../../src/jobs/job.ts';

function job(changes: Partial<Job>): Job {
  return {
    id: 'chk_01M7Z000000000000000000000',
    type: 'check',
    status: 'queued',
    phase: null,
    result: null,
    spec: { type: 'check', destination: 'default', read_data: 0 },
    trigger: 'cli',
    attempt: 1,
    waiting_for: null,
    snapshot_id: null,
    files_done: 0,
    files_skipped: 0,
    size_bytes: 0,
    duration_ms: 0,
    progress: NO_PROGRESS,
    warnings_count: 0,
    problems: [],
    error: null,
    created_at: 0,
    started_at: null,
    finished_at: null,
    ...changes,
  };
}

describe('the state of a job in words', () => {
  test.each<readonly [Partial<Job>, string]>([
    [{}, 'queued'],
    [{ waiting_for: 'The computer runs on battery.' }, 'waiting: The computer runs on battery'],
    [{ status: 'running' }, 'running (starting)'],
    [{ status: 'running', phase: 'scanning' }, 'running (scanning)'],
    [{ status: 'running', progress: { ...NO_PROGRESS, percent: 41.9 } }, 'running, 41 %'],
    [{ status: 'completed', result: 'success' }, 'completed'],
    [{ status: 'completed', result: 'warning', warnings_count: 3 }, 'completed with 3 warnings'],
    [{ status: 'failed' }, 'failed'],
    [{ status: 'canceled' }, 'canceled'],
  ])('%j is said as "%s"', (changes, words) => {
    expect(stateWords(job(changes))).toBe(words);
  });
});

test('nothing in a job drives the terminal that it is shown on', () => {
  const hostile = 'a\u001b]0;x\u0007\nb\u202e';
  const shown = jobText(
    job({
      type: 'restore',
      spec: {
        type: 'restore',
        destination: hostile,
        snapshot_id: '00',
        paths: [],
        target: hostile,
        options: {
          overwrite: 'never',
          dry_run: false,
          verify: true,
          delete_extra: false,
          restore_ownership: false,
        },
      },
      waiting_for: hostile,
      problems: [{ path: hostile, code: 'EIO', message: hostile }],
      error: { code: 'INTERNAL_ERROR', message: hostile, details: {} },
    }),
    createStyles(false),
    (name) => name,
  );
  expect(shown).not.toMatch(/[[\p{Cc}\u202e]--\n]/v);
  expect(shown.split(String.raw`a\x1b]0;x\x07\nb\u202e`)).toHaveLength(7);
});

test('a job says the name that people know a destination by', () => {
  const check = job({ type: 'check', spec: { type: 'check', destination: 'default', read_data: 0 } });
  const shown = (name: string): string => (name === 'default' ? 'embedded' : name);
  expect(jobText(check, createStyles(false), shown)).toContain('Destination  embedded\n');
});

test('no jobs at all are not called none that match', () => {
  expect(noJobsText(null)).toBe('No jobs yet.');
  expect(noJobsText('failed')).toBe('No jobs match.');
});
