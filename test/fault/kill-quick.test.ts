/** A few kills of each kind; `npm run test:sweep` has the long version. */
import { expect, test } from 'vitest';
import { QUICK_SCALE } from '../sweep/corpus.ts';
import { sweepBackupKills, type KillPlan } from '../sweep/kill-backup.ts';
import { sweepPruneKills } from '../sweep/kill-prune.ts';
import { sweepRestoreKills } from '../sweep/kill-restore.ts';
import { Workspace } from '../sweep/workspace.ts';

const plan: KillPlan = {
  kills: 2,
  seed: 20_260_801,
  scale: QUICK_SCALE,
  sizes: { packTarget: 500_000, segmentTarget: 131_072 },
  everyPhase: false,
  thoroughEvery: 2,
};

test.each(['first', 'incremental'] as const)('a killed %s backup is continued by the next', async (name) => {
  using workspace = new Workspace(`quick-${name}`);
  const { phases, storedAgainMax } = await sweepBackupKills(workspace, name, plan);
  expect(phases.total).toBe(plan.kills);
  expect(storedAgainMax).toBeLessThanOrEqual(0.1);
});

test('a killed prune leaves every snapshot whole, and the next prune completes it', async () => {
  using workspace = new Workspace('quick-prune');
  const { phases } = await sweepPruneKills(workspace, plan);
  expect(Object.values(phases).reduce((sum, one) => sum + one.total, 0)).toBe(plan.kills);
});

test('a killed restore leaves no half file that looks finished, and is completed by the next', async () => {
  using workspace = new Workspace('quick-restore');
  const { phases } = await sweepRestoreKills(workspace, plan);
  expect(phases.new.total + phases.over.total).toBe(plan.kills);
});
