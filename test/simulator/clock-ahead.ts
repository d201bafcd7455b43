/**
 * Plans in which the clock of a machine that prunes is set ahead by more than the grace period, while what it has marked
 * still waits for that to be over. By chance alone that happens once in some ten thousands of plans.
 */
import type { SeededRandom } from '../support/seeded-random.ts';
import type { MachinePlan } from './plan.ts';
import { DAY, GRACE_MS, MINUTE } from './times.ts';

const AHEAD_MS = [4 * DAY, 40 * DAY, 400 * DAY];

/** Has one of the pruners prune once more after one of its prunes, with a clock that is ahead. */
export function withClockAhead(machines: readonly MachinePlan[], random: SeededRandom): MachinePlan[] {
  const prunes = machines.flatMap((machine) =>
    machine.name.startsWith('pruner')
      ? machine.operations.filter((one) => one.do === 'prune').map(({ atMs }) => ({ machine, atMs }))
      : [],
  );
  const chosen = prunes[random.below(Math.max(1, prunes.length))];
  if (chosen === undefined) return [...machines];
  const atMs = chosen.atMs + 10 * MINUTE + random.below(GRACE_MS / 2);
  const ms = AHEAD_MS[random.below(AHEAD_MS.length)] ?? DAY;
  const { machine } = chosen;
  const ahead: MachinePlan = {
    ...machine,
    operations: [...machine.operations, { do: 'prune' as const, atMs }].sort((a, b) => a.atMs - b.atMs),
    faults: [...machine.faults, { kind: 'wall-jump', step: 0, duringMs: atMs, ms }],
  };
  return machines.map((one) => (one === machine ? ahead : one));
}
