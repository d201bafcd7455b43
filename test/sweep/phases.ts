/** Counts in which phase of a command each kill landed, and chooses moments so that every phase is hit. */
import { shownMoment, type Moment } from './program.ts';
import type { SeededRandom } from '../support/seeded-random.ts';

export class Histogram<Phase extends string> {
  readonly #counts: Map<Phase, number>;

  constructor(phases: readonly Phase[]) {
    this.#counts = new Map(phases.map((phase) => [phase, 0]));
  }

  add(phase: Phase): void {
    this.#counts.set(phase, (this.#counts.get(phase) ?? 0) + 1);
  }

  get total(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Phases in which no kill has landed yet. */
  get missed(): readonly Phase[] {
    return [...this.#counts].filter(([, count]) => count === 0).map(([phase]) => phase);
  }

  toString(): string {
    return [...this.#counts].map(([phase, count]) => `${phase} ${count}`).join(', ');
  }
}

/** How long a command runs and what it does when nothing disturbs it. */
export interface Measured {
  readonly durationMs: number;
  /** Calls that change a directory. */
  readonly calls: number;
}

/** A moment somewhere in the run, by time or by call. The first few milliseconds after the end are possible too. */
export function randomMoment(random: SeededRandom, { durationMs, calls }: Measured): Moment {
  return random.next() < 0.6
    ? { kind: 'time', afterMs: random.next() * durationMs * 1.02 }
    : { kind: 'call', number: 1 + random.below(calls) };
}

/** One line of progress on the terminal. */
export function progress(what: string, done: number, of: number, moment: Moment, result: string): void {
  if (process.env['HOLDFAST_SWEEP'] === undefined) return;
  process.stdout.write(`  ${what} ${done}/${of}: killed ${shownMoment(moment)}; ${result}\n`);
}
