// Turn 6 of 8.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { NO_RECORD, type ChainPlace } from '../../src/format/records.ts';
import {
  lostRecords,
  verifyChains,
  type ChainRecord,
  type ChainView,
} from '../../src/repository/chains/verify-chains.ts';
import type { WriterMemory } from '../../src/repository/writer-state.ts';

/** One writer with a full key tells the truth; the other, of a write-only key that was removed, tells anything. */
const TRUE = 'a'.padEnd(32, '0');
const FALSE = 'b'.padEnd(32, '0');

function nameOf(writer: string, seq: number): string {
  return `${writer.slice(0, 1)}${seq}`.padEnd(64, '0');
}

function place(writer: string, seq: number, prev = seq === 1 ? NO_RECORD : nameOf(writer, seq - 1)) {
  return { writer, seq, prev };
}

const number = fc.integer({ min: 1, max: 4 });
/** Heads may also claim numbers that are believed only once lower ones are given up, as they come within reach then. */
const anyNumber = fc.oneof(
  { weight: 9, arbitrary: number },
  { weight: 1, arbitrary: fc.constantFrom(900, 1_700, 2_500) },
);
const madeUp = fc.oneof(
  number.map((seq) => nameOf(FALSE, seq)),
  fc.integer({ min: 0, max: 3 }).map((which) => `other${which}`.padEnd(64, '0')),
);
const anyName = fc.oneof(
  madeUp,
  number.map((seq) => nameOf(TRUE, seq)),
);
const maybe = <T>(one: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(one, { nil: undefined });

const trueRecord = number.map((seq): ChainRecord => ({ name: nameOf(TRUE, seq), chain: place(TRUE, seq) }));
const falseRecord = fc
  .record({ seq: number, prev: maybe(fc.oneof(anyName, fc.constant(NO_RECORD))), name: maybe(madeUp) })
  .map(({ seq, prev, name }): ChainRecord => ({
    name: name ?? nameOf(FALSE, seq),
    chain: place(FALSE, seq, prev),
  }));

type Head = ChainView['heads'][number];
const trueHead = fc.record({ seq: anyNumber, isRead: fc.boolean() }).map(({ seq, isRead }): Head => ({
  chain: place(TRUE, seq),
  record: isRead ? nameOf(TRUE, seq) : undefined,
  live: 1,
}));
const falseHead = fc
  .record({ seq: anyNumber, record: maybe(anyName) })
  .map(({ seq, record }): Head => ({ chain: place(FALSE, seq), record, live: 1 }));

type Told = [name: string, at: ChainPlace | undefined];

/** Names that tombstones list, and where these stood. */
const removed = fc.oneof(
  number.map((seq): Told => [nameOf(TRUE, seq), { writer: TRUE, seq }]),
  number.map((seq): Told => [`given up ${seq}`, { writer: TRUE, seq }]),
  number.map((seq): Told => [nameOf(TRUE, seq), undefined]),
  fc.tuple(madeUp, number).map(([name, seq]): Told => [name, { writer: FALSE, seq }]),
);

const view = fc
  .record({
    records: fc.array(fc.oneof(trueRecord, falseRecord), { maxLength: 7 }),
    heads: fc.array(fc.oneof(trueHead, falseHead), { maxLength: 3 }),
    removed: fc.array(removed, { maxLength: 3 }),
    unreadable: fc.array(
      fc.constantFrom(...[TRUE, FALSE].flatMap((writer) => [nameOf(writer, 1), nameOf(writer, 3)])),
      { maxLength: 2 },
    ),
  })
  .map((told): ChainView => {
    const stored = new Map(told.records.map((record) => [record.name, record]));
    return {
      records: [...stored.values()],
      unreadable: new Set(told.unreadable.filter((name) => !stored.has(name))),
      heads: told.heads,
      keyOf: (writer) => (writer === FALSE ? 1 : undefined),
      ...given(told.removed),
    };
  });

function given(names: readonly Told[]): Pick<ChainView, 'removed' | 'places'> {
  const places = names.flatMap(([name, at]): [string, ChainPlace][] =>
    at === undefined ? [] : [[name, at]],
  );
  return { removed: new Set(names.map(([name]) => name)), places: new Map(places) };
}

/** What this machine remembers of itself and of the other writer. */
const memory = fc
  .record({
    isTrue: fc.boolean(),
    seq: fc.integer({ min: 0, max: 4 }),
    otherSeq: maybe(number),
    told: anyName,
  })
  .map(({ isTrue, seq, otherSeq, told }): WriterMemory => {
    const [writer, other] = isTrue ? [TRUE, FALSE] : [FALSE, TRUE];
    const seen = (of: string, at: number): string => (of === TRUE ? nameOf(of, at) : told);
    return {
      writer,
      seq,
      prev: seq === 0 ? NO_RECORD : seen(writer, seq),
      ring: 1,
      config: 1,
      heads: otherSeq === undefined ? {} : { [other]: { seq: otherSeq, record: seen(other, otherSeq) } },
    };
  });

function missing(seen: ChainView, remembered: WriterMemory): readonly string[] {
  return verifyChains(seen, remembered)
    .filter(({ kind }) => kind === 'missing')
    .map(({ object, reason }) => `${object}: ${reason}`);
}

it('nothing is missing any more once what is lost was given up, whatever storage and write-only keys tell', () => {
  let settled = 0;
  fc.assert(
    fc.property(view, memory, (seen, remembered) => {
      if (missing(seen, remembered).length > 0) settled += 1;
      const lost = lostRecords(seen, remembered).map(({ name, writer, seq, isUnplaced }) => ({
        name: name ?? `given up ${writer}/${seq}`,
        at: isUnplaced === true ? undefined : { writer, seq },
      }));
      const { removed: names, places } = given(lost.map(({ name, at }) => [name, at]));
      const after: ChainView = {
        ...seen,
        removed: new Set([...seen.removed, ...names]),
        places: new Map([...seen.places, ...places]),
      };
      expect(missing(after, remembered)).toEqual([]);
    }),
    { numRuns: 5_000 },
  );
  expect(settled).toBeGreaterThan(1_000);
});
