/** Every call to the state database of the agent fails in every way (SWEEP_EVERY: each so many-th call only). */
import { expect, test } from 'vitest';
import { seededRandom } from '../support/seeded-random.ts';
import { sweepFailingState } from './failing-state.ts';
import { say, sweepCount, sweepSeed } from './settings.ts';
import { Workspace } from './workspace.ts';

test('whichever call to the state database fails, what was told to be noted is noted, and nothing else', () => {
  using workspace = new Workspace('failing-state');
  const seed = sweepSeed();
  const { failures, opening, violations } = sweepFailingState({
    directory: workspace.fresh(),
    every: sweepCount('SWEEP_EVERY', 1),
    allWays: true,
    random: seededRandom(seed),
  });
  say(
    `state database: ${failures} failures, of which ${opening} kept the agent from starting; ` +
      `${violations.length} violations; seed ${seed}`,
    { trials: failures, fired: failures, violations: violations.length },
  );
  expect(violations).toEqual([]);
  expect(failures).toBeGreaterThan(0);
});
