/**
 * Plans in which one backup is held up where it hurts most while others forget and prune what it relies on. By chance
 * alone that happens once in some thousands of plans.
 */
import type { SeededRandom } from '../support/seeded-random.ts';
import type { Fault, MachinePlan, Operation, Plan } from './plan.ts';
import { DAY, GRACE_MS, HOUR, MINUTE } from './times.ts';

/** The calls before and after which somebody else may come, of a store and of a directory. */
const PUTS = ['packs/', 'index/', 'snapshots/', 'heads/'];
const HELD_UP_MS = [2 * MINUTE, 10 * MINUTE, HOUR, 6 * HOUR, DAY, 8 * DAY];

export function meetingOf(
  writers: readonly string[],
  pruners: readonly string[],
  storage: Plan['storage'],
  random: SeededRandom,
): MachinePlan[] {
  const [victim = '', other = victim] = writers;
  const [pruner = ''] = pruners;
  const operations = new Map<string, Operation[]>();
  const faults = new Map<string, Fault[]>();
  const does = (name: string, what: Operation['do'], atMs: number): Operation => {
    const operation = { do: what, atMs: Math.floor(atMs) };
    operations.set(name, [...(operations.get(name) ?? []), operation]);
    return operation;
  };
  for (const name of writers) does(name, 'backup', random.below(30_000));
  if (random.next() < 0.4) does(victim, 'backup', 10 * MINUTE);
  const meetMs = random.next() < 0.5 ? HOUR : GRACE_MS + random.below(2 * HOUR);
  // What is forgotten before, the victim may need again; it is not marked yet.
  if (random.next() < 0.6) does(other, random.next() < 0.6 ? 'forget' : 'retention', meetMs - 10 * MINUTE);
  const held = does(victim, 'backup', meetMs + random.below(5_000));
  const ms = HELD_UP_MS[random.below(HELD_UP_MS.length)] ?? MINUTE;
  const put = PUTS[random.below(PUTS.length)] ?? '';
  faults.set(victim, [
    {
      // All that share a drive sleep together.
      kind:
        storage === 'directory' || ms < 10 * MINUTE
          ? 'slow'
          : random.next() < 0.5
            ? 'sleep-before'
            : 'sleep-after',
      step: 0,
      at: storage === 'directory' ? `${put}.tmp-` : `put ${put}`,
      duringMs: held.atMs,
      ms: storage === 'directory' ? Math.min(ms, HOUR) : ms,
    },
  ]);
  const spanMs = Math.min(ms, HOUR);
  if (random.next() < 0.6) does(other, 'forget', meetMs + 20_000 + random.below(spanMs / 4));
  if (random.next() < 0.4) does(other, 'backup', meetMs + spanMs / 4 + random.below(spanMs / 2));
  let pruneMs = meetMs + 25_000 + spanMs / 4 + random.below(spanMs / 2);
  for (let n = 2 + random.below(2); n >= 0; n -= 1) {
    const prune = does(pruner, 'prune', pruneMs);
    if (storage === 'objects' && random.next() < 0.05)
      faults.set(pruner, [
        { kind: 'partial-list', step: 0, at: 'snapshots/', duringMs: prune.atMs, ms: 10 * MINUTE },
      ]);
    pruneMs += GRACE_MS + 10 * MINUTE + random.below(HOUR);
    for (const name of writers) if (random.next() < 0.2) does(name, 'backup', pruneMs + random.below(30_000));
  }
  return [...writers, ...pruners].map((name) => ({
    name,
    operations: (operations.get(name) ?? []).sort((a, b) => a.atMs - b.atMs),
    faults: faults.get(name) ?? [],
  }));
}
