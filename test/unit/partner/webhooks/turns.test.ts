import { describe, expect, it } from 'vitest';
import { AT_ONCE_PER_ENDPOINT, createTurns, type Turns } from '../../../../src/partner/webhooks/turns.ts';

/** Of one whose name begins with x the last attempts failed. */
const turnOf = (endpointId: string) => ({ endpointId, isFailing: endpointId.startsWith('x') });

const order = (turns: Turns, ids: readonly string[]): readonly string[] =>
  turns
    .order(
      ids.map((endpointId) => ({
        partnerId: 'acme',
        isTrial: endpointId.startsWith('trial'),
        ...turnOf(endpointId),
      })),
    )
    .map(({ endpointId }) => endpointId);

describe('the next turn', () => {
  it('is of one that asked for silence when nothing is under way to it', () => {
    const turns = createTurns(16);
    expect(order(turns, ['trial', 'a'])).toEqual(['trial', 'a']);
    turns.begun(turnOf('trial'));
    expect(order(turns, ['trial', 'a'])).toEqual(['a']);
    turns.ended(turnOf('trial'));
    expect(order(turns, ['trial'])).toEqual(['trial']);
  });

  it('is of the endpoint with the fewest attempts under way', () => {
    const turns = createTurns(16);
    turns.begun(turnOf('a'));
    turns.begun(turnOf('a'));
    turns.begun(turnOf('b'));
    expect(order(turns, ['a', 'b', 'c'])).toEqual(['c', 'b', 'a']);
    turns.ended(turnOf('a'));
    turns.ended(turnOf('a'));
    expect(order(turns, ['a', 'b', 'c'])).toEqual(['c', 'a', 'b']);
  });

  it('is of the one that waited longest, so that much to send does not keep others waiting', () => {
    const turns = createTurns(16);
    const served: string[] = [];
    for (let turn = 0; turn < 6; turn += 1) {
      const [next = ''] = order(turns, ['a', 'b', 'c']);
      served.push(next);
      turns.begun(turnOf(next));
      turns.ended(turnOf(next));
    }
    expect(served).toEqual(['a', 'b', 'c', 'a', 'b', 'c']);
  });

  it('is of none that has as many under way as it may', () => {
    const turns = createTurns(16);
    for (let count = 0; count < AT_ONCE_PER_ENDPOINT; count += 1) turns.begun(turnOf('a'));
    expect(order(turns, ['a', 'b'])).toEqual(['b']);
    turns.ended(turnOf('a'));
    expect(order(turns, ['a', 'b'])).toEqual(['b', 'a']);
  });

  it('is of those that fail for half of the attempts at most, however many of them there are', () => {
    const turns = createTurns(4);
    expect(order(turns, ['x1', 'x2', 'x3', 'a'])).toEqual(['x1', 'x2', 'a']);
    turns.begun(turnOf('x1'));
    expect(order(turns, ['x2', 'x3', 'a'])).toEqual(['x2', 'a']);
    turns.begun(turnOf('x2'));
    expect(order(turns, ['x3', 'a', 'b'])).toEqual(['a', 'b']);
    turns.ended(turnOf('x1'));
    expect(order(turns, ['x3', 'a'])).toEqual(['x3', 'a']);
    expect(order(createTurns(1), ['x1', 'a'])).toEqual(['x1', 'a']);
  });
});
