import { expect, test } from 'vitest';
import { keepHouse } from '../../../src/daemon/housekeeping.ts';
import type { AgentState } from '../../../src/jobs/open-state.ts';
import { manualClock } from '../../support/manual-clock.ts';

const HOUR_MS = 3_600_000;

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
    trouble: (error) => troubles.push(error),
  });
  expect(house).toBeDefined();
  for (let hours = 0; hours < 5; hours += 1) await clock.advance(HOUR_MS);
  expect([tidied, reminded]).toEqual([5, 6]);
  expect(troubles).toEqual([full, full, full, full, full]);
});
