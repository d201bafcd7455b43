/** Backups to a disk that fills up at SWEEP_FILLS (20) points, and the next run once there is room. */
import { describe, expect, test } from 'vitest';
import { sweepFullDisks, whyNoDisk } from './full-disk.ts';
import { say, sweepCount, sweepSeed } from './settings.ts';
import { Workspace } from './workspace.ts';

const fills = sweepCount('SWEEP_FILLS', 20);
const seed = sweepSeed();

describe.runIf(process.env['HOLDFAST_SWEEP'] !== undefined)('a full disk', () => {
  test('ends the backup without a snapshot, and the next run completes it', async ({ skip }) => {
    const reason = whyNoDisk();
    if (reason !== undefined) skip(reason);
    using workspace = new Workspace('full-disk');
    const { reached } = await sweepFullDisks(workspace, {
      fills,
      seed,
      scale: { smallFiles: 1_200, largeFiles: 18, largeBytes: 1_200_000 },
      sizes: { packTarget: 2_000_000, segmentTarget: 500_000 },
    });
    const shown = Object.entries(reached).map(([step, count]) => `${step} ${count}`);
    say(
      `full disk: ${fills} fills, none left a snapshot, the furthest stored was ${shown.join(', ')}; seed ${seed}`,
    );
    expect(Object.keys(reached)).toEqual(expect.arrayContaining(['packs/']));
  });
});
