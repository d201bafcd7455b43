/**
 * Fails every call that the agent's queue makes of its database, one after the other: what was told to be noted is noted,
 * a job that was refused is not done, and the next start finds all of it. A change that was refused may be found done by
 * the next start, as the journal is written before the database commits: what an engine has done is not done again.
 */
import {
  DATABASE_FAILURES,
  failingDatabase,
  type DatabaseFailure,
  type FailingDatabase,
} from '../support/failing-database.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import { StateTrial } from './state-trial.ts';

export interface StatePlan {
  readonly directory: string;
  /** Each so many-th call only. */
  readonly every: number;
  /** Each call with every answer; else with one. */
  readonly allWays: boolean;
  readonly random: SeededRandom;
}

export interface StateResult {
  readonly failures: number;
  /** Of these, while the database was being opened. */
  readonly opening: number;
  readonly violations: readonly string[];
}

export function sweepFailingState({ directory, every, allWays, random }: StatePlan): StateResult {
  using database = failingDatabase();
  const violations: string[] = [];
  let [failures, opening] = [0, 0];
  for (let nth = 1 + random.below(every); ; nth += every) {
    const any = DATABASE_FAILURES[random.below(DATABASE_FAILURES.length)] ?? 'SQLITE_FULL';
    for (const code of allWays ? DATABASE_FAILURES : [any]) {
      const trial = new StateTrial(directory);
      const { hit, violation } = failOnce(trial, database, nth, code);
      if (violation !== undefined) violations.push(violation);
      if (hit === undefined) return { failures, opening, violations };
      failures += 1;
      opening += Number(trial.refusedToOpen);
    }
  }
}

/** `hit` is what has failed; undefined when it never came to that. */
function failOnce(
  trial: StateTrial,
  database: FailingDatabase,
  nth: number,
  code: DatabaseFailure,
): { readonly hit: string | undefined; readonly violation: string | undefined } {
  let hit: string | undefined;
  try {
    trial.prepare();
    database.arm(nth, code);
    try {
      trial.work();
    } finally {
      hit = database.disarm();
    }
    trial.expectKept();
    return { hit, violation: undefined };
  } catch (error) {
    return { hit, violation: `call ${nth}, ${hit}, ${code}: ${String(error)}` };
  }
}
