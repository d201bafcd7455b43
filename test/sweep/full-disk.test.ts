/** Backups to a disk that fills up at SWEEP_FILLS (20) points, and the next run once there is room. */
import { describe, expect, test } from 'vitest';
import { QUICK_SCALE } from './corpus.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { sweepFullDisks, whyNoDisk } from './full-disk.ts';
import { sweepFullState } from './full-state.ts';
import { say, sweepCount, sweepSeed } from './settings.ts';
import { Workspace } from './workspace.ts';

const fills = sweepCount('SWEEP_FILLS', 20);
const seed = sweepSeed();

describe('a full disk', () => {
  test('ends the backup without a snapshot, and the next run completes it', async ({ skip }) => {
    const reason = whyNoDisk();
    if (reason !== undefined) skip(reason);
    using workspace = new Workspace('full-disk');
    const { reached } = await sweepFullDisks(workspace, {
      fills,
      seed,
      scale: QUICK_SCALE,
      sizes: { packTarget: 500_000, segmentTarget: 131_072 },
    });
    const shown = Object.entries(reached).map(([step, count]) => `${step} ${count}`);
    say(`full disk: ${fills} fills, none said more or less than it did: ${shown.join(', ')}; seed ${seed}`, {
      trials: fills,
      fired: fills - (reached['just fitted'] ?? 0),
      violations: 0,
    });
    const steps = ['full before anything was kept', 'full among packs', 'full at the snapshot'];
    expect(Object.keys(reached)).toEqual(expect.arrayContaining(steps));
  });

  test('of the state keeps the agent from noting more, and loses nothing that it has noted', ({ skip }) => {
    const reason = whyNoDisk();
    if (reason !== undefined) skip(reason);
    using workspace = new Workspace('full-state');
    const { reached } = sweepFullState(workspace.path('disk'), fills, seededRandom(seed));
    const shown = Object.entries(reached).map(([step, count]) => `${step} ${count}`);
    say(`full disk of the state: ${fills} fills: ${shown.join(', ')}; seed ${seed}`, {
      trials: fills,
      fired: fills - reached['just fitted'],
      violations: 0,
    });
    expect(Object.values(reached).every((count) => count > 0)).toBe(true);
  });
});
