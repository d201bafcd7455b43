import { describe, expect, it } from 'vitest';

import { keyNumber } from '../../support/run-snapshots.ts';
import { FULL_KEYS } from '../../../src/base/stored-by.ts';
import { RequestError } from '../../../src/base/errors.ts';
import { parseKeepDuration } from '../../../src/repository/retention/retention-calendar.ts';
import {
  parseGroupBy,
  planRetention,
  type RetentionPlan,
  type RetentionPolicy,
} from '../../../src/repository/retention/retention.ts';
import type { RetentionInput } from '../../../src/repository/retention/retention-groups.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');

function snapshot(time: string, facts: Partial<RetentionInput> = {}): RetentionInput {
  return {
    id: time,
    timeMs: Date.parse(time),
    rank: Date.parse(time),
    host: 'lab',
    paths: ['/home'],
    tags: [],
    pinned: false,
    partial: false,
    storedBy: FULL_KEYS,
    ...facts,
  };
}

function plan(snapshots: readonly RetentionInput[], policy: RetentionPolicy, now = NOW): RetentionPlan {
  return planRetention(snapshots, { timeZone: 'UTC', ...policy }, now);
}

/** Id and reasons of what is kept, as one object. */
function kept(of: RetentionPlan): Record<string, readonly string[]> {
  return Object.fromEntries(
    of.groups.flatMap((group) =>
      group.snapshots.filter((one) => one.keep).map((one) => [one.snapshot.id, one.reasons]),
    ),
  );
}

it('names the rules that keep each snapshot, once each, for programs', () => {
  const result = plan(
    [
      snapshot('2026-11-20T10:00Z', { tags: ['x'] }),
      snapshot('2026-11-20T09:00Z', { pinned: true, partial: true }),
      snapshot('2026-11-21T09:00Z'),
      snapshot('2026-11-01T09:00Z'),
      snapshot('2026-10-01T09:00Z', { host: 'other' }),
    ],
    { keepDaily: 1, keepYearly: 2, keepWithin: '2h', keepTags: [['x']] },
  );
  const rules = result.groups.flatMap((group) => group.snapshots).map((one) => [one.snapshot.id, one.rules]);
  expect(Object.fromEntries(rules)).toEqual({
    '2026-11-21T09:00Z': ['future'],
    '2026-11-20T10:00Z': ['tag', 'daily', 'yearly', 'within'],
    '2026-11-20T09:00Z': ['pinned', 'within'],
    '2026-11-01T09:00Z': ['yearly'],
    '2026-10-01T09:00Z': ['daily', 'yearly', 'within'],
  });
  expect(plan([snapshot('2026-11-20T10:00Z')], { keepTags: [['y']] }).groups[0]?.snapshots[0]?.rules).toEqual(
    ['newest'],
  );
});

describe('a snapshot that is there twice while its tags or keys are changed', () => {
  const time = '2026-11-20T10:00Z';
  const older = snapshot('2026-11-19T10:00Z');
  const oldest = snapshot('2026-11-18T10:00Z');

  it('stays as both: whoever changes it is about to forget one, and counts once', () => {
    for (const [old, changed] of [
      ['1', '2'],
      ['2', '1'],
    ] as const) {
      const pair = [snapshot(time, { id: old }), snapshot(time, { id: changed, original: old })];
      expect(plan([...pair, older, oldest], { keepLast: 2 }).remove).toEqual([oldest.id]);
      // Changed once before: neither is the first.
      const later = pair.map((one) => ({ ...one, original: '0' }));
      expect(plan([oldest, ...later.toReversed(), older], { keepLast: 1 }).remove).toEqual([
        older.id,
        oldest.id,
      ]);
    }
  });

  it('stays as both though other tags make them members of two groups, and goes as both', () => {
    const pair = [
      snapshot(older.id, { id: '1', tags: ['a'] }),
      snapshot(older.id, { id: '2', original: '1', tags: ['b'] }),
    ];
    const above = snapshot(time, { tags: ['a'] });
    const policy = { keepLast: 1, groupBy: ['host', 'tags'] } as const;
    expect(plan([above, ...pair], policy).remove).toEqual([]);
    const aboveBoth = [above, snapshot(time, { id: 'b', tags: ['b'] })];
    expect([...plan([...aboveBoth, ...pair], policy).remove].sort()).toEqual(['1', '2']);
  });

  it('is no reason to let go of another that it is only said to stand for', () => {
    const claims = snapshot(older.id, { id: 'f', original: oldest.id });
    const between = snapshot('2026-11-18T20:00Z');
    const result = plan([snapshot(time), claims, between, oldest], { keepMonthly: 12 });
    const why = ['oldest monthly 2026-11'];
    expect(kept(result)).toEqual({ [time]: ['monthly 2026-11'], f: why, [oldest.id]: why });
  });
});

describe('snapshots of a write-only key', () => {
  const day = (n: number): string => `2026-11-${String(n).padStart(2, '0')}T03:00Z`;
  const stored = (n: number, facts: Partial<RetentionInput> = {}): RetentionInput =>
    snapshot(day(n), { storedBy: keyNumber(1), storedMs: Date.parse(day(n)), ...facts });
  const genuine = [1, 5, 10, 14, 15, 16, 17, 18].map((n) => stored(n));
  const names = (of: RetentionPlan): readonly string[] => [...of.keep].sort();

  it('are not pushed out by false ones: not by many, nor by such that say they are older, or of another machine', () => {
    const policy = { keepDaily: 5, keepWeekly: 2 };
    const without = names(plan(genuine, policy));
    expect(without.length).toBeLessThan(genuine.length);
    const storedMs = Date.parse('2026-11-19T04:00Z');
    const falseOnes = [1, 5, 10, 14, 15, 16, 17, 18].flatMap((n) => [
      stored(n, { id: `claimed ${n}`, timeMs: Date.parse(`${day(n).slice(0, 10)}T23:00Z`), storedMs }),
      stored(n, { id: `many ${n}`, timeMs: storedMs + n, storedMs: storedMs + n }),
    ]);
    const left = names(plan([...genuine, ...falseOnes], policy));
    // One day more has passed, in which anything may have been stored.
    const expected = names(plan([...genuine, stored(19)], policy)).filter((id) => id !== day(19));
    expect(left).toEqual(expect.arrayContaining([...expected]));

    const ordinary = [1, 2, 3].map((n) => snapshot(day(n), { id: `ordinary ${n}` }));
    expect(names(plan([...ordinary, ...falseOnes], { keepLast: 3 }))).toEqual(
      expect.arrayContaining(['ordinary 1', 'ordinary 2', 'ordinary 3']),
    );
  });

  it('all stay where only the last few are counted', () => {
    expect(plan(genuine, { keepLast: 2 }).remove).toEqual([]);
    expect(plan(genuine, { keepLast: 2, keepDaily: 3 }).remove).not.toEqual([]);
  });

  it('stay by the time they bear where a copy of the repository has made all storage times the same', () => {
    const copied = genuine.map((one) => ({ ...one, storedMs: Date.parse('2026-11-20T01:00Z') }));
    const ordinary = genuine.map((one) => ({ ...one, storedBy: FULL_KEYS }));
    const policy = { keepDaily: 5, keepWeekly: 2 };
    expect(names(plan(copied, policy))).toEqual(expect.arrayContaining([...names(plan(ordinary, policy))]));
  });
});

describe('a worked example', () => {
  const history = [
    '2026-11-20T10:00Z',
    '2026-11-20T04:00Z',
    '2026-11-19T04:00Z',
    '2026-11-17T04:00Z',
    '2026-11-10T04:00Z',
    '2026-10-31T04:00Z',
    '2026-10-02T04:00Z',
    '2025-12-30T04:00Z',
    '2025-06-01T04:00Z',
  ].map((time) => snapshot(time));

  it('keeps what each rule chooses, and says which rule', () => {
    const result = plan(history, { keepLast: 2, keepDaily: 3, keepMonthly: 2, keepYearly: 1 });
    expect(kept(result)).toEqual({
      '2026-11-20T10:00Z': ['last 2', 'daily 2026-11-20', 'monthly 2026-11', 'yearly 2026'],
      '2026-11-20T04:00Z': ['last 2'],
      '2026-11-19T04:00Z': ['daily 2026-11-19'],
      '2026-11-17T04:00Z': ['daily 2026-11-17'],
      '2026-10-31T04:00Z': ['monthly 2026-10'],
    });
    expect(result.remove).toEqual([
      '2026-11-10T04:00Z',
      '2026-10-02T04:00Z',
      '2025-12-30T04:00Z',
      '2025-06-01T04:00Z',
    ]);
  });

  it('keeps the oldest snapshot while a rule has places left, and not once they are used up', () => {
    expect(kept(plan(history, { keepYearly: 3 }))).toEqual({
      '2026-11-20T10:00Z': ['yearly 2026'],
      '2025-12-30T04:00Z': ['yearly 2025'],
      '2025-06-01T04:00Z': ['oldest yearly 2025'],
    });
    expect(plan(history, { keepYearly: 2 }).keep).not.toContain('2025-06-01T04:00Z');
  });

  it('keeps one snapshot of every bucket for "all"', () => {
    expect(kept(plan(history, { keepMonthly: 'all' }))).toEqual({
      '2026-11-20T10:00Z': ['monthly 2026-11'],
      '2026-10-31T04:00Z': ['monthly 2026-10'],
      '2025-12-30T04:00Z': ['monthly 2025-12'],
      '2025-06-01T04:00Z': ['monthly 2025-06'],
    });
    expect(plan(history, { keepLast: 'all' }).remove).toEqual([]);
  });

  it('counts a duration back from the newest snapshot, not from now', () => {
    const muchLater = Date.parse('2036-01-01T00:00Z');
    expect(kept(plan(history, { keepWithin: '1d6h' }, muchLater))).toEqual({
      '2026-11-20T10:00Z': ['within 1d6h'],
      '2026-11-20T04:00Z': ['within 1d6h'],
    });
    expect(plan(history, { keepWithin: '1d7h' }).keep).toContain('2026-11-19T04:00Z');
  });

  it('keeps one per bucket within a duration, and the oldest when it is inside', () => {
    expect(kept(plan(history, { keepWithinMonthly: '2m' }))).toEqual({
      '2026-11-20T10:00Z': ['monthly 2026-11 within 2m'],
      '2026-10-31T04:00Z': ['monthly 2026-10 within 2m'],
    });
    expect(kept(plan(history.slice(0, 7), { keepWithinMonthly: '2m' }))).toMatchObject({
      '2026-10-02T04:00Z': ['oldest monthly 2026-10 within 2m'],
    });
  });
});

describe('partial snapshots', () => {
  const complete = snapshot('2026-11-20T03:00Z');
  const partial = snapshot('2026-11-20T05:00Z', { partial: true });
  const newest = snapshot('2026-11-20T09:00Z');

  it('never take the place of a complete one in their bucket', () => {
    const day = [
      complete,
      partial,
      snapshot('2026-11-19T20:00Z', { partial: true }),
      snapshot('2026-11-19T02:00Z'),
      snapshot('2026-11-18T02:00Z'),
    ];
    const result = plan([newest, ...day], { keepDaily: 2 });
    expect(result.keep).toEqual(['2026-11-20T09:00Z', '2026-11-19T02:00Z']);
  });

  it('take the place when the bucket has no complete one', () => {
    const result = plan(
      [newest, snapshot('2026-11-19T20:00Z', { partial: true }), snapshot('2026-11-18T02:00Z')],
      {
        keepDaily: 2,
      },
    );
    expect(kept(result)['2026-11-19T20:00Z']).toEqual(['daily 2026-11-19']);
  });

  it('do not use up the places of "last"', () => {
    const failing = ['06', '07', '08'].map((hour) => snapshot(`2026-11-20T${hour}:00Z`, { partial: true }));
    expect(
      kept(
        plan([...failing, complete, snapshot('2026-11-19T03:00Z'), snapshot('2026-11-18T03:00Z')], {
          keepLast: 2,
        }),
      ),
    ).toEqual({
      '2026-11-20T08:00Z': ['last 2'],
      '2026-11-20T07:00Z': ['last 2'],
      '2026-11-20T03:00Z': ['last 2 complete'],
      '2026-11-19T03:00Z': ['last 2 complete'],
    });
  });

  it('do not become the oldest that fills a rule when a complete one can', () => {
    const result = plan(
      [newest, snapshot('2026-11-20T02:00Z'), snapshot('2026-11-20T01:00Z', { partial: true })],
      { keepYearly: 3 },
    );
    expect(result.keep).toEqual(['2026-11-20T09:00Z', '2026-11-20T02:00Z']);
  });

  it('are kept, with the complete one of their bucket, when they hold the newest data of all', () => {
    expect(kept(plan([complete, partial], { keepDaily: 7 }))).toEqual({
      '2026-11-20T05:00Z': ['newest snapshot'],
      '2026-11-20T03:00Z': ['daily 2026-11-20'],
    });
  });
});

describe('safety', () => {
  it('never removes the last complete snapshot of a group', () => {
    const history = [
      snapshot('2026-11-20T05:00Z', { partial: true }),
      snapshot('2026-11-19T05:00Z', { partial: true, tags: ['keep'] }),
      snapshot('2026-01-01T05:00Z'),
      snapshot('2025-01-01T05:00Z'),
    ];
    expect(kept(plan(history, { keepTags: [['keep']] }))).toEqual({
      '2026-11-20T05:00Z': ['newest snapshot'],
      '2026-11-19T05:00Z': ['tag keep'],
      '2026-01-01T05:00Z': ['last complete snapshot'],
    });
  });

  it('keeps pinned snapshots whatever the policy says', () => {
    const result = plan([snapshot('2026-11-20T05:00Z'), snapshot('2020-01-01T05:00Z', { pinned: true })], {
      keepLast: 1,
    });
    expect(kept(result)['2020-01-01T05:00Z']).toEqual(['pinned']);
  });

  it("keeps and reports snapshots from the future, and gives them nobody's place", () => {
    const result = plan(
      [snapshot('2027-01-01T00:00Z'), snapshot('2026-11-20T05:00Z'), snapshot('2026-11-19T05:00Z')],
      { keepLast: 1, keepWithin: '1h' },
    );
    expect(result.future).toEqual(['2027-01-01T00:00Z']);
    expect(kept(result)).toEqual({
      '2027-01-01T00:00Z': ['in the future'],
      '2026-11-20T05:00Z': ['last 1', 'within 1h'],
    });
  });

  it.each<RetentionPolicy>([
    {},
    { keepLast: 0, keepDaily: 0, keepWithin: '0d', keepTags: [] },
    { groupBy: [], timeZone: 'UTC' },
  ])('refuses a policy that keeps nothing: %j', (policy) => {
    expect(() => plan([snapshot('2026-11-20T05:00Z')], policy)).toThrow(RequestError);
  });

  it.each<RetentionPolicy>([
    { keepLast: -1 },
    { keepLast: 1.5 },
    { keepLast: Number.NaN },
    { keepWithin: '2w' },
    { keepWithin: '3h2d' },
    { keepWithin: '' },
    { keepWithin: '-1d' },
    { keepLast: 1, keepTags: [[]] },
    { keepLast: 1, timeZone: 'Mars/Olympus' },
  ])('refuses what it does not understand: %j', (policy) => {
    expect(() => plan([], policy)).toThrow(RequestError);
  });

  it('refuses an id that is listed twice, a time that is none, and an unknown present', () => {
    const one = snapshot('2026-11-20T05:00Z');
    expect(() => plan([one, one], { keepLast: 1 })).toThrow(/listed twice/);
    expect(() => plan([{ ...one, timeMs: Number.NaN }], { keepLast: 1 })).toThrow(/no valid time/);
    expect(() => plan([one], { keepLast: 1 }, Number.NaN)).toThrow(/present time/);
  });

  it('keeps everything when a duration reaches further back than dates do', () => {
    expect(
      plan([snapshot('2026-11-20T05:00Z'), snapshot('0001-01-01T05:00Z')], { keepWithin: '999999y' }).remove,
    ).toEqual([]);
  });
});

describe('groups', () => {
  const history = [
    snapshot('2026-11-20T01:00Z', { host: 'a', paths: ['/x', '/y'] }),
    snapshot('2026-11-20T02:00Z', { host: 'a', paths: ['/y', '/x'], tags: ['t'] }),
    snapshot('2026-11-20T03:00Z', { host: 'a', paths: ['/x,/y'], user: 'ann' }),
    snapshot('2026-11-20T04:00Z', { host: 'b', paths: ['/x', '/y'] }),
  ];

  it('are made by host and set of paths unless stated otherwise, the newest first', () => {
    const result = plan(history, { keepLast: 1 });
    expect(result.groups.map((group) => group.key)).toEqual([
      { host: 'b', paths: ['/x', '/y'] },
      { host: 'a', paths: ['/x,/y'] },
      { host: 'a', paths: ['/x', '/y'] },
    ]);
    expect(result.remove).toEqual(['2026-11-20T01:00Z']);
  });

  it.each([
    ['none', 1],
    ['', 1],
    ['host', 2],
    ['tags', 2],
    ['user', 2],
    ['tag, path', 3],
    ['host,paths,tags,user', 4],
  ])('made by "%s" are %i', (words, count) => {
    const result = plan(history, { keepLast: 1, groupBy: parseGroupBy(words) });
    expect(result.groups).toHaveLength(count);
    expect(result.keep).toHaveLength(count);
  });

  it.each(['host,colour', ' ', 'host,'])('are refused by "%s", which has an unknown word', (words) => {
    expect(() => parseGroupBy(words)).toThrow(RequestError);
  });
});

describe('tags', () => {
  it('keep a snapshot that has all tags of any list', () => {
    const history = [
      snapshot('2026-11-20T01:00Z'),
      snapshot('2026-11-19T01:00Z', { tags: ['a'] }),
      snapshot('2026-11-18T01:00Z', { tags: ['b', 'a'] }),
      snapshot('2026-11-17T01:00Z', { tags: ['c'] }),
    ];
    expect(kept(plan(history, { keepTags: [['a', 'b'], ['c']] }))).toEqual({
      '2026-11-20T01:00Z': ['last complete snapshot'],
      '2026-11-18T01:00Z': ['tag a,b'],
      '2026-11-17T01:00Z': ['tag c'],
    });
  });
});

describe('the calendar', () => {
  it('counts days in the zone of the policy', () => {
    const history = [snapshot('2026-11-19T23:30Z'), snapshot('2026-11-19T22:30Z')];
    expect(kept(plan(history, { keepDaily: 5, timeZone: 'Europe/Berlin' }))).toEqual({
      '2026-11-19T23:30Z': ['daily 2026-11-20'],
      '2026-11-19T22:30Z': ['daily 2026-11-19'],
    });
    expect(plan(history, { keepDaily: 1, timeZone: 'UTC' }).remove).toEqual(['2026-11-19T22:30Z']);
  });

  it('keeps both hours of one name when clocks are set back, and a day of 25 hours as one', () => {
    const history = [
      snapshot('2026-10-25T01:30Z'),
      snapshot('2026-10-25T00:30Z'),
      snapshot('2026-10-24T22:15Z'),
    ];
    expect(kept(plan(history, { keepHourly: 2, timeZone: 'Europe/Berlin' }))).toEqual({
      '2026-10-25T01:30Z': ['hourly 2026-10-25 02:00+01:00'],
      '2026-10-25T00:30Z': ['hourly 2026-10-25 02:00+02:00'],
    });
    expect(plan(history, { keepDaily: 1, timeZone: 'Europe/Berlin' }).keep).toEqual(['2026-10-25T01:30Z']);
  });

  it('ends a day of 23 hours at its own midnight', () => {
    const history = [
      snapshot('2026-03-29T22:00Z'),
      snapshot('2026-03-29T21:59Z'),
      snapshot('2026-03-28T23:00Z'),
    ];
    expect(kept(plan(history, { keepDaily: 2, timeZone: 'Europe/Berlin' }))).toEqual({
      '2026-03-29T22:00Z': ['daily 2026-03-30'],
      '2026-03-29T21:59Z': ['daily 2026-03-29'],
    });
  });

  it('counts a day back by the calendar and hours as they pass when clocks change', () => {
    const noon = snapshot('2026-10-25T11:00Z');
    const dayBefore = [snapshot('2026-10-24T10:01Z'), snapshot('2026-10-24T10:00Z')];
    const berlin = { timeZone: 'Europe/Berlin' };
    expect(plan([noon, ...dayBefore], { keepWithin: '1d', ...berlin }).remove).toEqual(['2026-10-24T10:00Z']);
    expect(plan([noon, ...dayBefore], { keepWithin: '24h', ...berlin }).remove).toHaveLength(2);
  });

  it('takes the earlier instant when the start of a duration falls on a changed clock', () => {
    const berlin = { timeZone: 'Europe/Berlin', keepWithin: '1d' };
    // 26 October 02:30 less a day is read twice: at 00:30Z and at 01:30Z.
    expect(plan([snapshot('2026-10-26T01:30Z'), snapshot('2026-10-25T00:31Z')], berlin).remove).toEqual([]);
    // 30 March 02:30 less a day is never shown: the earlier reading is 00:30Z.
    expect(plan([snapshot('2026-03-30T00:30Z'), snapshot('2026-03-29T00:31Z')], berlin).remove).toEqual([]);
  });

  it('counts a month back from its 31st to the last day of a shorter month', () => {
    const history = [
      snapshot('2026-03-31T10:00Z'),
      snapshot('2026-02-28T10:01Z'),
      snapshot('2026-02-28T10:00Z'),
    ];
    expect(plan(history, { keepWithin: '1m' }).remove).toEqual(['2026-02-28T10:00Z']);
  });

  it('puts the first days of a year into week 53 of the year before', () => {
    const history = ['2027-01-04T00:00Z', '2027-01-03T23:59Z', '2026-12-28T00:00Z', '2026-12-27T23:59Z'].map(
      (time) => snapshot(time),
    );
    expect(kept(plan(history, { keepWeekly: 3 }, Date.parse('2027-02-01T00:00Z')))).toEqual({
      '2027-01-04T00:00Z': ['weekly 2027-W01'],
      '2027-01-03T23:59Z': ['weekly 2026-W53'],
      '2026-12-27T23:59Z': ['weekly 2026-W52'],
    });
  });

  it('puts the last days of a year into week 1 of the next', () => {
    expect(kept(plan([snapshot('2024-12-30T12:00Z')], { keepWeekly: 1 }))).toEqual({
      '2024-12-30T12:00Z': ['weekly 2025-W01'],
    });
  });

  it('names the zone it used when none was stated', () => {
    const system = new Intl.DateTimeFormat().resolvedOptions().timeZone;
    expect(planRetention([], { keepLast: 1 }, NOW)).toEqual({
      timeZone: system,
      groups: [],
      keep: [],
      remove: [],
      future: [],
    });
  });

  it('copes with times long before the calendar of today', () => {
    const history = [snapshot('1850-06-01T10:00Z'), snapshot('-000005-01-03T10:00Z')];
    expect(kept(plan(history, { keepYearly: 2, timeZone: 'Europe/Berlin' }))).toEqual({
      '1850-06-01T10:00Z': ['yearly 1850'],
      '-000005-01-03T10:00Z': ['yearly -000005'],
    });
  });
});

it('reads durations of any combination of units', () => {
  expect(parseKeepDuration('1y2m3d4h')).toEqual({ years: 1, months: 2, days: 3, hours: 4 });
  expect(parseKeepDuration('36h')).toEqual({ years: 0, months: 0, days: 0, hours: 36 });
});
