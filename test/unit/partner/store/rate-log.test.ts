import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { takeFromLog } from '../../../../src/partner/store/rate-log.ts';
import type { PartnerStores } from '../../../../src/partner/store/store.ts';
import { STORE_KINDS, somePartner, storeSite, type StoreSite } from '../../../support/partner-store-site.ts';

const WINDOW = 60_000;

const steps = fc.array(
  fc.record({
    waitMs: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: WINDOW })),
    instance: fc.nat(1),
    reopen: fc.boolean(),
  }),
  { maxLength: 30 },
);

describe('a sliding log', () => {
  it('decides as a plain list of all accepted times does, and says exactly when the next is accepted', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4 }), steps, (limit, list) => {
        let [now, times]: [number, readonly number[]] = [1_000_000_000, []];
        const accepted: number[] = [];
        for (const { waitMs } of list) {
          now += waitMs;
          const used = accepted.filter((at) => at > now - WINDOW).length;
          const { verdict, times: next } = takeFromLog(times, limit, WINDOW, now);
          expect(verdict.accepted).toBe(used < limit);
          expect(verdict.remaining).toBe(Math.max(0, limit - used - 1));
          if (verdict.accepted) accepted.push(now);
          times = next;
          expect(times.length).toBeLessThanOrEqual(limit);
          const free = (ms: number): boolean => takeFromLog(times, limit, WINDOW, now + ms).verdict.accepted;
          if (verdict.accepted) continue;
          expect(free(verdict.retryAfterMs)).toBe(true);
          expect(free(verdict.retryAfterMs - 1)).toBe(false);
          expect(verdict.resetAtMs).toBe(now + verdict.retryAfterMs);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('never accepts more than the limit in a window of true time when the clock is set back', () => {
    const moves = fc.array(
      fc.record({
        waitMs: fc.integer({ min: 0, max: WINDOW / 2 }),
        backMs: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.integer({ min: 0, max: 3 * WINDOW })),
      }),
    );
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3 }), moves, (limit, list) => {
        let [trueMs, offset, times]: [number, number, readonly number[]] = [1_000_000_000, 0, []];
        const accepted: number[] = [];
        for (const { waitMs, backMs } of list) {
          trueMs += waitMs;
          offset -= backMs;
          const step = takeFromLog(times, limit, WINDOW, trueMs + offset);
          ({ times } = step);
          if (step.verdict.accepted) accepted.push(trueMs);
          expect(accepted.filter((at) => at > trueMs - WINDOW).length).toBeLessThanOrEqual(limit);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('applies a lower limit at once, and accepts nothing where the limit is none', () => {
    const { verdict } = takeFromLog([1_000, 2_000, 3_000, 4_000, 5_000], 2, WINDOW, 6_000);
    expect(verdict).toEqual({
      accepted: false,
      remaining: 0,
      resetAtMs: 4_000 + WINDOW,
      retryAfterMs: WINDOW - 2_000,
    });
    expect(takeFromLog([], 0, WINDOW, 5).verdict).toMatchObject({ accepted: false, retryAfterMs: WINDOW });
  });
});

describe.each(STORE_KINDS)('the rate limit of a partner on %s', (kind) => {
  let site: StoreSite;
  let stores: [PartnerStores, PartnerStores];

  beforeEach(async () => {
    site = await storeSite(kind);
    stores = [await site.open(), await site.open()];
  });
  afterEach(async () => await site.remove());

  it('is 120 in any 60 seconds, exactly, when two instances are asked at once', async () => {
    const [first, second] = stores;
    const { id } = await somePartner(first);
    const ask = async (count: number): Promise<number> => {
      const verdicts = await Promise.all(
        Array.from(
          { length: count },
          async (_, index) => await (index % 2 === 0 ? first : second).rateLog.tryAccept(id, 120, WINDOW),
        ),
      );
      return verdicts.filter(({ accepted }) => accepted).length;
    };
    expect(await ask(50)).toBe(50);
    site.clock.jump(WINDOW / 2);
    expect(await ask(100)).toBe(70);
    site.clock.jump(WINDOW / 2 - 1);
    expect(await ask(5)).toBe(0);
    site.clock.jump(1);
    expect(await ask(60)).toBe(50);
  });

  it('decides as a plain list does, in two instances that are opened again', async () => {
    let rounds = 0;
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 4 }), steps, async (limit, list) => {
        rounds += 1;
        const { id } = await somePartner(stores[0], `p${rounds}`);
        const accepted: number[] = [];
        for (const [index, { waitMs, instance, reopen }] of list.entries()) {
          site.clock.jump(waitMs);
          if (reopen && index === 10) stores = [await site.open(), stores[0]];
          const now = site.clock.now();
          const used = accepted.filter((at) => at > now - WINDOW).length;
          const verdict = await (instance === 0 ? stores[0] : stores[1]).rateLog.tryAccept(id, limit, WINDOW);
          expect(verdict.accepted).toBe(used < limit);
          expect(verdict.remaining).toBe(Math.max(0, limit - used - 1));
          if (verdict.accepted) accepted.push(now);
        }
      }),
      { numRuns: 12 },
    );
  });

  it('is each partner’s own', async () => {
    const [one, other] = [await somePartner(stores[0]), await somePartner(stores[0], 'umbrella')];
    expect(await stores[0].rateLog.tryAccept(one.id, 1, WINDOW)).toMatchObject({ accepted: true });
    expect(await stores[0].rateLog.tryAccept(one.id, 1, WINDOW)).toMatchObject({
      accepted: false,
      retryAfterMs: WINDOW,
    });
    expect(await stores[0].rateLog.tryAccept(other.id, 1, WINDOW)).toMatchObject({ accepted: true });
  });

  it('is measured by one clock: that of the database server, where instances have several', async () => {
    const { id } = await somePartner(stores[0]);
    const own = await site.open({ sharedClock: undefined });
    const before = Date.now();
    const { resetAtMs } = await own.rateLog.tryAccept(id, 1, WINDOW);
    // The test's clock stands in 2023.
    if (kind === 'sqlite') expect(resetAtMs).toBe(site.clock.now() + WINDOW);
    else expect(Math.abs(resetAtMs - WINDOW - before)).toBeLessThan(60_000);
  });
});
