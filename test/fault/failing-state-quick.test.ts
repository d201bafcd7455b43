/** Some calls to the state database fail, in one way each; `npm run test:sweep` has every call and every way. */
// Turn 5 of 8.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { removeTree } from '../support/remove-tree.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { sweepFailingState } from '../sweep/failing-state.ts';

test('whichever call to the state database fails, what was told to be noted is noted, and nothing else', () => {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-failing-state-'));
  try {
    const plan = {
      directory: join(directory, 'state'),
      every: 13,
      allWays: false,
      random: seededRandom(20_261_122),
    };
    const { failures, opening, violations } = sweepFailingState(plan);
    expect(violations).toEqual([]);
    expect(failures).toBeGreaterThan(10);
    expect(opening).toBeGreaterThan(0);
  } finally {
    removeTree(directory);
  }
});
