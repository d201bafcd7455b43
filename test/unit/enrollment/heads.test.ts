import { expect, test } from 'vitest';
import { Witness, type SnapshotHead } from '../../../src/enrollment/heads.ts';

function head(number: number, seq = 1): SnapshotHead {
  const writer = number.toString(16).padStart(32, '0');
  return { repository_id: 'a'.repeat(32), writer, seq, hash: seq.toString(16).padStart(64, '0') };
}

test('heads are told once, and again when they have changed', () => {
  const witness = new Witness();
  expect(witness.news([head(1), head(2)])).toEqual([head(1), head(2)]);
  expect(witness.news([head(1), head(2)])).toEqual([]);
  expect(witness.news([head(1), head(2, 5)])).toEqual([head(2, 5)]);
});

test('a report takes 32 of them, the next one the rest', () => {
  const witness = new Witness();
  const heads = Array.from({ length: 40 }, (_, index) => head(index));
  expect(witness.news(heads)).toEqual(heads.slice(0, 32));
  expect(witness.news(heads)).toEqual(heads.slice(32));
});

test('nothing is told that is not of the form, nor what else an entry holds', () => {
  const witness = new Witness();
  const odd: readonly SnapshotHead[] = [
    { ...head(1), repository_id: '/home/ana' },
    { ...head(2), writer: 'laptop' },
    { ...head(3), hash: 'secret' },
    head(4, 0),
  ];
  expect(witness.news(odd)).toEqual([]);
  const more = { ...head(5), path: '/home/ana' };
  expect(witness.news([more])).toEqual([head(5)]);
});

test('what the service does not believe counts until it believes it; that it has no room for more does not', () => {
  const witness = new Witness();
  const refusal = (reason: string): object => ({ ...head(1), reason });
  expect(witness.answered([head(1)], [refusal('too_many')])).toBe(0);
  expect(witness.isContradicted).toBe(false);
  expect(witness.answered([head(1), head(2)], [refusal('rolled_back')])).toBe(1);
  expect(witness.answered([head(1)], [refusal('forked')])).toBe(0);
  expect(witness.isContradicted).toBe(true);
  // A report without that head says nothing of it.
  witness.answered([head(2)], []);
  expect(witness.isContradicted).toBe(true);
  witness.answered([head(1, 9)], []);
  expect(witness.isContradicted).toBe(false);
  expect(witness.answered([head(1)], 'nonsense')).toBe(0);
});
