import { describe, expect, it } from 'vitest';
import { endOf, startOf } from '../../../src/notify/sender.ts';

describe('cut text', () => {
  it('has at most so many bytes, whole characters, from its start or end', () => {
    const text = 'aé€🙂z';
    const starts = Array.from({ length: 13 }, (_, bytes) => startOf(text, bytes));
    expect(starts).toEqual(['', 'a', 'a', 'aé', 'aé', 'aé', 'aé€', 'aé€', 'aé€', 'aé€', 'aé€🙂', text, text]);
    const ends = Array.from({ length: 13 }, (_, bytes) => endOf(text, bytes));
    expect(ends).toEqual(['', 'z', 'z', 'z', 'z', '🙂z', '🙂z', '🙂z', '€🙂z', '€🙂z', 'é€🙂z', text, text]);
  });
});
