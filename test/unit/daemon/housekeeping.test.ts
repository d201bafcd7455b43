import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { keepHouse } from '../../../src/daemon/housekeeping.ts';
import type { AgentState } from '../../../src/jobs/open-state.ts';
import { manualClock } from '../../support/manual-clock.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

test('people are told of what they have to know where nothing can be tidied, too', async () => {
  const clock = manualClock();
  const full = new Error('database or disk is full');
  const troubles: unknown[] = [];
  let tidied = 0;
  let reminded = 0;
  const state = {
    tidy: () => {
      tidied += 1;
      throw full;
    },
    database: { jobs: { count: () => 1, lastEnded: () => [] }, rest: () => undefined },
  } as unknown as AgentState;
  using house = keepHouse({
    state,
    catalogs: { rest: async () => await Promise.resolve(true), lookAgain: () => undefined },
    clock,
    looks: [],
    reminders: [() => void (reminded += 1)],
    returnMemory: () => undefined,
    trouble: (error) => troubles.push(error),
  });
  expect(house).toBeDefined();
  for (let hours = 0; hours < 5; hours += 1) await clock.advance(HOUR_MS);
  expect([tidied, reminded]).toEqual([5, 6]);
  expect(troubles).toEqual([full, full, full, full, full]);
});

describe('memory is given back', () => {
  const rss = 100_000_000;
  const held = vi.spyOn(process.memoryUsage, 'rss');
  const clock = manualClock();
  let [running, ended, atRest, returned] = [0, 0, true, 0];
  let house: Disposable;

  beforeEach(() => {
    [running, ended, atRest, returned] = [0, 0, true, 0];
    held.mockReturnValue(rss);
    const jobs = { count: () => running, lastEnded: () => [{ id: `job_${ended}` }] };
    const state = {
      tidy: () => undefined,
      database: { jobs, rest: () => undefined },
    } as unknown as AgentState;
    house = keepHouse({
      state,
      catalogs: { rest: async () => await Promise.resolve(atRest), lookAgain: () => undefined },
      clock,
      looks: [],
      reminders: [],
      returnMemory: () => (returned += 1),
      trouble: (error) => expect.fail(String(error)),
    });
  });
  afterEach(() => {
    house[Symbol.dispose]();
    held.mockReset();
  });
  afterAll(() => held.mockRestore());

  test('while nothing runs, and again only when there is more than after the last time', async () => {
    running = 1;
    await clock.advance(MINUTE_MS);
    expect(returned).toBe(0);
    running = 0;
    await clock.advance(MINUTE_MS);
    expect(returned).toBe(1);
    await clock.advance(MINUTE_MS);
    expect(returned).toBe(1);
    held.mockReturnValue(rss + 50_000_000);
    await clock.advance(MINUTE_MS);
    expect(returned).toBe(2);
  });

  test('once more when it is quiet after a job, whatever was left between two jobs', async () => {
    await clock.advance(MINUTE_MS);
    ended += 1;
    held.mockReturnValue(rss + 50_000_000);
    await clock.advance(MINUTE_MS);
    expect(returned).toBe(2);
    held.mockReturnValue(rss + 30_000_000);
    await clock.advance(MINUTE_MS);
    expect(returned).toBe(3);
    held.mockReturnValue(rss + 40_000_000);
    await clock.advance(3 * MINUTE_MS);
    expect(returned).toBe(3);
  });

  test('once more when the catalogs rest that somebody has asked', async () => {
    await clock.advance(MINUTE_MS);
    atRest = false;
    await clock.advance(MINUTE_MS);
    expect(returned).toBe(1);
    atRest = true;
    await clock.advance(MINUTE_MS);
    expect(returned).toBe(2);
    await clock.advance(3 * MINUTE_MS);
    expect(returned).toBe(2);
  });
});
