/**
 * SWEEP_DAMAGES (500) damages, each to a fresh copy of one small repository: every kind of damage to every kind of object
 * at every position. What check must find and what a restore must bring back is in damage-judge.ts.
 */
import { describe, expect, test } from 'vitest';
import { sweepDamages, sweepHealing, sweepIndexRebuilds } from './damage-sweep.ts';
import { held, say, sweepCount, sweepSeed } from './settings.ts';
import { Workspace } from './workspace.ts';

const damages = sweepCount('SWEEP_DAMAGES', 500);
const seed = sweepSeed();

describe('damage', () => {
  test('is found wherever it strikes, and costs only what it struck', async () => {
    using workspace = new Workspace('damage');
    const plan = { damages, seed, byProgramEvery: 25, recoverEvery: 10, alwaysRestore: true };
    const result = await sweepDamages(workspace, plan);
    const { found, 'none promised': rest } = result.detections;
    say(
      `damage: ${result.damages} damages of ${result.variety} sorts, ${found} found by check, ` +
        `${rest} of which nothing is promised (absent leases, older heads, copies of nothing); ${result.costly} cost files; ` +
        `${result.byProgram} judged by the program too; ${result.recovered} recovered; seed ${seed}`,
      held(result.damages),
    );
    expect(found + rest).toBe(damages);
  });

  test('to every index object at once is made good from the packs alone', async () => {
    using workspace = new Workspace('rebuild');
    const rounds = Math.max(2, Math.ceil(damages / 20));
    const lost = await sweepIndexRebuilds(workspace, rounds, seed);
    say(
      `index rebuilds: ${rounds}, all but one with a damaged pack; ${lost} packs had lost their directory; seed ${seed}`,
      held(rounds),
    );
    expect(lost).toBeLessThan(rounds);
  });

  test('that took packs away is made good by the next backup of what still stands', async () => {
    using workspace = new Workspace('healing');
    const packs = await sweepHealing(workspace, Math.ceil(damages / 20), seed);
    say(`healing: ${packs} packs removed, each made good by the next backup; seed ${seed}`, held(packs));
    expect(packs).toBeGreaterThan(0);
  });
});
