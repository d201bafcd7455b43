/** What a person can set for a sweep, and the line it ends with. */
import { appendFileSync } from 'node:fs';

/** A number from the environment. */
export function sweepCount(name: string, usual: number, least = 1): number {
  const text = process.env[name] ?? '';
  if (text === '') return usual;
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < least)
    throw new Error(`${name} is "${text}", which is no count`);
  return count;
}

/** From SWEEP_SEED, else another one each time. */
export function sweepSeed(): number {
  return sweepCount('SWEEP_SEED', 1 + (Date.now() % 1_000_000_000));
}

/** What a sweep has come to. */
export interface SweepCounts {
  readonly trials: number;
  /** In how many of them the fault has struck, as the injector saw it. */
  readonly fired: number;
  readonly violations: number;
}

/** One line with the figures of a sweep. */
export function say(line: string, counts?: SweepCounts): void {
  process.stdout.write(`\n${line}\n`);
  if (counts !== undefined) note(counts, line);
}

/** Adds the counts to the file that SWEEP_FIGURES names, one line of JSON; where it names none, nobody asks. */
export function note(counts: SweepCounts, line = ''): void {
  const figures = process.env['SWEEP_FIGURES'] ?? '';
  if (figures !== '') appendFileSync(figures, `${JSON.stringify({ ...counts, line })}\n`);
}

/** For sweeps that end at the first violation: all that was tried has struck, and held. */
export function held(trials: number): SweepCounts {
  return { trials, fired: trials, violations: 0 };
}

/** One line of progress. */
export function tell(line: string): void {
  process.stdout.write(`  ${line}\n`);
}
