import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  inBoth,
  inEither,
  isMarked,
  listMarked,
  mark,
  markedAfter,
  noMarks,
  type Marks,
} from '../../../src/catalog/tables/marks.ts';

const nodes = fc.uniqueArray(fc.nat(300));

function marksOf(of: readonly number[]): Marks {
  const marks = noMarks(Math.max(0, ...of));
  for (const node of of) mark(marks, node);
  return marks;
}

const inOrder = (of: Iterable<number>): readonly number[] => [...of].sort((a, b) => a - b);

describe('marks', () => {
  it('know what was marked', () => {
    fc.assert(
      fc.property(nodes, (of) => {
        const marks = marksOf(of);
        expect(listMarked(marks, 1_000)).toEqual(inOrder(of));
        const all = Array.from({ length: 700 }, (_, node) => node);
        expect(all.filter((node) => isMarked(marks, node))).toEqual(inOrder(of));
      }),
    );
  });

  it('can be taken together, whatever the highest of each', () => {
    fc.assert(
      fc.property(nodes, nodes, (a, b) => {
        expect(listMarked(inBoth(marksOf(a), marksOf(b)), 1_000)).toEqual(
          inOrder(a.filter((one) => b.includes(one))),
        );
        expect(listMarked(inEither(marksOf(a), marksOf(b)), 1_000)).toEqual(inOrder(new Set([...a, ...b])));
      }),
    );
  });

  it('are not listed when there are too many', () => {
    expect(listMarked(marksOf([31, 32, 63]), 3)).toEqual([31, 32, 63]);
    expect(listMarked(marksOf([31, 32, 63]), 2)).toBeUndefined();
    expect(listMarked(noMarks(0), 0)).toEqual([]);
  });

  it('go on behind any of them', () => {
    fc.assert(
      fc.property(nodes, fc.nat(320), (of, last) => {
        expect([...markedAfter(marksOf(of), last)]).toEqual(inOrder(of.filter((node) => node > last)));
      }),
    );
  });
});
