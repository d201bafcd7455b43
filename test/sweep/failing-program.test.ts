/**
 * Each SWEEP_EVERY-th (10th) call to the file system that the real program makes fails, in one way; with SWEEP_FIRST, from
 * that one on and in every way: a share of all, which the numbers below SWEEP_EVERY make up together. SWEEP_COMMAND: only
 * commands whose name and side begin so.
 */
import { expect, test } from 'vitest';
import { seededRandom } from '../support/seeded-random.ts';
import { COMMANDS, sweepFailingProgram } from './failing-program.ts';
import { say, sweepCount, sweepSeed, tell } from './settings.ts';
import { Workspace } from './workspace.ts';

test('whichever call to the file system fails, the command says so or is done, and nothing is lost', async () => {
  using workspace = new Workspace('failing');
  const seed = sweepSeed();
  const every = sweepCount('SWEEP_EVERY', 10);
  const share = sweepCount('SWEEP_FIRST', 0, 0);
  const { failures, codes, violations } = await sweepFailingProgram(workspace, {
    commands: COMMANDS,
    every,
    first: share > 0 ? share : undefined,
    only: process.env['SWEEP_COMMAND'] ?? '',
    random: seededRandom(seed),
    tell: (what, count) => tell(`${what}: ${count} failures`),
  });
  const total = [...failures.values()].reduce((sum, count) => sum + count, 0);
  const shown = [...failures].map(([name, count]) => `${name} ${count}`).join('; ');
  const ends = [...codes].map(([code, count]) => `${count} with ${code}`).join(', ');
  say(
    `failing calls: ${total} failures (${shown}), ended ${ends}; ${violations.length} violations; seed ${seed}`,
    { trials: total, fired: total, violations: violations.length },
  );
  expect(violations).toEqual([]);
  // A share may begin behind the last call of a short command.
  if (share <= 1) expect(Math.min(...failures.values())).toBeGreaterThan(0);
  expect(total).toBeGreaterThan(0);
});
