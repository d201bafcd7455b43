/** SWEEP_ROUNDS (4) machines of which nothing is left but the destination and the recovery code. */
import { expect, test } from 'vitest';
import { seededRandom } from '../support/seeded-random.ts';
import { sweepLostMachines } from './lost-machine.ts';
import { held, say, sweepCount, sweepSeed } from './settings.ts';
import { Workspace } from './workspace.ts';

test('a new machine with the recovery code gets everything back, and its agent carries on', async () => {
  using workspace = new Workspace('lost-machine');
  const seed = sweepSeed();
  const count = sweepCount('SWEEP_ROUNDS', 4);
  const { atRest, atWork, slowestMs, againBytes } = await sweepLostMachines(
    workspace,
    count,
    seededRandom(seed),
  );
  say(
    `lost machines: ${atRest} at rest, ${atWork} in the middle of a backup; first file after ` +
      `${Math.round(slowestMs)} ms at most, ${againBytes} bytes stored once more at most; seed ${seed}`,
    held(count),
  );
  expect(atRest + atWork).toBe(count);
});
