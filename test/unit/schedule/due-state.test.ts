import { describe, expect, it } from 'vitest';
import { afterRun, jitterOf, reconcile } from '../../../src/schedule/due-state.ts';
import { parseSchedule } from '../../../src/schedule/schedule.ts';

const HOUR = 3_600_000;
const at = (text: string): number => Date.parse(text);
const daily = parseSchedule('daily at 02:00');
const every4h = parseSchedule('every 4h');

describe('what was kept of a schedule', () => {
  it('keeps a run that was missed due', () => {
    const kept = { lastRun: at('2026-11-18T02:00Z'), nextRun: at('2026-11-19T02:00Z') };
    expect(reconcile(daily, kept, at('2026-11-21T10:00Z'), 'UTC')).toEqual(kept);
    // Even when the schedule has been changed since: the run had been promised.
    expect(reconcile(parseSchedule('monthly'), kept, at('2026-11-21T10:00Z'), 'UTC')).toEqual(kept);
  });

  it('is worked out again when the schedule has changed', () => {
    const kept = { lastRun: at('2026-11-20T02:00Z'), nextRun: at('2026-11-21T02:00Z') };
    const now = at('2026-11-20T10:00Z');
    expect(reconcile(parseSchedule('daily at 14:00'), kept, now, 'UTC').nextRun).toBe(
      at('2026-11-20T14:00Z'),
    );
    expect(reconcile(daily, kept, now, 'Asia/Kathmandu').nextRun).toBe(at('2026-11-20T20:15Z'));
    expect(reconcile(parseSchedule('off'), kept, now, 'UTC')).toEqual({
      lastRun: kept.lastRun,
      nextRun: null,
    });
  });

  it('puts the first run of a new interval one interval ahead, and never more', () => {
    const now = at('2026-11-20T10:00Z');
    expect(reconcile(every4h, undefined, now, 'UTC')).toEqual({ lastRun: null, nextRun: now + 4 * HOUR });
    const nearer = { lastRun: null, nextRun: now + HOUR };
    expect(reconcile(every4h, nearer, now, 'UTC')).toEqual(nearer);
    expect(reconcile(every4h, { lastRun: null, nextRun: now + 90 * HOUR }, now, 'UTC').nextRun).toBe(
      now + 4 * HOUR,
    );
  });

  it('does not run again what ran before the clock was set back', () => {
    const kept = { lastRun: at('2026-11-20T02:00Z'), nextRun: at('2026-11-21T02:00Z') };
    expect(reconcile(daily, kept, at('2026-11-20T01:00Z'), 'UTC')).toEqual(kept);
  });

  it.each(['hourly', '*/15 * * * *', '0 */2 * * *', '0 */6 * * *'])(
    'goes on with %s as soon as a clock that was 14 hours ahead is set right',
    (text) => {
      const schedule = parseSchedule(text);
      const kept = { lastRun: at('2026-11-21T00:00Z'), nextRun: at('2026-11-21T06:00Z') };
      const now = at('2026-11-20T10:05Z');
      expect(reconcile(schedule, kept, now, 'UTC').nextRun).toBe(schedule.next(now, 'UTC'));
    },
  );

  it('goes on in the same hour where a rule holds in every hour', () => {
    const kept = { lastRun: at('2026-11-20T10:00Z'), nextRun: at('2026-11-20T11:00Z') };
    const now = at('2026-11-20T09:20Z');
    expect(reconcile(parseSchedule('hourly'), kept, now, 'UTC').nextRun).toBe(at('2026-11-20T10:00Z'));
  });

  it('does not hold up what is due when it was noted under a clock that was years ahead', () => {
    const kept = { lastRun: at('2036-11-20T02:00Z'), nextRun: at('2036-11-21T02:00Z') };
    const now = at('2026-11-20T10:00Z');
    const next = reconcile(daily, kept, now, 'UTC');
    expect(next.nextRun).toBe(at('2026-11-21T02:00Z'));
    expect(reconcile(daily, next, at('2026-11-21T02:00Z'), 'UTC')).toEqual(next);
    expect(reconcile(every4h, kept, now, 'UTC').nextRun).toBe(now + 4 * HOUR);
  });

  it('survives a clock that begins in 1970 until it is set', () => {
    const kept = { lastRun: at('2026-11-20T02:00Z'), nextRun: at('2026-11-21T02:00Z') };
    for (const schedule of [daily, every4h]) {
      const early = reconcile(schedule, kept, 60_000, 'UTC');
      expect(early.nextRun).toBeLessThan(at('1970-01-03T00:00Z'));
      // Not due again, or missed: as if the clock had always been right.
      const soon = at('2026-11-20T05:00Z');
      const following = schedule === daily ? kept.nextRun : at('2026-11-20T06:00Z');
      expect(reconcile(schedule, early, soon, 'UTC')).toEqual({ lastRun: kept.lastRun, nextRun: following });
      expect(reconcile(schedule, early, at('2026-11-22T05:00Z'), 'UTC')).toEqual({
        lastRun: kept.lastRun,
        nextRun: following,
      });
    }
  });
});

describe('after a run', () => {
  it('the next one is counted from when it had been due, unless that is past too', () => {
    const due = at('2026-11-20T02:00Z');
    expect(afterRun(every4h, due, due + 5000, 'UTC')).toEqual({ lastRun: due, nextRun: due + 4 * HOUR });
    expect(afterRun(every4h, due, due + 9 * HOUR, 'UTC')).toEqual({ lastRun: due, nextRun: due + 13 * HOUR });
    expect(afterRun(daily, due, due + 50 * HOUR, 'UTC')).toEqual({ lastRun: due, nextRun: due + 72 * HOUR });
  });
});

describe('the random delay', () => {
  const entry = { key: 'backup:/home', schedule: daily, jitterSeconds: 600 };
  const due = at('2026-11-20T02:00Z');

  it('is the same for one run and different for others, machines and sources', () => {
    const delay = jitterOf(entry, due, 'UTC', 'seed');
    expect(jitterOf({ ...entry }, due, 'UTC', 'seed')).toBe(delay);
    const others = [
      jitterOf(entry, due + 24 * HOUR, 'UTC', 'seed'),
      jitterOf(entry, due, 'UTC', 'another seed'),
      jitterOf({ ...entry, key: 'backup:/srv' }, due, 'UTC', 'seed'),
    ];
    expect(new Set([delay, ...others]).size).toBe(4);
  });

  it('spreads over the whole range and stays below it', () => {
    const delays = Array.from({ length: 500 }, (_, day) =>
      jitterOf(entry, due + day * 24 * HOUR, 'UTC', 'seed'),
    );
    expect(Math.max(...delays)).toBeLessThan(600_000);
    expect(Math.max(...delays)).toBeGreaterThan(570_000);
    expect(Math.min(...delays)).toBeLessThan(30_000);
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(0);
  });

  it('never comes near the next run', () => {
    const often = { ...entry, schedule: parseSchedule('*/10 * * * *'), jitterSeconds: 3600 };
    for (let run = 0; run < 200; run += 1) {
      expect(jitterOf(often, due + run * 600_000, 'UTC', 'seed')).toBeLessThan(300_000);
    }
    expect(jitterOf({ ...entry, jitterSeconds: 0 }, due, 'UTC', 'seed')).toBe(0);
  });
});
