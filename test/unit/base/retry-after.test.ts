import { describe, expect, it } from 'vitest';
import { retryAfterMs, silenceAskedMs } from '../../../src/base/web/http-reply.ts';

const NOW = Date.UTC(2026, 10, 29, 4, 0, 0);
const HOUR = 3_600_000;
const asked = (retryAfter: string | null, date: string | null = null): number | null =>
  retryAfterMs({ retryAfter, date }, { longestMs: HOUR, nowMs: NOW });

describe('Retry-After', () => {
  it('is a number of seconds, of however many digits', () => {
    expect(asked('0')).toBe(0);
    expect(asked(' 600 ')).toBe(600_000);
    expect(asked('0.25')).toBe(250);
    expect(asked('7200')).toBe(HOUR);
    expect(asked('99999999999999999999')).toBe(HOUR);
    expect(asked('9'.repeat(400))).toBe(HOUR);
  });

  it('is a date in any form of HTTP, by the clock of the server when it tells the time', () => {
    expect(asked('Sun, 29 Nov 2026 04:10:00 GMT')).toBe(600_000);
    expect(asked('Sunday, 29-Nov-26 04:10:00 GMT')).toBe(600_000);
    expect(asked('Sun Nov 29 04:10:00 2026')).toBe(600_000);
    expect(asked('Sun, 29 Nov 2026 14:10:00 GMT', 'Sun, 29 Nov 2026 14:09:00 GMT')).toBe(60_000);
    expect(asked('Sun, 29 Nov 2026 03:00:00 GMT')).toBe(0);
    expect(asked('Sat, 29 Nov 2036 04:00:00 GMT')).toBe(HOUR);
  });

  it('that is neither asks for nothing', () => {
    for (const text of [null, '', '-5', 'soon', '2026-11-30', '1e9', '0x10', 'Sun, 99 Nov 2026 04:10:00 GMT'])
      expect(asked(text)).toBeNull();
  });
});

it('a receiver asks for silence by 429, and by 503 when it says for how long', () => {
  const silence = (status: number, retryAfter: string | null): number | null =>
    silenceAskedMs(status, { retryAfter, date: null }, NOW);
  expect([silence(429, '600'), silence(503, '600')]).toEqual([600_000, 600_000]);
  expect([silence(429, null), silence(429, 'soon')]).toEqual([60_000, 60_000]);
  expect([silence(503, null), silence(500, '600'), silence(404, '600')]).toEqual([null, null, null]);
});
