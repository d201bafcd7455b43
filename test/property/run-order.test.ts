/** The order of runs for any clocks, of machines and of the storage. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isFull } from '../../src/base/stored-by.ts';
import { inOrderOfRuns } from '../../src/repository/run-order.ts';
import type { Snapshot } from '../../src/repository/snapshots.ts';
import { runSnapshot, type RunFacts } from '../support/run-snapshots.ts';

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 10, 24);

const day = fc.oneof(fc.integer({ min: -30, max: 30 }), fc.integer({ min: -25_000, max: 4_000 }));
const facts = fc.record({
  writer: fc.constantFrom('a', 'b', 'c'),
  startedDay: day,
  storedDay: fc.option(day, { nil: undefined }),
  parent: fc.option(fc.nat(30), { nil: undefined }),
  sealedBy: fc.constantFrom(undefined, undefined, undefined, 7),
});

type History = readonly { readonly snapshot: Snapshot; readonly storedMs: number | undefined }[];

/** Each is compared with one that was there already, if with any. */
const histories: fc.Arbitrary<History> = fc.array(facts, { maxLength: 30, size: 'max' }).map((list) => {
  const last: Record<string, number> = {};
  return list.map(({ writer, startedDay, storedDay, parent, sealedBy }, i) => {
    const seq = (last[writer] ?? 0) + 1;
    last[writer] = seq;
    const before = parent === undefined || parent >= i ? undefined : String(parent);
    const startedMs = NOW + startedDay * DAY;
    const run: RunFacts = { name: String(i), writer, seq, startedMs, parent: before, sealedBy };
    const storedMs = storedDay === undefined ? undefined : NOW + storedDay * DAY;
    return { snapshot: runSnapshot(run), storedMs };
  });
});

function ordered(history: History): readonly Snapshot[] {
  const stored = new Map(history.map(({ snapshot, storedMs }) => [snapshot.id, storedMs]));
  return inOrderOfRuns(
    history.map(({ snapshot }) => snapshot),
    ({ id }) => stored.get(id),
  );
}

describe('the order of runs, whatever the clocks say', () => {
  it('has each snapshot once, and does not depend on how they are listed', () => {
    const shuffles = histories.chain((history) =>
      fc.tuple(
        fc.constant(history),
        fc.shuffledSubarray([...history], { minLength: history.length, maxLength: history.length }),
      ),
    );
    fc.assert(
      fc.property(shuffles, ([history, shuffled]) => {
        const order = ordered(history).map(({ id }) => id);
        expect(ordered(shuffled).map(({ id }) => id)).toEqual(order);
        expect(new Set(order)).toEqual(new Set(history.map(({ snapshot }) => snapshot.id)));
        expect(order).toHaveLength(history.length);
      }),
    );
  });

  it('follows the numbers of each chain, and has none before what it was compared with', () => {
    fc.assert(
      fc.property(histories, (history) => {
        const places = new Map(ordered(history).map(({ id }, i) => [id, i]));
        const placeOf = (id: string): number => places.get(id) ?? Number.NaN;
        for (const { snapshot } of history) {
          const { chain, record, id, storedBy } = snapshot;
          if (record.parent !== undefined && isFull(storedBy))
            expect(placeOf(record.parent)).toBeLessThan(placeOf(id));
          for (const { snapshot: other } of history)
            if (other.chain.writer === chain.writer && other.chain.seq < chain.seq)
              expect(placeOf(other.id)).toBeLessThan(placeOf(id));
        }
      }),
    );
  });

  it('is the order of times where all clocks are right', () => {
    fc.assert(
      fc.property(histories, (history) => {
        const right = history.map(({ snapshot }, i) => {
          const startedMs = NOW + i * DAY;
          const record = { ...snapshot.record, startedMs };
          return { snapshot: { ...snapshot, record }, storedMs: startedMs + DAY / 2 };
        });
        expect(ordered(right).map(({ id }) => id)).toEqual(right.map(({ snapshot }) => snapshot.id));
      }),
    );
  });
});

it('costs what grows with the number of snapshots, not with its square', () => {
  const costOf = (count: number): number => {
    const many = Array.from({ length: count }, (_, i) =>
      runSnapshot({
        name: String(i),
        writer: String(i % 10),
        seq: Math.floor(i / 10) + 1,
        startedMs: NOW + i * 60_000 + (i % 997 === 0 ? 400 * DAY : 0),
      }),
    );
    const before = process.cpuUsage();
    const order = inOrderOfRuns(many.toReversed(), ({ record }) => record.startedMs);
    const { user, system } = process.cpuUsage(before);
    expect(order).toHaveLength(count);
    return user + system;
  };
  // Ten times as many cost ten times as much, and a hundred times where each is compared with all others.
  const few = [1, 2, 3].map(() => costOf(10_000)).reduce((sum, cost) => sum + cost) / 3;
  expect(costOf(100_000)).toBeLessThan(few * 40);
});
