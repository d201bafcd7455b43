import { describe, expect, it } from 'vitest';
import { RequestError } from '../../../src/base/errors.ts';
import { openZone } from '../../../src/schedule/zone.ts';

const utc = (text: string): number => Date.parse(`${text}Z`);

describe('a time zone', () => {
  const berlin = openZone('Europe/Berlin');

  it('tells what its clock shows, to the millisecond', () => {
    expect(berlin.localAt(utc('2026-07-01T12:00:00.123'))).toBe(utc('2026-07-01T14:00:00.123'));
    expect(berlin.localAt(utc('2026-12-31T23:30'))).toBe(utc('2027-01-01T00:30'));
    expect(openZone('Asia/Kathmandu').localAt(utc('2026-07-01T00:00'))).toBe(utc('2026-07-01T05:45'));
    // Local mean time, whose offset has seconds.
    expect(berlin.localAt(utc('1890-01-01T00:00'))).toBe(utc('1890-01-01T00:53:28'));
  });

  it('finds the first instant of a time, and the end of the gap for one that is skipped', () => {
    expect(berlin.firstInstantOf(utc('2026-07-01T14:00'))).toBe(utc('2026-07-01T12:00'));
    expect(berlin.firstInstantOf(utc('2026-03-29T02:30'))).toBe(utc('2026-03-29T01:00'));
    expect(berlin.firstInstantOf(utc('2026-03-29T03:00'))).toBe(utc('2026-03-29T01:00'));
    expect(berlin.firstInstantOf(utc('2026-10-25T02:30'))).toBe(utc('2026-10-25T00:30'));
    expect(berlin.firstInstantOf(utc('2026-10-25T03:00'))).toBe(utc('2026-10-25T02:00'));
    expect(openZone('Pacific/Apia').firstInstantOf(utc('2011-12-30T08:00'))).toBe(utc('2011-12-30T10:00'));
  });

  it('finds a change of its clock', () => {
    const change = utc('2026-03-29T01:00');
    expect(berlin.changeWithin(change - 5000, change + 77)).toBe(change);
    expect(berlin.changeWithin(change - 5000, change - 1)).toBeUndefined();
    expect(berlin.changeWithin(change, change + 5000)).toBeUndefined();
  });

  it('is known by the names of the time zone database only', () => {
    expect(() => openZone('Middle/Earth')).toThrow(RequestError);
    expect(() => openZone('')).toThrow("'' is not a time zone");
  });
});
