import { expect, onTestFinished, test, vi } from 'vitest';
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
    database: { jobs: { count: () => 1 } },
  } as unknown as AgentState;
  using house = keepHouse({
    state,
    catalogs: { rest: async () => await Promise.resolve(), lookAgain: () => undefined },
    clock,
    looks: [],
    reminders: [() => (reminded += 1)],
    returnMemory: () => undefined,
    trouble: (error) => troubles.push(error),
  });
  expect(house).toBeDefined();
  for (let hours = 0; hours < 5; hours += 1) await clock.advance(HOUR_MS);
  expect([tidied, reminded]).toEqual([5, 6]);
  expect(troubles).toEqual([full, full, full, full, full]);
});

test('memory is given back while nothing runs, and again only when there is more than after the last time', async () => {
  const clock = manualClock();
  let running = 1;
  let returned = 0;
  const state = {
    tidy: () => undefined,
    database: { jobs: { count: () => running } },
  } as unknown as AgentState;
  using house = keepHouse({
    state,
    catalogs: { rest: async () => await Promise.resolve(), lookAgain: () => undefined },
    clock,
    looks: [],
    reminders: [],
    returnMemory: () => (returned += 1),
    trouble: (error) => expect.fail(String(error)),
  });
  expect(house).toBeDefined();
  await clock.advance(MINUTE_MS);
  expect(returned).toBe(0);
  running = 0;
  await clock.advance(MINUTE_MS);
  expect(returned).toBe(1);
  const held = vi.spyOn(process.memoryUsage, 'rss');
  onTestFinished(() => held.mockRestore());
  const rss = process.memoryUsage.rss();
  held.mockReturnValue(rss);
  await clock.advance(MINUTE_MS);
  expect(returned).toBe(1);
  held.mockReturnValue(rss + 100_000_000);
  await clock.advance(MINUTE_MS);
  expect(returned).toBe(2);
});
