import { describe, expect, test } from 'vitest';
import { quotaHeaders, tooMany, type Quota } from '../../../src/api/rate-limits.ts';

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
