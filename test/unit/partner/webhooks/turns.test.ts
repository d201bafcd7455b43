import { describe, expect, it } from 'vitest';
import { AT_ONCE_PER_ENDPOINT, createTurns, type Turns } from '../../../../src/partner/webhooks/turns.ts';

const order = (turns: Turns, ids: readonly string[]): readonly string[] =>
  turns
    .order(ids.map((endpointId) => ({ partnerId: 'acme', endpointId })))
    .map(({ endpointId }) => endpointId);

describe('the next turn', () => {
  it('is of the endpoint with the fewest attempts under way', () => {
    const turns = createTurns();
    turns.begun('a');
    turns.begun('a');
    turns.begun('b');
    expect(order(turns, ['a', 'b', 'c'])).toEqual(['c', 'b', 'a']);
    turns.ended('a');
    turns.ended('a');
    expect(order(turns, ['a', 'b', 'c'])).toEqual(['c', 'a', 'b']);
  });

  it('is of the one that waited longest, so that much to send does not keep others waiting', () => {
    const turns = createTurns();
    const served: string[] = [];
    for (let turn = 0; turn < 6; turn += 1) {
      const [next = ''] = order(turns, ['a', 'b', 'c']);
      served.push(next);
      turns.begun(next);
      turns.ended(next);
    }
    expect(served).toEqual(['a', 'b', 'c', 'a', 'b', 'c']);
  });

  it('is of none that has as many under way as it may', () => {
    const turns = createTurns();
    for (let count = 0; count < AT_ONCE_PER_ENDPOINT; count += 1) turns.begun('a');
    expect(order(turns, ['a', 'b'])).toEqual(['b']);
    turns.ended('a');
    expect(order(turns, ['a', 'b'])).toEqual(['b', 'a']);
  });
});
