/** A small part of what `npm run test:attacker` plays, and that a seed is all that decides. */
import { expect, test } from 'vitest';
import { runSeeds, type WorkerReport } from '../simulator/runner.ts';

const SEEDS = 20;
/** Milliseconds: machines may have much else to do. */
const PATIENCE = 600_000;

const request = {
  from: 1,
  below: 1 + SEEDS,
  replay: false,
  shrinks: false,
  untilFirst: false,
  processes: 1,
  folder: 'attacker',
} as const;

test(
  'no attack breaks a promise',
  async () => {
    const { seeds, violations, counts } = await runSeeds(request);
    expect(violations.map(({ text }) => text)).toEqual([]);
    expect(seeds).toBe(SEEDS);
    // The attacker must get to what it is about, and the administrator to the end.
    for (const what of [
      'garbage',
      'head',
      'snapshot',
      'claimed-backup',
      'tombstone-again',
      'hide',
      'endless-tree',
    ])
      expect(counts.get(`attack ${what}`), what).toBeGreaterThan(0);
    expect(counts.get('afterwards: recover')).toBeGreaterThan(SEEDS / 4);
    expect(counts.get('afterwards: check')).toBeGreaterThan(SEEDS / 10);
  },
  PATIENCE,
);

test(
  'a seed gives the same attack in every process, whatever was played before',
  async () => {
    const seed = 5;
    const traceOf = async (from: number): Promise<string | undefined> => {
      const texts: string[] = [];
      const onReport = (report: WorkerReport): void =>
        void (report.kind === 'text' && texts.push(report.text));
      await runSeeds({ ...request, from, below: seed + 1, replay: true, onReport });
      return texts.at(-1);
    };
    const [alone, after] = await Promise.all([traceOf(seed), traceOf(seed - 1)]);
    expect(alone?.split('\n').length).toBeGreaterThan(50);
    expect(after).toBe(alone);
  },
  PATIENCE,
);
