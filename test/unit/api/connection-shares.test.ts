import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { createConnectionShares } from '../../../src/api/connections/shares.ts';
import { manualClock } from '../../support/manual-clock.ts';

const MOST = 8;
const KNOWN = 'user 0';

/** Connections of names, and which of them are still open. */
function openShares() {
  const clock = manualClock();
  const names = new Map<Socket, string>();
  const warn = vi.fn<(facts: object, text: string) => void>();
  const looks = { underWay: 0 };
  const ownersOf = vi.fn(async (sockets: readonly Socket[]) => {
    looks.underWay += 1;
    await setImmediate();
    looks.underWay -= 1;
    return sockets.map((socket) => names.get(socket) ?? 'nobody');
  });
  const isKnown = (owner: string): boolean => owner === KNOWN;
  const shares = createConnectionShares({ most: MOST, ownersOf, isKnown, clock, logger: { warn } });
  const open = (name: string, count = 1, waits = true): Socket[] =>
    Array.from({ length: count }, () => {
      const socket = Object.assign(new EventEmitter(), {
        destroy: () => {
          names.delete(socket);
          socket.emit('close');
        },
      }) as unknown as Socket;
      names.set(socket, name);
      shares.add(socket, () => waits);
      return socket;
    });
  const left = (name: string): number => [...names.values()].filter((one) => one === name).length;
  /** Until all are looked at, and none is too many. */
  const settled = async (): Promise<void> => {
    do await setTimeout(60);
    while (looks.underWay > 0 || shares.size > MOST);
  };
  return {
    clock,
    shares,
    open,
    left,
    settled,
    warn,
    ownersOf,
    isOpen: (socket: Socket) => names.has(socket),
  };
}

describe('more connections than there may be', () => {
  test('cost whoever has most of them, and nobody else', async () => {
    const { open, left, settled } = openShares();
    open('user 7', 2);
    open('user 9', 2);
    open('user 8', 1);
    await settled();
    open('user 8', 3 * MOST);
    await settled();
    expect([left('user 7'), left('user 8'), left('user 9')]).toEqual([2, MOST - 4, 2]);
  });

  test('cost those who are known nothing, from however many owners the others come, and whatever these wait for', async () => {
    const { open, left, settled, shares } = openShares();
    open(KNOWN, 3);
    open('user 7', 2);
    await settled();
    for (let user = 100; user < 200; user += 1) open(`user ${user}`, 1, user % 2 === 0);
    await settled();
    open(KNOWN, 2);
    await settled();
    expect([left(KNOWN), shares.size]).toEqual([5, MOST]);
  });

  test('go in the order in which they were heard of, those that are answered last', async () => {
    const { open, isOpen, settled, shares } = openShares();
    const [answered] = open('user 7', 1, false);
    const [silent, asking] = open('user 7', 2);
    if (asking !== undefined) shares.touch(asking);
    open('user 7', MOST - 2);
    await settled();
    expect([answered, silent, asking].map((one) => one !== undefined && isOpen(one))).toEqual([
      true,
      false,
      true,
    ]);
  });

  test('are never more than twice as many, however fast they come', async () => {
    const { open, shares, settled } = openShares();
    open('user 7', 10 * MOST);
    expect(shares.size).toBe(2 * MOST);
    open('user 8', 1);
    await settled();
    expect(shares.size).toBe(MOST);
  });

  test('are told in one line of the log a minute, with whose they were', async () => {
    const { open, settled, warn, clock } = openShares();
    open('user 7', 2 * MOST);
    await settled();
    open('user 7', 2 * MOST);
    await settled();
    expect(warn).toHaveBeenCalledTimes(1);
    expect(warn.mock.calls[0]?.[0]).toMatchObject({ closed: MOST, most_of: 'user 7' });
    await clock.advance(60_000);
    open('user 8', 1);
    await settled();
    expect(warn).toHaveBeenCalledTimes(2);
  });

  test('or half as many, are the only ones of which anybody asks whose they are', async () => {
    const { open, ownersOf, settled } = openShares();
    open('user 7', MOST / 2);
    await settled();
    expect(ownersOf).not.toHaveBeenCalled();
  });
});
