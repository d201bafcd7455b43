import { describe, expect, it } from 'vitest';
import { NO_RECORD } from '../../../src/format/records.ts';
import {
  lostRecords,
  newestRecords,
  verifyChains,
  type ChainRecord,
  type ChainView,
} from '../../../src/repository/chains/verify-chains.ts';
import type { WriterMemory } from '../../../src/repository/writer-state.ts';

const memory: WriterMemory = {
  writer: 'f'.repeat(32),
  seq: 0,
  prev: NO_RECORD,
  ring: 1,
  config: 1,
  heads: {},
};

function name(writer: string, seq: number): string {
  return `${writer}${seq}`.padEnd(64, '0');
}

/** A chain of so many records, its head at the end. */
function chain(writer: string, length: number): { records: ChainRecord[]; head: ChainView['heads'][number] } {
  const records = Array.from({ length }, (_, i) => {
    const seq = i + 1;
    const prev = seq === 1 ? NO_RECORD : name(writer, seq - 1);
    return { name: name(writer, seq), chain: { writer: writer.padEnd(32, '0'), seq, prev } };
  });
  const last = records.at(-1);
  if (last === undefined) throw new Error('a chain has a record');
  return { records, head: { chain: last.chain, record: last.name, live: 1 } };
}

function view(chains: readonly ReturnType<typeof chain>[], removed: readonly string[] = []): ChainView {
  return {
    records: chains.flatMap(({ records }) => records),
    unreadable: new Set(),
    removed: new Set(removed),
    places: new Map(),
    heads: chains.map(({ head }) => head),
  };
}

function without(from: ChainView, ...names: string[]): ChainView {
  return { ...from, records: from.records.filter((record) => !names.includes(record.name)) };
}

describe('chains', () => {
  it('of several writers are sound as they are written', () => {
    expect(verifyChains(view([chain('a', 5), chain('b', 1)]), memory)).toEqual([]);
    expect(verifyChains(view([]), memory)).toEqual([]);
  });

  it('show a record that is gone without a tombstone, wherever it was', () => {
    const whole = view([chain('a', 5)]);
    for (const seq of [1, 2, 3, 4, 5]) {
      const problems = verifyChains(without(whole, name('a', seq)), memory);
      expect(problems.map(({ kind, object }) => [kind, object])).toEqual([
        ['missing', `record ${name('a', seq)}`],
      ]);
    }
  });

  it('show a record that is gone between others that were removed properly', () => {
    const whole = view([chain('a', 6)], [name('a', 4)]);
    const problems = verifyChains(without(whole, name('a', 3), name('a', 4)), memory);
    expect(problems).toEqual([
      { kind: 'missing', object: 'snapshots/', reason: expect.stringContaining('1 snapshots') },
    ]);
    const proper = { ...whole, removed: new Set([name('a', 3), name('a', 4)]) };
    expect(verifyChains(without(proper, name('a', 3), name('a', 4)), memory)).toEqual([]);
  });

  it('show a hidden record also when others that no head tells of yet were removed properly', () => {
    // Record 3 was forgotten before its head came; the list shows none of the three.
    const whole = view([chain('a', 2)]);
    const removed = { ...whole, removed: new Set([name('a', 2), name('a', 3)]) };
    const shown = without(removed, name('a', 1), name('a', 2));
    const placeOf = (seq: number): readonly [string, { writer: string; seq: number }] => [
      name('a', seq),
      { writer: 'a'.padEnd(32, '0'), seq },
    ];
    expect(verifyChains(shown, memory)).toEqual([]);
    const told = { ...shown, places: new Map([placeOf(2), placeOf(3)]) };
    expect(verifyChains(told, memory)).toEqual([
      { kind: 'missing', object: 'snapshots/', reason: expect.stringContaining('1 snapshots') },
    ]);
    // With all of them accounted for nothing is missing, also when some are still there.
    const all = { ...told, removed: new Set([1, 2, 3].map((seq) => name('a', seq))) };
    expect(verifyChains({ ...all, places: new Map([placeOf(1), ...told.places]) }, memory)).toEqual([]);
    expect(verifyChains({ ...all, records: whole.records }, memory)).toEqual([]);
  });

  it('show that everything of a writer is gone but its head', () => {
    const whole = view([chain('a', 2), chain('b', 3)]);
    const problems = verifyChains(without(whole, name('b', 1), name('b', 2), name('b', 3)), memory);
    expect(problems.map(({ object }) => object)).toEqual([`record ${name('b', 3)}`]);
  });

  it('may end before their head when a tombstone names the newest record', () => {
    const whole = view([chain('a', 3)], [name('a', 3)]);
    expect(verifyChains(without(whole, name('a', 3)), memory)).toEqual([]);
  });

  it('show two records with one number', () => {
    const whole = view([chain('a', 3)]);
    const copy = { name: 'e'.repeat(64), chain: { writer: 'a'.padEnd(32, '0'), seq: 3, prev: name('a', 2) } };
    const problems = verifyChains({ ...whole, records: [...whole.records, copy] }, memory);
    expect(problems.map(({ kind }) => kind)).toEqual(['fork']);
  });

  it('show a history that was written anew', () => {
    const { records, head } = chain('a', 3);
    const forged = records.map((record, i) => (i === 1 ? { ...record, name: 'e'.repeat(64) } : record));
    const problems = verifyChains(view([{ records: forged, head }]), memory);
    expect(problems.map(({ object }) => object)).toEqual([`record ${name('a', 2)}`]);
  });

  it('do not complain of a record that is there but cannot be read', () => {
    const whole = view([chain('a', 4)]);
    const damaged = { ...without(whole, name('a', 2)), unreadable: new Set([name('a', 2)]) };
    expect(verifyChains(damaged, memory)).toEqual([]);
  });

  it('show less than this machine has seen before, its own records and those of others', () => {
    const seen = view([chain('a', 4)]);
    const { heads } = { heads: newestRecords(seen) };
    const older = view([chain('a', 2)]);
    expect(verifyChains(older, { ...memory, heads })).toMatchObject([
      { kind: 'missing', object: `record ${name('a', 4)}` },
    ]);
    const own = { ...memory, writer: 'a'.padEnd(32, '0'), seq: 4, prev: name('a', 4) };
    expect(verifyChains(older, own)).toMatchObject([{ kind: 'missing', object: `record ${name('a', 4)}` }]);
    expect(verifyChains(seen, { ...own, heads })).toEqual([]);
  });
});

describe('what is given up as lost', () => {
  const [first, second, third] = [name('x', 1), name('x', 2), name('x', 3)];

  it.each([
    ['that there was none', NO_RECORD],
    ['that it was another', name('y', 2)],
  ])('includes the record that a head names, when the next record says %s', (_said, prev) => {
    const { head } = chain('x', 2);
    const strange = { name: third, chain: { writer: head.chain.writer, seq: 3, prev } };
    const told: ChainView = {
      ...view([]),
      records: [strange],
      heads: [head],
      keyOf: () => 1,
    };
    const missing = (seen: ChainView): readonly string[] =>
      verifyChains(seen, memory)
        .filter(({ kind }) => kind === 'missing')
        .map(({ object }) => object);
    expect(missing(told)).toContain(`record ${second}`);
    const lost = lostRecords(told, memory);
    expect(lost.map((one) => one.name)).toContain(second);
    const names = lost.map((one) => one.name ?? `given up ${one.seq}`);
    const settled = {
      ...told,
      removed: new Set(names),
      places: new Map(lost.map(({ writer, seq }, index) => [names[index] ?? first, { writer, seq }])),
    };
    expect(missing(settled)).toEqual([]);
  });

  it('reaches an unreadable head that is believed only once a lower one is given up', () => {
    const writer = 'x'.padEnd(32, '0');
    const garbage = (seq: number): ChainView['heads'][number] => ({
      chain: { writer, seq },
      record: undefined,
      live: undefined,
    });
    const told = { ...view([chain('x', 2)]), heads: [garbage(903), garbage(1_500)] };
    const places = lostRecords(told, memory).map(({ seq }) => seq);
    expect(places).toHaveLength(1_498);
    expect(places.at(-1)).toBe(1_500);
  });

  it('includes the record that this machine remembers, when its place was given up under another name', () => {
    const { records } = chain('x', 1);
    const writer = 'x'.padEnd(32, '0');
    const told: ChainView = {
      ...view([]),
      records,
      removed: new Set(['given up']),
      places: new Map([['given up', { writer, seq: 2 }]]),
    };
    const own = { ...memory, writer, seq: 2, prev: second };
    expect(verifyChains(told, own)).toMatchObject([{ kind: 'missing', object: `record ${second}` }]);
    expect(lostRecords(told, own)).toEqual([{ writer, seq: 2, name: second }]);
  });
});
