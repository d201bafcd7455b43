/** Some damages of every sort; `npm run test:sweep` has the long version. */
import { expect, test } from 'vitest';
import { sweepDamages, sweepIndexRebuilds } from '../sweep/damage-sweep.ts';
import { Workspace } from '../sweep/workspace.ts';

const SEED = 20_260_802;

test('damages are found, named with what they cost, and cost nothing else', async () => {
  using workspace = new Workspace('quick-damage');
  const plan = { damages: 26, seed: SEED, byProgramEvery: 13, recoverEvery: 13, alwaysRestore: false };
  const { detections } = await sweepDamages(workspace, plan);
  expect(detections.found).toBeGreaterThan(19);
});

test('indexes are rebuilt from the packs alone', async () => {
  using workspace = new Workspace('quick-rebuild');
  expect(await sweepIndexRebuilds(workspace, 2, SEED)).toBeLessThan(2);
});
