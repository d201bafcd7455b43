/** Some files that change or fail while they are read; `npm run test:sweep` has more. */
import { expect, test } from 'vitest';
import { seededRandom } from '../support/seeded-random.ts';
import { sweepSourceFaults } from '../sweep/source-faults.ts';

test('a file that changes or fails while it is read is one version of itself, marked, or listed', async () => {
  const { struck, marked } = await sweepSourceFaults(5, seededRandom(20_261_122));
  expect(struck.size).toBe(12);
  expect(marked).toBeGreaterThan(0);
});
