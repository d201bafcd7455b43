/** Some calls of every operation fail, in one way each; `npm run test:sweep` has every call and every way. */
// Turn 2 of 8.
import { expect, test } from 'vitest';
import { seededRandom } from '../support/seeded-random.ts';
import { sweepEveryCall } from '../sweep/every-call.ts';
import { Workspace } from '../sweep/workspace.ts';

test('whichever call to the destination fails, the operation says so or is done, and nothing is lost', async () => {
  using workspace = new Workspace('quick-every-call');
  const plan = { every: 9, allWays: false, random: seededRandom(20_261_122) };
  const { failures, violations } = await sweepEveryCall(workspace, plan);
  expect(violations).toEqual([]);
  expect(Math.min(...failures.values())).toBeGreaterThan(0);
});
