/** The real agent under `kill -9` at random moments: SWEEP_KILLS (30) of them. SWEEP_SEED repeats a sweep. */
import { expect, test } from 'vitest';
import { sweepAgentKills } from './agent-kill.ts';
import { held, say, sweepCount, sweepSeed } from './settings.ts';
import { Workspace } from './workspace.ts';

test('kill -9 of the agent: its jobs go on, and nothing stored is stored again', async () => {
  const plan = {
    kills: sweepCount('SWEEP_KILLS', 30),
    seed: sweepSeed(),
    scale: { smallFiles: 600, largeFiles: 16, largeBytes: 900_000 },
    sizes: { packTarget: 1_000_000, segmentTarget: 262_144 },
    uploadLimit: '4 MiB',
    thorough: true,
  };
  using workspace = new Workspace('agent-kill');
  const result = await sweepAgentKills(workspace, plan);
  const { completed, failed, finishedBytes, againBytes, orphans, orphanMsMax, secondKills } = result;
  say(
    `agent: ${plan.kills} kills and ${secondKills} second ones (backup: ${result.phases.backup.toString()}; ` +
      `restore: ${result.phases.restore.toString()}); ${completed} jobs completed, ${failed} failed; ` +
      `${againBytes} of ${finishedBytes} finished bytes stored again; ${orphans} engines left behind, ` +
      `gone after ${Math.round(orphanMsMax)} ms at most; seed ${plan.seed}`,
    held(plan.kills + secondKills),
  );
  expect(completed + failed).toBe(plan.kills);
  expect(againBytes).toBeLessThanOrEqual(finishedBytes * 0.01);
});
