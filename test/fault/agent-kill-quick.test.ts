/** Two kills of the agent; `npm run test:sweep` has the long version. */
import { expect, test } from 'vitest';
import { sweepAgentKills } from '../sweep/agent-kill.ts';
import { Workspace } from '../sweep/workspace.ts';

test('the jobs of an agent that is killed go on when it is started again', { timeout: 300_000 }, async () => {
  using workspace = new Workspace('quick-agent');
  const result = await sweepAgentKills(workspace, {
    kills: 2,
    seed: 20_261_121,
    scale: { smallFiles: 120, largeFiles: 6, largeBytes: 450_000 },
    sizes: { packTarget: 500_000, segmentTarget: 131_072 },
    uploadLimit: '3 MiB',
    thorough: false,
  });
  expect(result.phases.backup.total + result.phases.restore.total).toBe(2);
  expect(result.completed).toBe(2);
  expect(result.againBytes).toBeLessThanOrEqual(result.finishedBytes * 0.01);
});
