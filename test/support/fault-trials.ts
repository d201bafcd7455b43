/** Many trials of one kind, on repositories that live through ten of them each. */
import { expect } from 'vitest';
import {
  openFaultSite,
  type FaultSite,
  type FaultSiteOptions,
  type Operation,
  type Trial,
} from './fault-site.ts';
import type { Fault } from './fault-proxy.ts';
import { seededRandom } from './seeded-random.ts';

export interface PlannedTrial {
  readonly name: string;
  readonly operation: Operation;
  readonly faults: readonly Fault[];
  /** Throws for an outcome that must not be. */
  readonly judge: (trial: Trial) => void;
  /** It may pass by chance that nothing was hit: then it does not count, and another one takes its place. */
  readonly mayMiss?: boolean;
  /** How often it is begun again, as the queue does; not by default. */
  readonly again?: number;
}

export interface Figures {
  /** In which something was hit. */
  readonly trials: number;
  /** In which nothing was. */
  readonly missed: number;
  readonly fired: number;
  /** Requests that were made. */
  readonly came: number;
  /** Beyond one for each trial. */
  readonly runs: number;
  /** Ended with an error. */
  readonly failed: number;
}

const TRIALS_EACH = 10;

/** A trial that misses has another one in its place, as long as most of them hit something. */
const MOST_FOR_ONE = 3;

/** Runs trials until `wanted` of them have hit something; nothing may be lost in any. Gives what they did in all. */
export async function runTrials(
  options: FaultSiteOptions,
  wanted: number,
  plan: (number: number) => PlannedTrial,
): Promise<Figures> {
  const figures = { trials: 0, missed: 0, fired: 0, came: 0, runs: 0, failed: 0 };
  let site: FaultSite | undefined;
  try {
    for (let number = 0; figures.trials < wanted; number += 1) {
      expect(number, 'the faults come about too seldom').toBeLessThan(wanted * MOST_FOR_ONE);
      const planned = plan(number);
      if (number % TRIALS_EACH === 0) {
        await site?.expectSound(true);
        await site?.[Symbol.asyncDispose]();
        site = await openFaultSite({ ...options, seed: options.seed + number });
      }
      if (site === undefined) throw new Error('there is no site');
      const label = `trial ${number}, seed ${options.seed}: ${planned.operation}, ${planned.name}`;
      await told(label, async () => {
        const trial = await site?.attempt(
          planned.operation,
          planned.faults,
          options.seed * 1_000 + number,
          planned.again,
        );

        if (trial === undefined) return;
        figures.fired += trial.fired;
        if (trial.fired > 0) figures.trials += 1;
        else figures.missed += 1;
        figures.came += trial.came;
        figures.runs += trial.runs - 1;
        figures.failed += trial.error === undefined ? 0 : 1;
        if (planned.mayMiss !== true) expect(trial.fired, 'the fault came about').toBeGreaterThan(0);
        planned.judge(trial);
        if (trial.error === undefined) expect(trial.added).toBe(planned.operation === 'backup' ? 1 : 0);
        await site?.expectSound();
      });
    }
    await site?.expectSound(true);
  } finally {
    await site?.[Symbol.asyncDispose]();
  }
  return figures;
}

async function told(label: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    throw new Error(`${label}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/** It comes to its end as if nothing had been. */
export function survives({ error }: Trial): void {
  if (error !== undefined) throw error;
}

export const OPERATIONS: readonly Operation[] = ['backup', 'restore', 'check', 'prune'];

/** The n-th of them, in turns. */
export function turn<T>(of: readonly T[], number: number): T {
  const found = of[number % of.length];
  if (found === undefined) throw new Error('there is none');
  return found;
}

/** A whole number below `limit`, the same for the same seed. */
export function drawn(seed: number, limit: number): number {
  return seededRandom(seed).below(limit);
}
