import { array, assert, constantFrom, nat, oneof, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SlotSet } from '../../../src/repository/packs/slot-set.ts';

describe('a set of slots', () => {
  it('holds what a set of numbers holds, in ascending order', () => {
    const slot = oneof(nat(100), nat(5_000_000), constantFrom(31, 32, 1_048_575, 1_048_576, 2_147_483_647));
    assert(
      property(array(slot, { maxLength: 200 }), (slots) => {
        const set = new SlotSet();
        const model = new Set<number>();
        for (const one of slots) {
          expect(set.add(one)).toBe(!model.has(one));
          model.add(one);
        }
        const seen: number[] = [];
        set.forEach((one) => seen.push(one));
        expect(seen).toEqual([...model].sort((a, b) => a - b));
        expect(set.size).toBe(model.size);
        for (const one of slots) expect([set.has(one), set.has(one + 1)]).toEqual([true, model.has(one + 1)]);
      }),
      { numRuns: 30 },
    );
  });
});
