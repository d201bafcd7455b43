/** SWEEP_ROUNDS (200) backups whose cache lies while packs are gone. */
import { expect, test } from 'vitest';
import { seededRandom } from '../support/seeded-random.ts';
import { say, sweepCount, sweepSeed } from './settings.ts';
import { sweepStaleCache } from './stale-cache.ts';

test('a backup whose cache lies refers to nothing that is not there', async () => {
  const seed = sweepSeed();
  const { rounds, struck, packsRemoved, lies } = await sweepStaleCache(
    sweepCount('SWEEP_ROUNDS', 200),
    seededRandom(seed),
  );
  say(
    `stale cache: ${rounds} backups, ${packsRemoved} packs removed before them, ${lies} wrong answers; seed ${seed}`,
    { trials: rounds, fired: struck, violations: 0 },
  );
  expect(Math.min(packsRemoved, lies)).toBeGreaterThan(0);
});
