/**
 * Plans in which a machine falls asleep as it marks packs, stores a snapshot again or forgets by rules, and others forget and
 * prune until it wakes up. By chance alone that happens once in some hundred thousands of plans.
 */
import type { SeededRandom } from '../support/seeded-random.ts';
import type { Fault, MachinePlan, Operation } from './plan.ts';
import { DAY, GRACE_MS, HOUR, MINUTE } from './times.ts';

const ASLEEP_MS = [HOUR, 8 * DAY, 8 * DAY, 20 * DAY];
/** Calls of one that has everything sealed anew, or so. */
const STEPS = 250;
const SLEEPY: ReadonlySet<Operation['do']> = new Set([
  'prune',
  'planned-prune',
  'rekey',
  'retag',
  'retention',
]);
/** What is sent, or the memory of the writer that says that it will be. */
const SENT: Readonly<Record<string, readonly string[]>> = {
  prune: ['put trash/', '.json'],
  'planned-prune': ['put trash/', '.json'],
  rekey: ['put trash/', 'put snapshots/', '.json'],
  retag: ['put snapshots/', 'put trash/', '.json'],
  retention: ['put trash/', '.json'],
};

/** Has one of those who mark packs, store snapshots again or forget by rules sleep while it does, and others forget and prune meanwhile. */
export function withSleepyRecord(machines: readonly MachinePlan[], random: SeededRandom): MachinePlan[] {
  const all = machines.flatMap((machine) =>
    machine.operations
      .filter((one) => SLEEPY.has(one.do))
      .map(({ do: what, atMs }) => ({ machine, what, atMs })),
  );
  // Who has everything sealed anew marks and stores most.
  const rekeys = all.filter(({ what }) => what === 'rekey');
  const from = rekeys.length > 0 ? rekeys : all;
  const chosen = from[random.below(Math.max(1, from.length))];
  if (chosen === undefined) return [...machines];
  const { machine, what, atMs } = chosen;
  const others = machines.filter((one) => one !== machine);
  const pruners = others.filter(({ name }) => name.startsWith('pruner'));
  const pruner = pruners[random.below(Math.max(1, pruners.length))];
  const writer = others.find(({ name }) => name.startsWith('writer'));
  if (pruner === undefined) return [...machines];
  const places = SENT[what] ?? [];
  const at = places[random.below(places.length)] ?? '';
  const step = at === '.json' ? random.below(STEPS) : 0;
  const ms = ASLEEP_MS[random.below(ASLEEP_MS.length)] ?? DAY;
  const fault: Fault = { kind: 'sleep-before', step, at, duringMs: atMs, ms };
  const firstMs = atMs + 10 * MINUTE + random.below(HOUR);
  const prunes = [firstMs, firstMs + GRACE_MS + random.below(2 * HOUR)];
  const forgets = random.next() < 0.5 ? [atMs + MINUTE + random.below(8 * MINUTE)] : [];
  return machines.map((one) => {
    if (one === machine) return { ...one, faults: [fault, ...one.faults] };
    if (one === pruner) return withMore(one, 'prune', prunes);
    return one === writer ? withMore(one, 'forget', forgets) : one;
  });
}

function withMore(machine: MachinePlan, what: Operation['do'], times: readonly number[]): MachinePlan {
  const more = times.map((atMs) => ({ do: what, atMs }));
  return { ...machine, operations: [...machine.operations, ...more].sort((a, b) => a.atMs - b.atMs) };
}
