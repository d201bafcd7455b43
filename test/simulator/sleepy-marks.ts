/**
 * Plans in which a machine falls asleep as it marks packs, and another one prunes until it wakes up. By chance
 * alone that happens once in some hundred thousands of plans.
 */
import type { SeededRandom } from '../support/seeded-random.ts';
import type { Fault, MachinePlan, Operation } from './plan.ts';
import { DAY, GRACE_MS, HOUR, MINUTE } from './times.ts';

const ASLEEP_MS = [HOUR, 8 * DAY, 8 * DAY, 20 * DAY];
/** Calls of one that has everything sealed anew, or so. */
const STEPS = 250;
const MARKS: ReadonlySet<Operation['do']> = new Set(['prune', 'planned-prune', 'rekey']);

/** Has one of those who mark packs sleep while it does, and another one prune meanwhile. */
export function withSleepyMark(machines: readonly MachinePlan[], random: SeededRandom): MachinePlan[] {
  const marks = machines.flatMap((machine) =>
    machine.operations.filter((one) => MARKS.has(one.do)).map(({ atMs }) => ({ machine, atMs })),
  );
  // Who has everything sealed anew marks most.
  const rekeys = marks.filter(({ machine }) => machine.name.startsWith('keeper'));
  const from = rekeys.length > 0 ? rekeys : marks;
  const chosen = from[random.below(Math.max(1, from.length))];
  const others = machines.filter((one) => one !== chosen?.machine && one.name.startsWith('pruner'));
  const other = others[random.below(Math.max(1, others.length))];
  if (chosen === undefined || other === undefined) return [...machines];
  const { machine, atMs } = chosen;
  const ms = ASLEEP_MS[random.below(ASLEEP_MS.length)] ?? DAY;
  // As the request is sent, or when the memory of the writer says that it will be.
  const place =
    random.next() < 0.5 ? { step: 0, at: 'put trash/' } : { step: random.below(STEPS), at: '.json' };
  const fault: Fault = { kind: 'sleep-before', ...place, duringMs: atMs, ms };
  const first = atMs + 10 * MINUTE + random.below(HOUR);
  const prunes = [first, first + GRACE_MS + random.below(2 * HOUR)];
  const busy: MachinePlan = {
    ...other,
    operations: [...other.operations, ...prunes.map((when) => ({ do: 'prune' as const, atMs: when }))].sort(
      (a, b) => a.atMs - b.atMs,
    ),
  };
  const sleepy: MachinePlan = { ...machine, faults: [fault, ...machine.faults] };
  return machines.map((one) => (one === machine ? sleepy : one === other ? busy : one));
}
