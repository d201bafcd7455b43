/** SWEEP_ROUNDS (60) backups of 16 files each that change or fail while they are read. */
import { expect, test } from 'vitest';
import { seededRandom } from '../support/seeded-random.ts';
import { held, say, sweepCount, sweepSeed } from './settings.ts';
import { sweepSourceFaults } from './source-faults.ts';

test('a file that changes or fails while it is read is one version of itself, marked, or listed', async () => {
  const seed = sweepSeed();
  const result = await sweepSourceFaults(sweepCount('SWEEP_ROUNDS', 60), seededRandom(seed));
  const { struck, marked, specials } = result;
  const shown = [...struck].map(([plan, times]) => `${plan} ${times}`).join(', ');
  const total = [...struck.values()].reduce((sum, times) => sum + times, 0);
  say(
    `source: ${total} files struck (${shown}), ${marked} marked as changed; ${specials} that are no files; seed ${seed}`,
    held(total + specials),
  );
  expect(struck.size).toBe(12);
  expect(marked).toBeGreaterThan(0);
});
