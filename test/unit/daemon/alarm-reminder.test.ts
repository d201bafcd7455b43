import { expect, test } from 'vitest';
import { tellOpenAlarms } from '../../../src/daemon/alarms/alarm-reminder.ts';
import { createAttention } from '../../../src/notify/attention.ts';
import type { Notice } from '../../../src/notify/notice.ts';
import type { Alarm } from '../../../src/watch/alarms.ts';
import { systemClock } from '../../../src/base/clock.ts';

const HOUR = 3_600_000;
const START = Date.UTC(2026, 0, 1, 12);

test('an alarm is told again each day until it is acknowledged, restarts or not', () => {
  let nowMs = START;
  const clock = { ...systemClock, now: () => nowMs };
  const kept = new Map<string, string>();
  const writes: string[] = [];
  const notices: Notice[] = [];
  const attention = createAttention();
  const alarm = (id: string): Alarm => ({
    id,
    kind: 'shrunk',
    source: '/photos',
    at: nowMs,
    text: 'Half is gone.',
    facts: {},
  });
  let open: readonly Alarm[] = [alarm('a')];
  const pass = (hours: number): readonly string[] => {
    for (let hour = 0; hour < hours; hour += 1) {
      nowMs += HOUR;
      tellOpenAlarms({
        alarms: { open: () => open },
        settings: {
          get: (key) => kept.get(key),
          set: (key, value) => {
            writes.push(key);
            if (value === undefined) kept.delete(key);
            else kept.set(key, value);
          },
        },
        notifier: { notify: (notice) => void notices.push(notice) },
        clock,
      });
    }
    return notices.splice(0).flatMap((notice) => (attention.admits(notice) ? [notice.text] : []));
  };

  expect(pass(23)).toEqual([]);
  expect(pass(1)).toEqual(['Half is gone. Nobody has acknowledged it since 2026-01-01 12:00 UTC.']);
  expect(pass(23)).toEqual([]);
  open = [...open, alarm('b')];
  expect(pass(1)).toHaveLength(1);
  expect(pass(48)).toHaveLength(4);
  open = [];
  expect(pass(48)).toEqual([]);
  expect(kept.size).toBe(0);
  expect(writes.length).toBeLessThan(10);
});
