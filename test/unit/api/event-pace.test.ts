import { expect, test } from 'vitest';
import { createEventPace, PROGRESS_MS } from '../../../src/api/routes/event-stream.ts';
import type { AgentEvent } from '../../../src/jobs/agent.ts';
import { manualClock } from '../../support/manual-clock.ts';

function progress(id: number, jobId: string): AgentEvent {
  return { id, kind: 'job.updated', jobId, at: 0, data: {} };
}

test('the first goes at once; of what follows, the latest of each job waits its turn', async () => {
  const clock = manualClock();
  const pace = createEventPace(clock);
  expect(pace.admits(progress(1, 'a'))).toBe(true);
  expect(pace.waitMs()).toBe(Number.POSITIVE_INFINITY);
  for (const [id, job] of [
    [2, 'a'],
    [3, 'b'],
    [4, 'a'],
  ] as const) {
    expect(pace.admits(progress(id, job))).toBe(false);
  }
  expect(pace.waitMs()).toBe(PROGRESS_MS);
  expect(pace.release()).toBeUndefined();
  await clock.advance(PROGRESS_MS);
  expect(pace.release()?.id).toBe(4);
  expect(pace.release()).toBeUndefined();
  await clock.advance(PROGRESS_MS);
  expect(pace.release()?.id).toBe(3);
  await clock.advance(PROGRESS_MS);
  expect(pace.admits(progress(5, 'a'))).toBe(true);
});

test('one that waits goes before one that comes', async () => {
  const clock = manualClock();
  const pace = createEventPace(clock);
  pace.admits(progress(1, 'a'));
  pace.admits(progress(2, 'a'));
  await clock.advance(PROGRESS_MS);
  expect(pace.admits(progress(3, 'b'))).toBe(false);
  expect(pace.release()?.id).toBe(2);
});

test('what waits is forgotten when something later is told of the job', () => {
  const pace = createEventPace(manualClock());
  pace.admits(progress(1, 'a'));
  pace.admits(progress(2, 'a'));
  pace.forget('a');
  expect(pace.waitMs()).toBe(Number.POSITIVE_INFINITY);
});
