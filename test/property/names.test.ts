/** Three hundred names of every sort; `npm run test:sweep` has more. */
import { expect, test } from 'vitest';
import { seededRandom } from '../support/seeded-random.ts';
import { sweepNames } from '../sweep/names.ts';

test('names of every sort come back byte for byte', async () => {
  const { foreign, longest } = await sweepNames(300, seededRandom(20_261_122));
  expect(Math.min(foreign, longest)).toBeGreaterThan(0);
});
