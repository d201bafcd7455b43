import { describe, expect, test } from 'vitest';
import { createTurns } from '../../../src/base/turns.ts';

const { signal } = new AbortController();

describe('turns', () => {
  test('are given to so many at once, and to the others in their order', async () => {
    const turns = createTurns(2);
    const began: number[] = [];
    const taken = [0, 1, 2, 3].map(async (index) => {
      const turn = await turns.take(signal);
      began.push(index);
      return turn;
    });
    const [first, second] = await Promise.all(taken.slice(0, 2));
    expect(began).toEqual([0, 1]);
    second?.[Symbol.dispose]();
    const third = await taken[2];
    expect(began).toEqual([0, 1, 2]);
    // One that has ended twice makes no room for two.
    second?.[Symbol.dispose]();
    await Promise.resolve();
    expect(began).toEqual([0, 1, 2]);
    first?.[Symbol.dispose]();
    third?.[Symbol.dispose]();
    await taken[3];
    expect(began).toEqual([0, 1, 2, 3]);
  });

  test('are not given to who does not wait any more', async () => {
    const turns = createTurns(1);
    const first = await turns.take(signal);
    const gone = new AbortController();
    const refused = turns.take(gone.signal);
    const next = turns.take(signal);
    gone.abort();
    await expect(refused).rejects.toThrow('abort');
    first[Symbol.dispose]();
    (await next)[Symbol.dispose]();
    await expect(turns.take(AbortSignal.abort())).rejects.toThrow('abort');
    (await turns.take(signal))[Symbol.dispose]();
  });
});
