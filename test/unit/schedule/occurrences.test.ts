/** The rules of occurrences.ts, each on a day in a place; wider sweeps are in test/property/schedule.test.ts. */
import { describe, expect, it } from 'vitest';
import { nextRuns, parseSchedule } from '../../../src/schedule/schedule.ts';

function runs(text: string, zone: string, after: string, count: number): readonly string[] {
  return nextRuns(parseSchedule(text), Date.parse(after), zone, count).map((run) =>
    new Date(run).toISOString().slice(0, 16),
  );
}

describe('a fixed time', () => {
  it('that the spring change skips is due right after the gap', () => {
    // 02:00 becomes 03:00 on 29 March 2026.
    expect(runs('daily at 02:30', 'Europe/Berlin', '2026-03-28T00:00Z', 3)).toEqual([
      '2026-03-28T01:30',
      '2026-03-29T01:00',
      '2026-03-30T00:30',
    ]);
    // 00:00 becomes 01:00.
    expect(runs('daily at 00:00', 'America/Sao_Paulo', '2018-11-03T12:00Z', 2)).toEqual([
      '2018-11-04T03:00',
      '2018-11-05T02:00',
    ]);
    // Half an hour only.
    expect(runs('daily at 02:15', 'Australia/Lord_Howe', '2026-10-02T16:00Z', 2)).toEqual([
      '2026-10-03T15:30',
      '2026-10-04T15:15',
    ]);
  });

  it('on a day that a zone left out is due when the next day begins', () => {
    // Samoa had no 30 December 2011.
    expect(runs('daily at 12:00', 'Pacific/Apia', '2011-12-29T12:00Z', 3)).toEqual([
      '2011-12-29T22:00',
      '2011-12-30T10:00',
      '2011-12-30T22:00',
    ]);
  });

  it('that several of an expression share the gap with is due once', () => {
    expect(runs('*/20 2 * * *', 'America/New_York', '2026-03-08T05:00Z', 2)).toEqual([
      '2026-03-08T07:00',
      '2026-03-09T06:00',
    ]);
  });

  it('that occurs twice is due at its first occurrence, on both sides of UTC', () => {
    expect(runs('daily at 02:30', 'Europe/Berlin', '2026-10-24T12:00Z', 2)).toEqual([
      '2026-10-25T00:30',
      '2026-10-26T01:30',
    ]);
    expect(runs('daily at 01:30', 'America/New_York', '2026-10-31T12:00Z', 2)).toEqual([
      '2026-11-01T05:30',
      '2026-11-02T06:30',
    ]);
    // Asked between the two, and after the second.
    expect(runs('daily at 02:30', 'Europe/Berlin', '2026-10-25T01:15Z', 1)).toEqual(['2026-10-26T01:30']);
    expect(runs('daily at 02:30', 'Europe/Berlin', '2026-10-25T01:45Z', 1)).toEqual(['2026-10-26T01:30']);
  });
});

describe('an expression for every hour', () => {
  it('keeps its distance through both changes', () => {
    expect(runs('30 * * * *', 'Europe/Berlin', '2026-03-29T00:00Z', 3)).toEqual([
      '2026-03-29T00:30',
      '2026-03-29T01:30',
      '2026-03-29T02:30',
    ]);
    expect(runs('30 * * * *', 'Europe/Berlin', '2026-10-25T00:00Z', 3)).toEqual([
      '2026-10-25T00:30',
      '2026-10-25T01:30',
      '2026-10-25T02:30',
    ]);
    expect(runs('*/15 * * * *', 'America/New_York', '2026-11-01T05:40Z', 3)).toEqual([
      '2026-11-01T05:45',
      '2026-11-01T06:00',
      '2026-11-01T06:15',
    ]);
  });

  it('finds a day that is far away', () => {
    expect(runs('0 * 4 7 *', 'America/New_York', '2026-07-05T12:00Z', 2)).toEqual([
      '2027-07-04T04:00',
      '2027-07-04T05:00',
    ]);
  });
});

describe('an interval', () => {
  it('is the same length on days of 23 and 25 hours', () => {
    expect(runs('every 6h', 'Europe/Berlin', '2026-10-24T20:00Z', 3)).toEqual([
      '2026-10-25T02:00',
      '2026-10-25T08:00',
      '2026-10-25T14:00',
    ]);
  });
});
