// Turn 8 of 8.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { FULL_KEYS } from '../../src/base/stored-by.ts';
import {
  planRetention,
  type KeepCount,
  type RetentionPolicy,
} from '../../src/repository/retention/retention.ts';
import type { GroupField, RetentionInput } from '../../src/repository/retention/retention-groups.ts';

/** 10,000 with HOLDFAST_LONG=1. */
const RUNS = process.env['HOLDFAST_LONG'] === '1' ? 10_000 : 300;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOW = Date.parse('2026-11-20T12:00:00Z');
const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'Pacific/Apia',
] as const;

// ---- Random policies and histories ---------------------------------------------------------------------------

const count: fc.Arbitrary<KeepCount> = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 6 }) },
  { weight: 1, arbitrary: fc.constant('all' as const) },
);
const duration = fc
  .record({
    y: fc.integer({ min: 0, max: 2 }),
    m: fc.integer({ min: 0, max: 14 }),
    d: fc.integer({ min: 0, max: 40 }),
    h: fc.integer({ min: 0, max: 50 }),
  })
  .map(({ y, m, d, h }) => `${y}y${m}m${d}d${h}h`);

const rules = fc.record({
  keepLast: count,
  keepHourly: count,
  keepDaily: count,
  keepWeekly: count,
  keepMonthly: count,
  keepYearly: count,
  keepWithin: duration,
  keepWithinHourly: duration,
  keepWithinDaily: duration,
  keepWithinWeekly: duration,
  keepWithinMonthly: duration,
  keepWithinYearly: duration,
  keepTags: fc.array(fc.subarray(['a', 'b', 'c'], { minLength: 1 }), { minLength: 1, maxLength: 2 }),
});
const ruleNames: (keyof RetentionPolicy)[] = [
  ...(['keepLast', 'keepHourly', 'keepDaily', 'keepWeekly', 'keepMonthly', 'keepYearly'] as const),
  ...(['keepWithin', 'keepWithinHourly', 'keepWithinDaily', 'keepWithinWeekly'] as const),
  ...(['keepWithinMonthly', 'keepWithinYearly', 'keepTags'] as const),
];

/** One to four rules: with more, nearly everything is kept. */
const policies: fc.Arbitrary<RetentionPolicy> = fc
  .tuple(
    rules,
    fc.subarray(ruleNames, { minLength: 1, maxLength: 4 }),
    fc.oneof(fc.constant(undefined), fc.subarray<GroupField>(['host', 'paths', 'tags', 'user'])),
    fc.constantFrom(...ZONES),
  )
  .map(([all, names, groupBy, timeZone]) => {
    const stated = Object.entries(all).filter(([name]) => (names as string[]).includes(name));
    return { ...(Object.fromEntries(stated) as Partial<typeof all>), groupBy, timeZone };
  })
  .filter(saysSomething);

function saysSomething(policy: RetentionPolicy): boolean {
  const empty: readonly unknown[] = [undefined, 0, '0y0m0d0h'];
  return ruleNames.some((name) => !empty.includes(policy[name]));
}

/** Times that fall close together and far apart, around changes of clocks and of years, in the past and future. */
const times = fc.oneof(
  fc.integer({ min: 0, max: 60 * 24 }).map((minutes) => NOW - minutes * 60_000),
  fc.integer({ min: 0, max: 60 }).map((days) => NOW - days * DAY + 7 * 60_000),
  fc.integer({ min: 0, max: 120 }).map((weeks) => NOW - weeks * 7 * DAY),
  fc.integer({ min: 0, max: 150 }).map((half) => Date.parse('2026-10-24T20:15:00Z') + half * (HOUR / 2)),
  fc.integer({ min: 0, max: 150 }).map((half) => Date.parse('2026-03-28T20:15:00Z') + half * (HOUR / 2)),
  fc.integer({ min: -9, max: 9 }).map((days) => Date.parse('2021-01-01T05:00:00Z') + days * DAY),
  fc.integer({ min: 0, max: NOW / 1000 }).map((seconds) => seconds * 1000),
  fc.integer({ min: 1, max: 400 * 24 }).map((hours) => NOW + hours * HOUR),
  fc.constantFrom(0, -DAY, NOW, NOW + 1, NOW - 1, Date.parse('2011-12-30T12:00:00Z')),
);

const histories: fc.Arbitrary<readonly RetentionInput[]> = fc
  .array(
    fc.record({
      timeMs: times,
      host: fc.constantFrom('lab', 'lab', 'lab', 'lab', 'lab', 'den'),
      paths: fc.constantFrom(['/home', '/etc'], ['/etc', '/home'], ['/etc', '/home'], ['/home']),
      user: fc.constantFrom(undefined, 'ann'),
      storedBy: fc.constant(FULL_KEYS),
      tags: fc.subarray(['a', 'b', 'c']),
      pinned: fc.nat(12).map((n) => n === 0),
      partial: fc.nat(2).map((n) => n === 0),
    }),
    { maxLength: 60, size: 'max' },
  )
  .chain((list) => {
    // Half of them of machines whose clocks were always right; in the others any may be newer than it says.
    const right = fc.constant(list.map(({ timeMs }) => timeMs));
    const any = fc.array(fc.nat(100), { minLength: list.length, maxLength: list.length });
    return fc
      .oneof(right, any)
      .map((ranks) => list.map((one, i) => ({ ...one, rank: ranks[i] ?? 0, id: `s${i}` })));
  });

// ---- The model: for each snapshot on its own, is there a reason to keep it? -----------------------------------

function remember<R>(answers: Map<string, R>, question: string, answer: () => R): R {
  const known = answers.get(question);
  if (known !== undefined) return known;
  const found = answer();
  answers.set(question, found);
  return found;
}

const clocks = new Map<string, Intl.DateTimeFormat>();
const shownTimes = new Map<string, string>();
const mondays = new Map<string, string>();
const cutoffs = new Map<string, number | 'ambiguous'>();

/** What the clock on the wall shows: `2026-11-20 13:00:00`. */
function wall(timeMs: number, zone: string): string {
  return remember(shownTimes, `${timeMs} ${zone}`, () =>
    remember(
      clocks,
      zone,
      () => new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' }),
    ).format(timeMs),
  );
}

/** Monday's date names the week. */
function mondayOf(date: string): string {
  return remember(mondays, date, () => {
    const noon = new Date(`${date}T12:00:00Z`);
    while (noon.getUTCDay() !== 1) noon.setTime(noon.getTime() - DAY);
    return noon.toISOString().slice(0, 10);
  });
}

const sameBucket: Record<string, (a: number, b: number, zone: string) => boolean> = {
  // The minutes past the hour tell how far the two are from one hour's start.
  Hourly: (a, b, zone) =>
    wall(a, zone).slice(0, 13) === wall(b, zone).slice(0, 13) &&
    Math.abs(a - b) < HOUR &&
    sameOffset(a, b, zone),
  Daily: (a, b, zone) => wall(a, zone).slice(0, 10) === wall(b, zone).slice(0, 10),
  Weekly: (a, b, zone) => mondayOf(wall(a, zone).slice(0, 10)) === mondayOf(wall(b, zone).slice(0, 10)),
  Monthly: (a, b, zone) => wall(a, zone).slice(0, 7) === wall(b, zone).slice(0, 7),
  Yearly: (a, b, zone) => wall(a, zone).slice(0, 4) === wall(b, zone).slice(0, 4),
};

/** Between two instants the clock on the wall went on by just as much. */
function sameOffset(a: number, b: number, zone: string): boolean {
  const shown = (timeMs: number) => Date.parse(`${wall(timeMs, zone).replace(' ', 'T')}Z`);
  return shown(a) - shown(b) === Math.floor(a / 1000) * 1000 - Math.floor(b / 1000) * 1000;
}

/** The instant `text` before, unless the clocks of the zone show that time twice or never. */
function cutoff(timeMs: number, text: string, zone: string): number | 'ambiguous' {
  const [y = 0, m = 0, d = 0, h = 0] = text.split(/[ymdh]/).map(Number);
  const shown = wall(timeMs, zone);
  const months = Number(shown.slice(0, 4)) * 12 + Number(shown.slice(5, 7)) - 1 - y * 12 - m;
  const yearMonth = `${String(Math.floor(months / 12)).padStart(4, '0')}-${String((months % 12) + 1).padStart(2, '0')}`;
  // The day before the first of the following month is the last of this one.
  const lastDay = new Date(Date.UTC(Math.floor(months / 12), (months % 12) + 1, 1) - DAY).getUTCDate();
  const day = String(Math.min(Number(shown.slice(8, 10)), lastDay)).padStart(2, '0');
  const wanted = Date.parse(`${yearMonth}-${day}T${shown.slice(11)}Z`) - d * DAY;
  const wantedText = new Date(wanted).toISOString().replace('T', ' ').slice(0, 19);
  const readings: number[] = [];
  for (let offset = -14 * HOUR; offset <= 15 * HOUR; offset += HOUR / 4) {
    if (wall(wanted - offset, zone) === wantedText) readings.push(wanted - offset);
  }
  const [reading, another] = readings;
  if (reading === undefined || another !== undefined) return 'ambiguous';
  return reading + (((timeMs % 1000) + 1000) % 1000) - h * HOUR;
}

function sameGroup(a: RetentionInput, b: RetentionInput, fields: readonly GroupField[]): boolean {
  return fields.every((field) => {
    const [left, right] = [a[field], b[field]];
    if (left === undefined || right === undefined || typeof left === 'string' || typeof right === 'string') {
      return left === right;
    }
    return left.every((one) => right.includes(one)) && right.every((one) => left.includes(one));
  });
}

/** Made later, or listed first of one instant. */
function newer(a: RetentionInput, b: RetentionInput): boolean {
  if (a.rank !== b.rank) return a.rank > b.rank;
  return a.timeMs === b.timeMs ? a.id < b.id : a.timeMs > b.timeMs;
}

function modelKeeps(one: RetentionInput, all: readonly RetentionInput[], policy: RetentionPolicy): boolean {
  const zone = policy.timeZone ?? 'UTC';
  if (one.pinned || one.timeMs > NOW) return true;
  if (policy.keepTags?.some((list) => list.every((tag) => one.tags.includes(tag))) === true) return true;

  const fields = policy.groupBy ?? ['host', 'paths'];
  const past = all.filter((other) => other.timeMs <= NOW && sameGroup(one, other, fields));
  const complete = past.filter((other) => !other.partial);
  const isNewestOf = (list: readonly RetentionInput[]) => !list.some((other) => newer(other, one));
  const isOldest = one.partial
    ? complete.length === 0 && !past.some((other) => newer(one, other))
    : !complete.some((other) => newer(one, other));
  if (isNewestOf(past) || (!one.partial && isNewestOf(complete))) return true;

  const asNumber = (limit: KeepCount | undefined) => (limit === 'all' ? Infinity : (limit ?? 0));
  const rank = (list: readonly RetentionInput[]) => list.filter((other) => newer(other, one)).length;
  if (rank(past) < asNumber(policy.keepLast)) return true;
  if (!one.partial && rank(complete) < asNumber(policy.keepLast)) return true;

  const newest = past.reduce((best, other) => (newer(other, best) ? other : best), one);
  const inside = (other: RetentionInput, text: string) => {
    const since = remember(cutoffs, `${newest.timeMs} ${text} ${zone}`, () =>
      cutoff(newest.timeMs, text, zone),
    );
    fc.pre(since !== 'ambiguous');
    return other.timeMs > since;
  };
  if (policy.keepWithin !== undefined && policy.keepWithin !== '0y0m0d0h' && inside(one, policy.keepWithin))
    return true;

  for (const unit of ['Hourly', 'Daily', 'Weekly', 'Monthly', 'Yearly'] as const) {
    const same = (a: RetentionInput, b: RetentionInput) =>
      sameBucket[unit]?.(a.timeMs, b.timeMs, zone) === true;
    const bestOfBucket = (list: readonly RetentionInput[]) =>
      !list.some(
        (other) =>
          same(one, other) &&
          (one.partial ? !other.partial || newer(other, one) : !other.partial && newer(other, one)),
      );

    const limit = asNumber(policy[`keep${unit}`]);
    if (limit > 0) {
      const leaders = past.filter(
        (other) => !past.some((rival) => newer(rival, other) && same(rival, other)),
      );
      const laterBuckets = leaders.filter(
        (leader) => leader.timeMs > one.timeMs && !same(leader, one),
      ).length;
      if (laterBuckets < limit && bestOfBucket(past)) return true;
      if (leaders.length < limit && isOldest) return true;
    }

    const within = policy[`keepWithin${unit}`];
    if (within === undefined || within === '0y0m0d0h' || !inside(one, within)) continue;
    if (isOldest || bestOfBucket(past.filter((other) => inside(other, within)))) return true;
  }
  return false;
}

// ---- The properties -------------------------------------------------------------------------------------------

describe('a retention plan of any policy over any history', () => {
  it('keeps exactly what the model keeps', () => {
    fc.assert(
      fc.property(histories, policies, (history, policy) => {
        const keep = history.filter((one) => modelKeeps(one, history, policy)).map((one) => one.id);
        expect([...planRetention(history, policy, NOW).keep].sort()).toEqual(keep.sort());
      }),
      { numRuns: RUNS },
    );
  });

  it('never removes a pinned or future snapshot, nor the last complete one of a group', () => {
    let removed = 0;
    fc.assert(
      fc.property(histories, policies, (history, policy) => {
        const plan = planRetention(history, policy, NOW);
        removed += plan.remove.length;
        expect([...plan.keep, ...plan.remove].sort()).toEqual(history.map((one) => one.id).sort());
        for (const group of plan.groups) {
          const complete = group.snapshots.filter((one) => !one.snapshot.partial);
          if (complete.length > 0) expect(complete.some((one) => one.keep)).toBe(true);
          const past = group.snapshots.filter((one) => one.snapshot.timeMs <= NOW);
          if (past.length > 0) expect(past[0]?.keep).toBe(true);
          expect(past.find((one) => !one.snapshot.partial)?.keep ?? true).toBe(true);
        }
        for (const { snapshot, keep, reasons } of plan.groups.flatMap((group) => group.snapshots)) {
          if (snapshot.pinned) expect(reasons).toContain('pinned');
          if (snapshot.timeMs > NOW) expect(reasons).toContain('in the future');
          expect(plan.future.includes(snapshot.id)).toBe(snapshot.timeMs > NOW);
          expect(reasons.length > 0).toBe(keep);
        }
      }),
      { numRuns: RUNS },
    );
    expect(removed).toBeGreaterThan(5 * RUNS);
  });

  it('does not depend on the order of the list', () => {
    const pairs = histories.chain((history) =>
      fc.tuple(fc.constant(history), fc.shuffledSubarray([...history], { minLength: history.length })),
    );
    fc.assert(
      fc.property(pairs, policies, ([history, shuffled], policy) => {
        expect(planRetention(shuffled, policy, NOW)).toEqual(planRetention(history, policy, NOW));
      }),
      { numRuns: RUNS },
    );
  });

  it('removes nothing more when it is made again of what was kept', () => {
    fc.assert(
      fc.property(histories, policies, (history, policy) => {
        const { keep } = planRetention(history, policy, NOW);
        const left = history.filter((one) => keep.includes(one.id));
        expect(planRetention(left, policy, NOW).remove).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });

  it('never removes more for having a further rule', () => {
    fc.assert(
      fc.property(histories, policies, policies, (history, policy, more) => {
        const { groupBy, timeZone } = policy;
        const both = { ...more, ...policy, groupBy, timeZone };
        const kept = planRetention(history, both, NOW).keep;
        expect(planRetention(history, policy, NOW).keep.filter((id) => !kept.includes(id))).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });
});
