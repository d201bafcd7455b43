import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import {
  longListText,
  readsList,
  tellWaits,
  toldWait,
  waitedText,
  waitsForAnswer,
  waitsToAskAgain,
} from '../../../src/base/waits.ts';

let now: number;
let ends: (() => void)[];

beforeEach(() => {
  now = 1_000_000;
  ends = [];
  vi.spyOn(systemClock, 'monotonic').mockImplementation(() => now);
});

afterEach(() => {
  for (const end of ends) end();
  vi.restoreAllMocks();
});

function text(): string | undefined {
  const wait = toldWait();
  return wait && waitedText(wait);
}

describe('a wait is told', () => {
  test('when it is long, from its beginning on, and until it is over', () => {
    const end = waitsToAskAgain('store', 'SlowDown', 16_000);
    expect(toldWait()).toEqual({
      code: 'asked_again',
      params: { whom: 'store', because: 'SlowDown', again_in_seconds: 16 },
    });
    expect(text()).toBe('waiting for the store (SlowDown), again in 16 s');
    now += 10_500;
    expect(text()).toBe('waiting for the store (SlowDown), again in 6 s');
    end();
    expect(toldWait()).toBeUndefined();
  });

  test('when it is short, and one of several in a row', () => {
    const since = now;
    ends.push(waitsToAskAgain('store', 'SlowDown', 1_000));
    expect(toldWait()).toBeUndefined();
    now += 3_500;
    ends.push(waitsToAskAgain('store', 'SlowDown', 1_000, since));
    expect(text()).toBe('waiting for the store (SlowDown), again in 1 s');
  });

  test('when nobody has answered for some seconds, with the time after which it is given up', () => {
    let movedAt = now;
    ends.push(
      waitsForAnswer(
        'rclone',
        () => movedAt,
        () => 60_000,
      ),
    );
    now += 3_900;
    expect(toldWait()).toBeUndefined();
    now += 100;
    expect(text()).toBe('waiting for rclone: no answer for 4 s; given up in 56 s');
    movedAt = now;
    expect(toldWait()).toBeUndefined();
  });

  test('of several the longest', () => {
    ends.push(waitsToAskAgain('store', 'SlowDown', 6_000), waitsToAskAgain('store', 'Busy', 300_000));
    expect(text()).toBe('waiting for the store (Busy), again in 5 min');
  });
});

test('a list that takes long is told with how much of it has come, until it is over', () => {
  let names = 0;
  const end = readsList(() => names);
  now += 3_900;
  expect(longListText()).toBeUndefined();
  now += 8_100;
  expect(longListText()).toBe('reading the list of the store for 12 s');
  names = 70_000;
  expect(longListText()).toBe('reading the list of the store for 12 s: 70000 names so far');
  end();
  expect(longListText()).toBeUndefined();
});

test('the last to begin tells of waits, until it ends', () => {
  const [first, second] = [tellWaits(), tellWaits()];
  expect([first.isTurn(), second.isTurn()]).toEqual([false, true]);
  second.end();
  expect(first.isTurn()).toBe(true);
  first.end();
});
