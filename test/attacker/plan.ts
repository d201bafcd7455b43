/** What happens in one simulation of an attack, as data: made from a seed, printed, replayed and made smaller. */
import { seededRandom, type SeededRandom } from '../support/seeded-random.ts';
import { DAY, HOUR, MINUTE } from '../simulator/times.ts';
import { ATTACKS, type Attack, type Power } from './powers.ts';

export interface AttackPlan {
  readonly seed: number;
  readonly power: Power;
  /** Of several who create one key exactly one succeeds; otherwise the last one's bytes stay. */
  readonly conditionalCreate: boolean;
  readonly steps: readonly Step[];
  /** The repository is one of a version that signed configurations and tombstones for no number and no place. */
  readonly isOld: boolean;
  /** Everything is restored before the administrator does anything, too. */
  readonly restoresFirst: boolean;
  readonly ending: Ending;
}

/**
 * `look`: everything is restored. `tidied`: the administrator does what docs/security.md says first. `whole`: keys are sealed
 * anew as well, and prune and check run after the grace period, which costs as much as twenty deeds.
 */
export type Ending = 'look' | 'tidied' | 'whole';

export const HONEST = ['admin', 'db1', 'web'] as const;
export type Honest = (typeof HONEST)[number];

export type Deed =
  | 'backup'
  | 'retention'
  | 'forget'
  | 'prune'
  | 'check'
  | 'rotate'
  | 'rekey'
  | 'recover'
  | 'remove-key'
  | 'read';

export type Step =
  | { readonly who: Honest; readonly do: Deed; readonly a: number }
  | { readonly who: 'time'; readonly ms: number }
  /** `during`: at that call of the honest host that does something next; else before it. `a` and `b` choose what and where. */
  | {
      readonly who: 'attacker';
      readonly do: Attack;
      readonly a: number;
      readonly b: number;
      readonly during?: number;
    };

const DEEDS: Readonly<Record<'admin' | 'db1', readonly [Deed, number][]>> = {
  admin: [
    ['backup', 3],
    ['retention', 2],
    ['forget', 2],
    ['prune', 4],
    ['check', 1],
    ['read', 2],
    ['rotate', 1],
    ['rekey', 1],
    ['recover', 0.5],
    ['remove-key', 1],
  ],
  db1: [
    ['backup', 4],
    ['retention', 1],
    ['prune', 2],
    ['check', 1],
    ['read', 1],
  ],
};

/** How many calls one deed makes, or so. */
const CALLS_OF_DEED = 60;
/** Of attacks that come between two calls of somebody. */
const MEANWHILE = 0.3;

export function planOf(seed: number): AttackPlan {
  const random = seededRandom(seed);
  const power = chosen<Power>(
    [
      ['key', 4],
      ['key-and-storage', 3],
      ['storage', 2],
      ['network', 1],
    ],
    random,
  );
  const steps: Step[] = [];
  for (let n = 1 + random.below(3); n > 0; n -= 1) {
    for (let more = 1 + random.below(3); more > 0; more -= 1) steps.push(attackOf(power, random));
    if (random.next() < 0.4) steps.push({ who: 'time', ms: timeOf(random) });
    steps.push(deedOf(random));
  }
  return {
    seed,
    power,
    conditionalCreate: random.next() < 0.8,
    steps,
    isOld: random.next() < 0.2,
    restoresFirst: random.next() < 0.5,
    ending: chosen<Ending>(
      [
        ['look', 10],
        ['tidied', 6],
        ['whole', 4],
      ],
      random,
    ),
  };
}

function attackOf(power: Power, random: SeededRandom): Step {
  const what = chosen(ATTACKS[power], random);
  const during = random.next() < MEANWHILE ? { during: 1 + random.below(CALLS_OF_DEED) } : {};
  return { who: 'attacker', do: what, a: random.below(2 ** 31), b: random.below(2 ** 31), ...during };
}

function deedOf(random: SeededRandom): Step {
  const who = HONEST[random.below(HONEST.length)] ?? 'admin';
  const a = random.below(2 ** 31);
  return { who, do: who === 'web' ? 'backup' : chosen(DEEDS[who], random), a };
}

function timeOf(random: SeededRandom): number {
  const most = [MINUTE, 6 * MINUTE, HOUR, DAY, 4 * DAY][random.below(5)] ?? MINUTE;
  return Math.floor(most * (0.5 + random.next()));
}

function chosen<T>(of: readonly (readonly [T, number])[], random: SeededRandom): T {
  let rest = random.next() * of.reduce((sum, [, weight]) => sum + weight, 0);
  for (const [one, weight] of of) {
    rest -= weight;
    if (rest < 0) return one;
  }
  const [last] = of.at(-1) ?? [];
  if (last === undefined) throw new Error('nothing to choose from');
  return last;
}

/** Plans with one step less. */
export function* smaller(plan: AttackPlan): Generator<AttackPlan> {
  for (const step of plan.steps) yield { ...plan, steps: plan.steps.filter((one) => one !== step) };
}

/** For people. */
export function stepText(step: Step): string {
  if (step.who === 'time') return `${(step.ms / MINUTE).toFixed(1)} min pass`;
  if (step.who !== 'attacker') return `${step.who} does ${step.do} (${step.a})`;
  const when = step.during === undefined ? '' : `, at call ${step.during} of what comes next`;
  return `the attacker: ${step.do} (${step.a}, ${step.b})${when}`;
}
