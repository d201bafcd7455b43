import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ATTEMPT_DELAYS_MS, nextAttemptAt } from '../../../../src/partner/store/delivery-schedule.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const END = 1_700_000_000_000;
const delayAfter = (attempts: number, retryAfterMs: number | null = null, chance = 0): number =>
  (nextAttemptAt(attempts, END, retryAfterMs, chance) ?? Number.NaN) - END;

describe('the attempts to deliver an event', () => {
  it('are ten, over three days', () => {
    expect(Array.from({ length: 10 }, (_, attempts) => delayAfter(attempts))).toEqual([
      0,
      5000,
      5 * MINUTE,
      30 * MINUTE,
      2 * HOUR,
      5 * HOUR,
      10 * HOUR,
      14 * HOUR,
      20 * HOUR,
      24 * HOUR,
    ]);
    expect(nextAttemptAt(10, END, null, 0)).toBeNull();
    expect(nextAttemptAt(10, END, HOUR, 0)).toBeNull();
  });

  it('are spread by a tenth, and never early', () => {
    expect([0, 0.25, 1].map((chance) => delayAfter(2, null, chance))).toEqual([300_000, 307_500, 330_000]);
  });

  it('wait as long as the receiver asks for, up to an hour', () => {
    expect(delayAfter(1, 20_000)).toBe(20_000);
    expect(delayAfter(1, 20_000, 1)).toBe(20_000);
    expect(delayAfter(1, 86_400_000)).toBe(HOUR);
    // The schedule's own wait is longer.
    expect(delayAfter(4, 20_000)).toBe(2 * HOUR);
  });

  it('are never before their time, nor before the receiver wants them', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 9 }),
        fc.option(fc.integer({ min: 0, max: 2 * HOUR })),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (attempts, retryAfterMs, chance) => {
          const delay = delayAfter(attempts, retryAfterMs, chance);
          const planned = ATTEMPT_DELAYS_MS[attempts] ?? Number.NaN;
          expect(delay).toBeGreaterThanOrEqual(planned);
          expect(delay).toBeGreaterThanOrEqual(Math.min(retryAfterMs ?? 0, HOUR));
          expect(delay).toBeLessThanOrEqual(Math.max(Math.ceil(planned * 1.1), HOUR));
        },
      ),
    );
  });
});
