/** SWEEP_ROUNDS (16) sources of an agent that are suddenly gone, empty or nearly so. */
import { expect, test } from 'vitest';
import { seededRandom } from '../support/seeded-random.ts';
import { held, say, sweepCount, sweepSeed } from './settings.ts';
import { LOSS_NAMES, sweepSourceGone } from './source-gone.ts';

test('a source that is gone or empty makes no empty snapshot, and what was saved stays', async () => {
  const seed = sweepSeed();
  const count = sweepCount('SWEEP_ROUNDS', 16);
  const { rounds, refused, restarts } = await sweepSourceGone(count, seededRandom(seed));
  const shown = [...rounds].map(([name, times]) => `${name} ${times}`).join(', ');
  say(
    `source gone: ${count} (${shown}); ${refused} backups refused; ${restarts} restarts; seed ${seed}`,
    held(count),
  );
  expect(rounds.size).toBe(Math.min(count, LOSS_NAMES.length));
  expect(refused).toBeGreaterThan(0);
});
