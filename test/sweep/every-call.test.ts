/** Every call of every operation to its destination fails in every way (SWEEP_EVERY: each so many-th call only). */
import { expect, test } from 'vitest';
import { seededRandom } from '../support/seeded-random.ts';
import { sweepEveryCall } from './every-call.ts';
import { say, sweepCount, sweepSeed, tell } from './settings.ts';
import { Workspace } from './workspace.ts';

test('whichever call to the destination fails, the operation says so or is done, and nothing is lost', async () => {
  using workspace = new Workspace('every-call');
  const seed = sweepSeed();
  const { failures, violations } = await sweepEveryCall(workspace, {
    every: sweepCount('SWEEP_EVERY', 1),
    allWays: true,
    random: seededRandom(seed),
    tell: (operation, done) => tell(`${operation}: ${done} failures`),
  });
  const total = [...failures.values()].reduce((sum, count) => sum + count, 0);
  const shown = [...failures].map(([name, count]) => `${name} ${count}`).join(', ');
  say(`every call: ${total} failures (${shown}), ${violations.length} violations; seed ${seed}`, {
    trials: total,
    fired: total,
    violations: violations.length,
  });
  expect(violations).toEqual([]);
  expect(Math.min(...failures.values())).toBeGreaterThan(0);
});
