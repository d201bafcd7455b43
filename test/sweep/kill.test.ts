/**
 * The real program under `kill -9` at random moments: SWEEP_KILLS (50) of a first backup, of an incremental one, of prune,
 * of rekey and of restore, and short commands before each of their steps: with SWEEP_EVERY before every so many-th, from
 * SWEEP_FIRST on, with SWEEP_COMMAND=A,B those whose names begin so. SWEEP_SEED repeats a sweep.
 */
import { describe, expect, test } from 'vitest';
import { SWEEP_SCALE } from './corpus.ts';
import { BACKUP_PHASES, sweepBackupKills, type KillPlan } from './kill-backup.ts';
import { sweepPruneKills } from './kill-prune.ts';
import { sweepRekeyKills } from './kill-rekey.ts';
import { sweepRestoreKills } from './kill-restore.ts';
import { sweepSteps } from './kill-steps.ts';
import { held, say, sweepCount, sweepSeed } from './settings.ts';
import { Workspace } from './workspace.ts';

const plan: KillPlan = {
  kills: sweepCount('SWEEP_KILLS', 50),
  seed: sweepSeed(),
  scale: SWEEP_SCALE,
  sizes: { packTarget: 2_000_000, segmentTarget: 500_000 },
  everyPhase: true,
  thoroughEvery: 1,
};

describe('kill -9', () => {
  test.each(['first', 'incremental'] as const)('of the %s backup costs next to nothing', async (name) => {
    using workspace = new Workspace(`kill-${name}`);
    const { phases, storedAgainMax, secondKills } = await sweepBackupKills(workspace, name, plan);
    const share = `${(storedAgainMax * 100).toFixed(2)} %`;
    say(
      `${name} backup: ${phases.total} kills and ${secondKills} second ones (${phases.toString()}); ` +
        `stored again at most ${share}; seed ${plan.seed}`,
      held(phases.total + secondKills),
    );
    expect(phases.missed).toEqual([]);
    expect(BACKUP_PHASES.length).toBe(5);
  });

  test('of prune loses nothing that a snapshot needs', async () => {
    using workspace = new Workspace('kill-prune');
    const { phases, backupsBeside } = await sweepPruneKills(workspace, plan);
    const total = Object.values(phases).reduce((sum, one) => sum + one.total, 0);
    const shown = Object.entries(phases).map(([kind, one]) => `${kind}: ${one.toString()}`);
    say(
      `prune: ${total} kills (${shown.join('; ')}); ${backupsBeside} backups beside a dead prune; seed ${plan.seed}`,
      held(total),
    );
    expect(Object.values(phases).flatMap((one) => one.missed)).toEqual([]);
  });

  test('of rekey loses nothing, and the next run goes on', async () => {
    using workspace = new Workspace('kill-rekey');
    const { phases, backupsBeside } = await sweepRekeyKills(workspace, plan);
    const { rewriting, retiring } = phases;
    say(
      `rekey: ${rewriting.total + retiring.total} kills (rewriting: ${rewriting.toString()}; ` +
        `retiring: ${retiring.toString()}); ${backupsBeside} backups beside a dead rekey; seed ${plan.seed}`,
      held(rewriting.total + retiring.total),
    );
    expect([...rewriting.missed, ...retiring.missed]).toEqual([]);
  });

  test('of restore leaves no half file that looks finished', async () => {
    using workspace = new Workspace('kill-restore');
    const { phases, unfinished } = await sweepRestoreKills(workspace, plan);
    say(
      `restore: ${phases.new.total + phases.over.total} kills (new: ${phases.new.toString()}; ` +
        `over: ${phases.over.toString()}); ${unfinished} unfinished files, all marked so; seed ${plan.seed}`,
      held(phases.new.total + phases.over.total),
    );
    expect([...phases.new.missed, ...phases.over.missed]).toEqual([]);
  });

  test('of init, keys, settings, migrations and other short work before each step leaves the old state or the new', async () => {
    using workspace = new Workspace('kill-steps');
    const { steps } = await sweepSteps(workspace, {
      every: sweepCount('SWEEP_EVERY', 1),
      first: sweepCount('SWEEP_FIRST', 1),
      only: (process.env['SWEEP_COMMAND'] ?? '').split(',').filter(Boolean),
    });
    const shown = Object.entries(steps).map(([name, count]) => `${name} ${count}`);
    const total = Object.values(steps).reduce((sum, count) => sum + count, 0);
    say(`steps: killed before ${shown.join(', ')}`, held(total));
    expect(total).toBeGreaterThan(0);
    expect(Object.values(steps).every((count) => count > 0)).toBe(true);
  });
});
