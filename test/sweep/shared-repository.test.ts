/** SWEEP_ROUNDS (24) repositories and state directories that several programs share. */
import { expect, test } from 'vitest';
import { seededRandom } from '../support/seeded-random.ts';
import { sweepSecondAgents } from './second-agent.ts';
import { say, sweepCount, sweepSeed, held } from './settings.ts';
import { sweepSharing } from './shared-repository.ts';

const count = sweepCount('SWEEP_ROUNDS', 24);
const seed = sweepSeed();

test('writers, processes and copies of a machine share a repository, and every snapshot is whole', async () => {
  const { rounds, backups, noticed, forks } = await sweepSharing(count, seededRandom(seed));
  const shown = Object.entries(rounds).map(([name, times]) => `${name} ${times}`);
  say(
    `sharing: ${count} rounds (${shown.join(', ')}), ${backups} backups; ${noticed} copies noticed, ` +
      `${forks} numbers given twice at one moment, all told of by check; seed ${seed}`,
    held(count),
  );
  expect(noticed).toBeGreaterThan(0);
});

test('a second agent on one state directory is refused at once, and the first goes on', async () => {
  const { tried, slowestMs } = await sweepSecondAgents(count);
  say(`second agents: ${tried} refused, after ${Math.round(slowestMs)} ms at most`, held(tried));
  expect(tried).toBe(count);
});
