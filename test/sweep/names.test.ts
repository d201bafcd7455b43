/** SWEEP_NAMES (3,000) names of every sort. */
import { expect, test } from 'vitest';
import { seededRandom } from '../support/seeded-random.ts';
import { sweepNames } from './names.ts';
import { held, say, sweepCount, sweepSeed } from './settings.ts';

test('names of every sort come back byte for byte', async () => {
  const seed = sweepSeed();
  const result = await sweepNames(sweepCount('SWEEP_NAMES', 3_000), seededRandom(seed));
  const { names, foreign, longest } = result;
  say(
    `names: ${names}, of which ${foreign} are no UTF-8 and ${longest} have 255 bytes; all the same after a restore; seed ${seed}`,
    held(names),
  );
  expect(Math.min(foreign, longest)).toBeGreaterThan(0);
});
