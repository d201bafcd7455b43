import { describe, expect, it } from 'vitest';
import { absenceNotice, findAbsences, type ProtectedSource } from '../../../src/notify/absence.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOW = Date.parse('2026-11-21T12:00Z');

function source(facts: Partial<ProtectedSource> = {}): ProtectedSource {
  return {
    source: '/home',
    destination: 'nas',
    lastGoodAt: NOW - HOUR,
    since: NOW - 100 * DAY,
    dueAt: null,
    ...facts,
  };
}

describe('absence', () => {
  it('begins when a source has had no good backup for the days that are set', () => {
    const late = source({ lastGoodAt: NOW - 3 * DAY });
    const fresh = source({ source: '/fresh', lastGoodAt: NOW - 3 * DAY + 1 });
    expect(findAbsences([late, fresh], new Map(), 3, NOW).absent).toEqual([{ ...late, days: 3 }]);
    expect(findAbsences([late, fresh], new Map(), 0, NOW).absent).toEqual([]);
  });

  it('of what is backed up seldom begins a day after it was due', () => {
    const weekly = source({ lastGoodAt: NOW - 7.5 * DAY, dueAt: NOW - 0.5 * DAY });
    expect(findAbsences([weekly], new Map(), 3, NOW).absent).toEqual([]);
    expect(findAbsences([weekly], new Map(), 3, NOW + 0.5 * DAY).absent).toEqual([{ ...weekly, days: 8 }]);
    const soon = source({ lastGoodAt: NOW - 8 * DAY, dueAt: NOW + 20 * DAY });
    expect(findAbsences([soon], new Map(), 3, NOW).absent).toEqual([]);
  });

  it('counts from when the source was added while there is no backup at all', () => {
    const never = source({ lastGoodAt: null, since: NOW - 4 * DAY });
    const added = source({ source: '/new', lastGoodAt: null, since: NOW - DAY });
    expect(findAbsences([never, added], new Map(), 3, NOW).tell).toEqual([{ ...never, days: 4 }]);
  });

  it('is told once a day until it is mended, and anew when it comes back', () => {
    let told: ReadonlyMap<string, number> = new Map();
    const hoursTold: number[] = [];
    for (let hour = 0; hour < 24 * 12; hour += 1) {
      const now = NOW + hour * HOUR;
      // Good backups until now, and one on the seventh day.
      const lastGoodAt = hour < 24 * 7 ? NOW : NOW + 7 * DAY;
      const found = findAbsences([source({ lastGoodAt })], told, 3, now);
      told = found.told;
      if (found.tell.length > 0) hoursTold.push(hour);
    }
    expect(hoursTold.map((hour) => hour / 24)).toEqual([3, 4, 5, 6, 10, 11]);
    expect(findAbsences([source({ lastGoodAt: NOW })], told, 3, NOW + DAY).told.size).toBe(0);
  });

  it('is told although it was noted under a clock that was ahead', () => {
    const late = source({ lastGoodAt: NOW - 5 * DAY });
    const { told } = findAbsences([late], new Map(), 3, NOW + 3650 * DAY);
    expect(findAbsences([late], told, 3, NOW).tell).toHaveLength(1);
  });

  it('of two destinations of a source is told for each', () => {
    const both = [source({ lastGoodAt: null }), source({ destination: 'cloud', lastGoodAt: null })];
    const first = findAbsences(both, new Map(), 3, NOW);
    expect(first.tell).toHaveLength(2);
    expect(findAbsences(both, first.told, 3, NOW + HOUR).tell).toEqual([]);
  });

  it('says which, since when, and what to do', () => {
    const [late] = findAbsences([source({ lastGoodAt: NOW - 5.5 * DAY })], new Map(), 3, NOW).tell;
    if (late === undefined) throw new Error('nothing was found');
    const known = { because: ' because the disk is away', advice: 'Plug it in.' };
    expect(absenceNotice(late, 'workshop', known)).toMatchObject({
      kind: 'absence',
      host: 'workshop',
      source: '/home',
      destination: 'nas',
      text: expect.stringMatching(
        /^The last good backup of \/home to nas is 5 days old \(from 2026-11-16 00:00 UTC\) because the disk is away\. Plug it in\.$/,
      ),
    });
    expect(absenceNotice({ ...late, lastGoodAt: null, days: 1 }, 'workshop', known).text).toMatch(
      /^\/home has never been backed up to nas, although a backup has been due for 1 day because the disk is away\. Plug it in\.$/,
    );
  });
});
