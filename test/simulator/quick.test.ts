/** A small part of what `npm run test:simulator` plays, and that a seed is all that decides. */
import { expect, test } from 'vitest';
import { runSeeds, type WorkerReport } from './runner.ts';

const SEEDS = 30;
/** Milliseconds: machines may have much else to do. */
const PATIENCE = 600_000;
const FIRST = 1;

const request = {
  from: FIRST,
  below: FIRST + SEEDS,
  replay: false,
  shrinks: true,
  untilFirst: false,
  processes: 2,
};

/** How often something came about, by the beginning of its name. */
function sum(counts: ReadonlyMap<string, number>, prefix: string): number {
  return [...counts].reduce((total, [what, count]) => total + (what.startsWith(prefix) ? count : 0), 0);
}

test(
  'no seed breaks a promise',
  async () => {
    const { seeds, violations, counts } = await runSeeds(request);
    expect(violations.map(({ text }) => text)).toEqual([]);
    expect(seeds).toBe(SEEDS);
    // The simulation must reach what it is about.
    for (const what of ['backup', 'prune', 'retention', 'forget'])
      expect(counts.get(what)).toBeGreaterThan(SEEDS / 10);
    for (const what of ['rotate', 'rekey']) expect(counts.get(what), what).toBeGreaterThan(0);
    expect(sum(counts, 'death')).toBeGreaterThan(0);
    for (const fault of ['sleep', 'wall-jump', 'lost', 'partial-list', 'power'])
      expect(sum(counts, `fault ${fault}`), fault).toBeGreaterThan(0);
  },
  PATIENCE,
);

test(
  'a seed gives the same simulation in every process, whatever was played before',
  async () => {
    const seed = FIRST + 3;
    const traceOf = async (from: number): Promise<string | undefined> => {
      const texts: string[] = [];
      const onReport = (report: WorkerReport): void =>
        void (report.kind === 'text' && texts.push(report.text));
      await runSeeds({
        ...request,
        from,
        below: seed + 1,
        replay: true,
        shrinks: false,
        processes: 1,
        onReport,
      });
      return texts.at(-1);
    };
    const [alone, after] = await Promise.all([traceOf(seed), traceOf(seed - 1)]);
    expect(alone?.split('\n').length).toBeGreaterThan(50);
    expect(after).toBe(alone);
  },
  PATIENCE,
);
