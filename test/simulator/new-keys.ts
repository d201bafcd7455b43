/** A machine on which somebody rotates the keys, and has everything sealed anew while others are at work. */
import type { SeededRandom } from '../support/seeded-random.ts';
import type { MachinePlan, Operation } from './plan.ts';
import { GRACE_MS, HOUR, MINUTE } from './times.ts';

/** Around times at which the others do something. */
export function keeperOf(
  machines: readonly MachinePlan[],
  random: SeededRandom,
): Pick<MachinePlan, 'name' | 'operations'> {
  const times = machines.flatMap(({ operations }) => operations.map(({ atMs }) => atMs));
  const near = (): number => (times[random.below(times.length)] ?? 0) + random.below(MINUTE);
  const operations: Operation[] = [];
  for (let n = 1 + random.below(2); n > 0; n -= 1) {
    const atMs = near();
    operations.push({ do: 'rotate', atMs });
    operations.push({ do: 'rekey', atMs: random.next() < 0.5 ? atMs + 1 : Math.max(atMs + 1, near()) });
    // What the first one left, and the old keys themselves once all that they sealed is gone.
    if (random.next() < 0.7)
      operations.push({ do: 'rekey', atMs: atMs + GRACE_MS + 20 * MINUTE + random.below(3 * HOUR) });
  }
  return { name: 'keeper1', operations: operations.sort((a, b) => a.atMs - b.atMs) };
}

/** Another machine does the same as the keeper, a moment before or after, and one backs up then. */
export function withRival(
  machines: readonly MachinePlan[],
  { operations }: MachinePlan,
  random: SeededRandom,
): MachinePlan[] {
  const apartMs = random.next() < 0.8 ? 300 : 30_000;
  const near = (atMs: number): number => Math.max(0, atMs + random.below(2 * apartMs) - apartMs);
  const rival: MachinePlan = {
    name: 'keeper2',
    operations: inOrder(operations.map(({ do: what, atMs }) => ({ do: what, atMs: near(atMs) }))),
    faults: [],
  };
  const backups = operations
    .filter(({ do: what }) => what === 'rotate')
    .map(({ atMs }) => ({ do: 'backup' as const, atMs: atMs + random.below(6_000) }));
  const [first, ...others] = machines;
  if (first === undefined) return [rival];
  return [{ ...first, operations: inOrder([...first.operations, ...backups]) }, ...others, rival];
}

function inOrder(operations: readonly Operation[]): Operation[] {
  return [...operations].sort((a, b) => a.atMs - b.atMs);
}
