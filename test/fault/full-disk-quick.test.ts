/** Three full disks; `npm run test:sweep` has the long version. */
import { expect, test } from 'vitest';
import { QUICK_SCALE } from '../sweep/corpus.ts';
import { sweepFullDisks, whyNoDisk } from '../sweep/full-disk.ts';
import { Workspace } from '../sweep/workspace.ts';

test('a disk that fills up ends the backup without a snapshot, and the next run completes it', async ({
  skip,
}) => {
  const reason = whyNoDisk();
  if (reason !== undefined) skip(reason);
  using workspace = new Workspace('quick-full-disk');
  const sizes = { packTarget: 500_000, segmentTarget: 131_072 };
  const { reached } = await sweepFullDisks(workspace, {
    fills: 3,
    seed: 20_260_803,
    scale: QUICK_SCALE,
    sizes,
  });
  expect(reached['full among packs']).toBeGreaterThan(0);
});
