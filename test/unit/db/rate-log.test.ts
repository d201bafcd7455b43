import * as fc from 'fast-check';
import { openDatabase } from '../../../src/db/database.ts';
import { createRateLog } from '../../../src/db/rate-log.ts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { failingDatabase } from '../../support/failing-database.ts';
import { databaseSite, type DatabaseSite } from './open-database.ts';

const WINDOW = 60_000;
let site: DatabaseSite;

beforeEach(() => {
  site = databaseSite();
});
afterEach(() => {
  site.remove();
});

describe('the rate log', () => {
  it('accepts as many as the limit, says what is left, and when the next one is', () => {
    const { rateLog } = site.reopen();
    const at = 1_000_000;
    expect(rateLog.look('key', 2, WINDOW, at)).toEqual({
      accepted: true,
      remaining: 2,
      resetAtMs: at,
      retryAfterMs: 0,
    });
    expect(rateLog.tryAccept('key', 2, WINDOW, at)).toEqual({
      accepted: true,
      remaining: 1,
      resetAtMs: at + WINDOW,
      retryAfterMs: 0,
    });
    expect(rateLog.tryAccept('key', 2, WINDOW, at + 10)).toMatchObject({ accepted: true, remaining: 0 });
    expect(rateLog.tryAccept('key', 2, WINDOW, at + 20)).toEqual({
      accepted: false,
      remaining: 0,
      resetAtMs: at + WINDOW,
      retryAfterMs: WINDOW - 20,
    });
    expect(rateLog.tryAccept('other', 2, WINDOW, at + 20)).toMatchObject({ accepted: true });
  });

  it('counts refused requests as nothing', () => {
    const { rateLog } = site.reopen();
    for (let at = 1; at <= 50; at += 1) rateLog.tryAccept('key', 1, WINDOW, at);
    expect(rateLog.tryAccept('key', 1, WINDOW, 1 + WINDOW)).toMatchObject({ accepted: true });
  });

  it('applies a lower limit at once to what was accepted before', () => {
    const { rateLog } = site.reopen();
    for (let at = 1; at <= 5; at += 1) rateLog.tryAccept('key', 10, WINDOW, at * 1_000);
    const verdict = rateLog.tryAccept('key', 2, WINDOW, 6_000);
    // Three more have to leave the window before it holds fewer than two: those of 1, 2, 3 and 4 seconds.
    expect(verdict).toEqual({
      accepted: false,
      remaining: 0,
      resetAtMs: 4_000 + WINDOW,
      retryAfterMs: WINDOW - 2_000,
    });
    expect(rateLog.look('key', 2, WINDOW, 3_999 + WINDOW)).toMatchObject({ accepted: false });
    expect(rateLog.look('key', 2, WINDOW, 4_000 + WINDOW)).toMatchObject({ accepted: true });
  });

  it('accepts nothing when the limit is none', () => {
    const verdict = site.reopen().rateLog.tryAccept('key', 0, WINDOW, 5);
    expect(verdict).toMatchObject({ accepted: false, remaining: 0, retryAfterMs: WINDOW });
  });

  it('opens again one window after a clock was set back from years ahead', () => {
    const { rateLog } = site.reopen();
    const now = 1_000_000;
    rateLog.tryAccept('key', 1, WINDOW, now + 10 * 365 * 86_400_000);
    expect(rateLog.tryAccept('key', 1, WINDOW, now)).toMatchObject({ accepted: false, retryAfterMs: WINDOW });
    expect(rateLog.tryAccept('key', 1, WINDOW, now + WINDOW)).toMatchObject({ accepted: true });
  });

  it('decides as a plain list of the accepted times does, restarts or not', () => {
    const step = fc.record({
      waitMs: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: WINDOW })),
      bucket: fc.constantFrom('a', 'b'),
      restart: fc.boolean(),
    });
    const round = fc.record({
      limit: fc.integer({ min: 1, max: 4 }),
      steps: fc.array(step, { maxLength: 25 }),
    });
    let rounds = 0;
    fc.assert(
      fc.property(round, ({ limit, steps }) => {
        rounds += 1;
        let [now, { rateLog }] = [1_000_000_000, site.reopen()];
        const accepted: { bucket: string; at: number }[] = [];
        for (const [index, { waitMs, bucket, restart }] of steps.entries()) {
          now += waitMs;
          if (restart && index % 8 === 0) ({ rateLog } = site.reopen());
          const name = `${bucket} ${rounds}`;
          const inWindow = accepted.filter((one) => one.bucket === bucket && one.at > now - WINDOW);
          const verdict = rateLog.tryAccept(name, limit, WINDOW, now);
          expect(verdict.accepted).toBe(inWindow.length < limit);
          if (verdict.accepted) accepted.push({ bucket, at: now });
          expect(verdict.remaining).toBe(Math.max(0, limit - inWindow.length - 1));
          if (verdict.accepted) continue;
          expect(rateLog.look(name, limit, WINDOW, now + verdict.retryAfterMs).accepted).toBe(true);
          expect(rateLog.look(name, limit, WINDOW, now + verdict.retryAfterMs - 1).accepted).toBe(false);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('never accepts more than the limit in a window of true time when the clock is set back', () => {
    const step = fc.record({
      waitMs: fc.integer({ min: 0, max: WINDOW / 2 }),
      setBackMs: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.integer({ min: 0, max: 3 * WINDOW })),
      restart: fc.boolean(),
    });
    const round = fc.record({
      limit: fc.integer({ min: 1, max: 3 }),
      steps: fc.array(step, { maxLength: 25 }),
    });
    let rounds = 0;
    fc.assert(
      fc.property(round, ({ limit, steps }) => {
        rounds += 1;
        let [trueMs, offsetMs, { rateLog }] = [1_000_000_000, 0, site.reopen()];
        const accepted: number[] = [];
        for (const [index, { waitMs, setBackMs, restart }] of steps.entries()) {
          trueMs += waitMs;
          offsetMs -= setBackMs;
          if (restart && index % 8 === 0) ({ rateLog } = site.reopen());
          if (rateLog.tryAccept(`${rounds}`, limit, WINDOW, trueMs + offsetMs).accepted)
            accepted.push(trueMs);
          const inWindow = accepted.filter((at) => at > trueMs - WINDOW);
          expect(inWindow.length).toBeLessThanOrEqual(limit);
        }
      }),
      { numRuns: 60 },
    );
  });

  it.each([
    { name: 'a hundredth', windowMs: 60 * WINDOW + 1, divisor: 100 },
    { name: 'a quarter in windows up to a minute', windowMs: WINDOW, divisor: 4 },
  ])(
    'never accepts more than the limit in a window when it is killed, and $name less at most',
    ({ windowMs, divisor }) => {
      const step = fc.record({
        waitMs: fc.oneof(
          fc.integer({ min: 0, max: 30 }),
          fc.integer({ min: 0, max: Math.floor(windowMs / 2) }),
        ),
        requests: fc.integer({ min: 1, max: 150 }),
        /** What is in memory alone is lost. */
        killed: fc.boolean(),
      });
      site.reopen().close();
      const database = openDatabase(site.path);
      let rounds = 0;
      fc.assert(
        fc.property(fc.constantFrom(1, 7, 100, 400), fc.array(step, { maxLength: 12 }), (limit, steps) => {
          rounds += 1;
          let now = 1_000_000_000 + rounds * 100 * windowMs;
          let log = createRateLog(database, now);
          const accepted: number[] = [];
          let kills = 0;
          for (const { waitMs, requests, killed } of steps) {
            now += waitMs;
            if (killed) {
              log = createRateLog(database, now);
              kills += 1;
            }
            for (let count = 0; count < requests; count += 1) {
              const inWindow = accepted.filter((at) => at > now - windowMs).length;
              const verdict = log.tryAccept(`${rounds}`, limit, windowMs, now);
              if (verdict.accepted) accepted.push(now);
              expect(verdict.accepted && inWindow >= limit).toBe(false);
              const withheld = kills * Math.max(0, Math.floor(limit / divisor) - 1);
              if (inWindow < limit - withheld) expect(verdict.accepted).toBe(true);
            }
          }
        }),
        { numRuns: 60 },
      );
      database.close();
    },
  );

  it.each([
    { name: 'a hundredth', windowMs: 60 * WINDOW + 1, expected: 100 },
    { name: 'a quarter', windowMs: WINDOW, expected: 4 },
  ])('writes once for $name of the limit, and nothing for what it refuses', ({ windowMs, expected }) => {
    site.reopen().close();
    // Before it is opened again, which would keep others out.
    const other = openDatabase(site.path);
    const { rateLog } = site.reopen();
    const writes = (requests: number): number => {
      let [count, version] = [0, other.pragma('data_version', { simple: true })];
      for (let index = 0; index < requests; index += 1) {
        rateLog.tryAccept('key', 1_000, windowMs, 1_000_000 + index);
        const now = other.pragma('data_version', { simple: true });
        if (now !== version) count += 1;
        version = now;
      }
      return count;
    };
    expect(writes(1_000)).toBe(expected);
    expect(writes(1_000)).toBe(0);
    other.close();
  });

  it('goes on counting while nothing can be written, and writes it as soon as something can', () => {
    using failing = failingDatabase();
    const { rateLog } = site.reopen();
    failing.fill();
    for (const remaining of [2, 1, 0])
      expect(rateLog.tryAccept('key', 3, WINDOW, 1_000_000)).toMatchObject({ accepted: true, remaining });
    expect(rateLog.tryAccept('key', 3, WINDOW, 1_000_001)).toMatchObject({ accepted: false });
    failing.disarm();
    const later = site.reopen().rateLog;
    expect(later.tryAccept('key', 3, WINDOW, 1_000_002)).toMatchObject({ accepted: false });
  });

  it('knows as much of many buckets when it keeps few of them in memory', () => {
    site.reopen().close();
    const database = openDatabase(site.path);
    const steps = fc.array(fc.record({ bucket: fc.nat(5), waitMs: fc.integer({ min: 0, max: WINDOW / 4 }) }));
    let rounds = 0;
    fc.assert(
      fc.property(steps, (list) => {
        rounds += 1;
        let now = 1_000_000_000 + rounds * 100 * WINDOW;
        const log = createRateLog(database, now, 2);
        const accepted: { bucket: number; at: number }[] = [];
        for (const { bucket, waitMs } of list) {
          now += waitMs;
          const used = accepted.filter((one) => one.bucket === bucket && one.at > now - WINDOW).length;
          const verdict = log.tryAccept(`${rounds} ${bucket}`, 2, WINDOW, now);
          expect(verdict.accepted).toBe(used < 2);
          if (verdict.accepted) accepted.push({ bucket, at: now });
          if (waitMs % 7 === 0) log.prune(WINDOW, now);
        }
      }),
      { numRuns: 60 },
    );
    database.close();
  });
});
