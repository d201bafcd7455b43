/** The steps of a job, each by itself: the queue that takes them is tested as a whole elsewhere. */
import { expect, it } from 'vitest';
import type { Wait } from '../../../src/jobs/job.ts';
import { cut, died, newJob, readsItself, started, stopped, waiting } from '../../../src/jobs/job-states.ts';
import { backupOf } from './runner-site.ts';

const STORE: Wait = {
  code: 'asked_again',
  params: { whom: 'store', because: 'SlowDown', again_in_seconds: 16 },
};

it.each([
  ['was cut off by a power failure', cut],
  ['lost its engine', (record: ReturnType<typeof waiting>) => died(record, 'agent-ended', 2_000, null)],
  ['is to read the source itself', readsItself],
  ['was stopped with the agent', stopped],
] as const)('a job that %s waits no more for what it waited for when it ran', (_, step) => {
  const running = started(newJob('j', backupOf('source', 'destination'), 'schedule', 1_000), 1_000);
  const held = waiting(running, STORE);
  expect(held.job.waiting_for).toContain('SlowDown');
  expect(step(held).job).toMatchObject({ status: 'queued', waiting_for: null, waits: null });
});
