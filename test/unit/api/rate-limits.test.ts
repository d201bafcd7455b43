import { describe, expect, onTestFinished, test } from 'vitest';
import type { Client } from '../../../src/api/access/clients.ts';
import {
  createRateLimits,
  quotaHeaders,
  tooMany,
  type Quota,
  type RateLimits,
} from '../../../src/api/access/rate-limits.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { databaseSite } from '../db/open-database.ts';

const quota: Quota = {
  accepted: false,
  limit: 10,
  windowMs: 60_000,
  remaining: 0,
  resetAtMs: 1_700_000_000_001,
  retryAfterMs: 0,
};

describe('who is refused for asking too often', () => {
  test.each([
    [0, 1],
    [1, 1],
    [1_000, 1],
    [1_001, 2],
    [1_999, 2],
    [59_500, 60],
  ])('and may ask again in %i ms is told to wait %i whole seconds', (retryAfterMs, seconds) => {
    const error = tooMany('requests', { ...quota, retryAfterMs });
    expect(error.headers).toEqual({ 'retry-after': String(seconds) });
    expect(error.details).toMatchObject({ retry_after_seconds: seconds, limit: 10, window_seconds: 60 });
  });

  test('is told of a second at which there is a place, never of the one before', () => {
    expect(quotaHeaders(quota)).toMatchObject({ 'x-ratelimit-reset': '1700000001' });
  });
});

describe('users of this machine who ask without credentials', () => {
  const MINUTE = { requests: 20, windowMs: 60_000 };

  function limits(): { limits: RateLimits; clock: ReturnType<typeof manualClock> } {
    const site = databaseSite();
    onTestFinished(() => site.remove());
    const clock = manualClock();
    const most = {
      anonymous: MINUTE,
      strangers: { requests: 60, windowMs: 60_000 },
      failedLogins: { perKey: MINUTE, total: MINUTE },
    };
    return { limits: createRateLimits(site.reopen().rateLog, most, () => MINUTE, clock), clock };
  }

  const client = (uid: number, isStranger = true): Client => ({
    address: '127.0.0.1',
    user: async () => await Promise.resolve({ name: `user ${uid}`, isStranger }),
  });

  /** How many of so many requests of each user are answered. */
  async function answered(
    by: RateLimits,
    uids: readonly number[],
    count: number,
  ): Promise<readonly number[]> {
    const accepted = uids.map(() => 0);
    for (let round = 0; round < count; round += 1)
      for (const [at, uid] of uids.entries())
        if ((await by.takeForClient(client(uid))).accepted) accepted[at] = (accepted[at] ?? 0) + 1;
    return accepted;
  }

  test('leave the others what is theirs: one who asks without end takes his own alone', async () => {
    const { limits: by } = limits();
    // The address has 20 for all.
    expect(await answered(by, [1], 500)).toEqual([40]);
    expect(await answered(by, [2], 30)).toEqual([20]);
  });

  test('keep nobody out together, however many they are', async () => {
    const { limits: by, clock } = limits();
    await answered(by, [1, 2, 3, 4, 5, 6], 100);
    expect(await answered(by, [7], 10)).toEqual([2]);
    await clock.advance(60_000);
    expect(await answered(by, [7], 10)).toEqual([10]);
  });

  test('who are as many as they like have no second share each in one window, however they take turns', async () => {
    const { limits: by, clock } = limits();
    const many = Array.from({ length: 1_500 }, (_, at) => 1_000 + at);
    let answers = 0;
    for (let round = 0; round < 4; round += 1)
      for (const count of await answered(by, many, 1)) answers += count;
    // Of the address, of strangers together, and of a thousand shares.
    expect(answers).toBe(20 + 60 + 1_000 * 2);
    expect(await answered(by, [7], 1)).toEqual([0]);
    await clock.advance(60_000);
    await answered(by, many.slice(0, 100), 1);
    expect(await answered(by, [7], 3)).toEqual([2]);
  });
});
