/**
 * Decides which snapshots a retention policy keeps. Pure: a list and a policy in, a plan out. Nothing is removed here,
 * and the plan is plain data that can be printed first.
 *
 * Rules are independent and a snapshot stays when any rule wants it, so a further rule never removes more. The rank of
 * each snapshot tells which is newer, since clocks may be wrong; its own time only tells in which hour or day it falls
 * and how long ago it was. In each calendar bucket (an hour, a day, …) the newest complete snapshot is chosen, or the
 * newest partial one where there is no complete one. While a counting rule has places left, the oldest snapshot stays
 * too, so that the history grows to its full length. Whatever the policy says, these stay:
 * - pinned snapshots;
 * - snapshots from the future, which use up no places: their clock was wrong, or ours is;
 * - in each group the newest complete snapshot, and the newest one if that is partial;
 * - all snapshots that stand for the same one, when any of them stays. There are two while tags or keys are changed,
 *   and the host that does this is about to forget one; no other host knows which. For the rules they count once.
 *
 * The holder of a write-only key can store any number of snapshots with false claims. So the snapshots of each such key
 * are groups of their own. One stays when a rule wants it by its own time, or by the time at which the storage received
 * it, which nobody can make earlier (a copy of the repository makes it later). A policy that only counts the last few,
 * which many false snapshots would push out, removes none of them.
 */
import { BugError } from '../../base/errors.ts';
import { isFull } from '../../base/stored-by.ts';
import {
  groupField,
  groupSnapshots,
  newestFirst,
  onceEach,
  standsFor,
  type GroupField,
  type RetentionGroup,
  type RetentionInput,
  type RetentionDecision,
  type RuleName,
} from './retention-groups.ts';
import {
  openCalendar,
  parseKeepDuration,
  refused,
  LATEST_TIME_MS,
  type Calendar,
  type CalendarUnit,
  type KeepDuration,
} from './retention-calendar.ts';

/** How many to keep; 0 means the same as undefined. */
export type KeepCount = number | 'all';
export interface RetentionPolicy {
  readonly keepLast?: KeepCount | undefined;
  readonly keepHourly?: KeepCount | undefined;
  readonly keepDaily?: KeepCount | undefined;
  /** ISO weeks, which begin on Monday. */
  readonly keepWeekly?: KeepCount | undefined;
  readonly keepMonthly?: KeepCount | undefined;
  readonly keepYearly?: KeepCount | undefined;
  /** A duration such as `1y2m3d4h`, counted back from the newest snapshot of the group that is not in the future. */
  readonly keepWithin?: string | undefined;
  readonly keepWithinHourly?: string | undefined;
  readonly keepWithinDaily?: string | undefined;
  readonly keepWithinWeekly?: string | undefined;
  readonly keepWithinMonthly?: string | undefined;
  readonly keepWithinYearly?: string | undefined;
  /** A snapshot stays when it has all tags of any of these lists. */
  readonly keepTags?: readonly (readonly string[])[] | undefined;
  /** Each group is judged on its own. Default host and paths; an empty list makes one group of everything. */
  readonly groupBy?: readonly GroupField[] | undefined;
  /** IANA name of the time zone whose calendar is used. Default the system's. */
  readonly timeZone?: string | undefined;
}

export interface RetentionPlan {
  readonly timeZone: string;
  /** The group with the newest snapshot first. */
  readonly groups: readonly RetentionGroup[];
  /** Ids, in the order of the groups. */
  readonly keep: readonly string[];
  readonly remove: readonly string[];
  /** Ids of the kept snapshots with a time after `now`, to be mentioned to the user. */
  readonly future: readonly string[];
}

/**
 * Applies `policy` to every group of `snapshots`, as of `now` (milliseconds since 1970).
 *
 * Throws RequestError when the policy keeps nothing by its own words or cannot be understood.
 */
export function planRetention(
  snapshots: readonly RetentionInput[],
  policy: RetentionPolicy,
  now: number,
): RetentionPlan {
  const calendar = openCalendar(policy.timeZone);
  const rules = readRules(policy);
  refuseUnusable(snapshots, now);
  const grouped = groupSnapshots(snapshots, policy.groupBy ?? ['host', 'paths']).map((group) => ({
    ...group,
    reasons: reasonsByBothTimes(group.members, rules, calendar, now),
  }));
  const together = reasonsBySnapshot(grouped.flatMap(({ reasons }) => [...reasons]));
  const groups = grouped.map(({ key, storedBy, members, reasons }) => {
    return {
      key,
      storedBy,
      snapshots: members.map((snapshot) => {
        const why = reasons.get(snapshot) ?? together.get(standsFor(snapshot)) ?? [];
        return {
          snapshot,
          keep: why.length > 0,
          reasons: why.map(({ text }) => text),
          rules: [...new Set(why.map(({ rule }) => rule))],
        };
      }),
    };
  });
  const decisions = groups.flatMap((group) => group.snapshots);
  const idsWhere = (test: (decision: RetentionDecision) => boolean) =>
    decisions.filter(test).map((decision) => decision.snapshot.id);
  return {
    timeZone: calendar.timeZone,
    groups,
    keep: idsWhere((decision) => decision.keep),
    remove: idsWhere((decision) => !decision.keep),
    future: idsWhere((decision) => decision.snapshot.timeMs > now),
  };
}

/** `host,paths` as on the command line; `none` or nothing makes one group. Throws RequestError. */
export function parseGroupBy(text: string): readonly GroupField[] {
  const words = text.split(',').map((word) => word.trim());
  if (text === '' || (words.length === 1 && words[0] === 'none')) return [];
  return [...new Set(words.map((word) => groupField(word)))];
}

// ---- The policy -----------------------------------------------------------------------------------------------

interface Rules {
  /** 0 when not stated, Infinity for all. */
  readonly last: number;
  readonly counted: readonly { readonly unit: CalendarUnit; readonly limit: number }[];
  readonly within: readonly {
    readonly unit: CalendarUnit | undefined;
    readonly duration: KeepDuration;
    readonly text: string;
  }[];
  readonly tags: readonly (readonly string[])[];
}

function readRules(policy: RetentionPolicy): Rules {
  const counts = [
    ['hourly', 'keepHourly'],
    ['daily', 'keepDaily'],
    ['weekly', 'keepWeekly'],
    ['monthly', 'keepMonthly'],
    ['yearly', 'keepYearly'],
  ] as const;
  const durations = [
    [undefined, 'keepWithin'],
    ['hourly', 'keepWithinHourly'],
    ['daily', 'keepWithinDaily'],
    ['weekly', 'keepWithinWeekly'],
    ['monthly', 'keepWithinMonthly'],
    ['yearly', 'keepWithinYearly'],
  ] as const;
  const rules: Rules = {
    last: readCount('keepLast', policy.keepLast),
    counted: counts
      .map(([unit, field]) => ({ unit, limit: readCount(field, policy[field]) }))
      .filter((rule) => rule.limit > 0),
    within: durations.flatMap(([unit, field]) => {
      const text = policy[field];
      if (text === undefined) return [];
      const duration = parseKeepDuration(text);
      return Object.values(duration).some((amount) => amount > 0) ? [{ unit, duration, text }] : [];
    }),
    tags: policy.keepTags ?? [],
  };
  if (rules.tags.some((list) => list.length === 0)) {
    throw refused('keepTags has a list without tags', 'Name at least one tag in each list.');
  }
  if (rules.last === 0 && rules.counted.length + rules.within.length + rules.tags.length === 0) {
    throw refused(
      'The retention policy keeps nothing',
      'State what to keep, for example --keep-daily 7 --keep-weekly 5 --keep-monthly 12.',
    );
  }
  return rules;
}

function readCount(field: string, count: KeepCount | undefined): number {
  if (count === undefined) return 0;
  if (count === 'all') return Infinity;
  if (Number.isSafeInteger(count) && count >= 0) return count;
  throw refused(`${field} is ${count}`, `Give a whole number of at least 0, or "all".`);
}

/** An id listed twice could be both kept and removed, and an invalid time falls into no bucket. */
function refuseUnusable(snapshots: readonly RetentionInput[], now: number): void {
  if (Number.isNaN(now)) throw new BugError('The present time is not a number', { op: 'plan retention' });
  const seen = new Set<string>();
  for (const { id, timeMs } of snapshots) {
    if (seen.has(id)) throw new BugError(`Snapshot ${id} is listed twice`, { op: 'plan retention' });
    if (!(Math.abs(timeMs) <= LATEST_TIME_MS)) {
      throw new BugError(`Snapshot ${id} has no valid time`, { op: 'plan retention' });
    }
    seen.add(id);
  }
}

// ---- The rules applied to one group ---------------------------------------------------------------------------

interface Reason {
  readonly rule: RuleName;
  /** For people. */
  readonly text: string;
}

/** Reasons by each snapshot's own time and, for write-only keys, also by the time at which it was stored. */
function reasonsByBothTimes(
  members: readonly RetentionInput[],
  rules: Rules,
  calendar: Calendar,
  now: number,
): ReadonlyMap<RetentionInput, readonly Reason[]> {
  const reasons = reasonsToKeep(members, rules, calendar, now);
  if (members.every(({ storedBy }) => isFull(storedBy))) return reasons;
  const stored = members
    .map((one) => ({ ...one, timeMs: one.storedMs ?? one.timeMs }))
    .sort((a, b) => b.timeMs - a.timeMs || newestFirst(a, b));
  const byStored = reasonsToKeep(stored, rules, calendar, now);
  const originals = new Map(members.map((one) => [one.id, one]));
  const both = new Map(reasons);
  for (const [{ id }, why] of byStored) {
    const original = originals.get(id);
    if (original === undefined) continue;
    const known = both.get(original) ?? [];
    const texts = new Set(known.map(({ text }) => text));
    both.set(original, [...known, ...why.filter(({ text }) => !texts.has(text))]);
  }
  return both;
}

function reasonsToKeep(
  group: readonly RetentionInput[],
  rules: Rules,
  calendar: Calendar,
  now: number,
): ReadonlyMap<RetentionInput, readonly Reason[]> {
  const reasons = new Map<RetentionInput, Reason[]>();
  const keep = (snapshot: RetentionInput | undefined, rule: RuleName, text: string) => {
    if (snapshot === undefined) return;
    const known = reasons.get(snapshot);
    if (known === undefined) reasons.set(snapshot, [{ rule, text }]);
    else known.push({ rule, text });
  };

  const onlyLast = rules.counted.length + rules.within.length + rules.tags.length === 0;
  for (const snapshot of group) {
    if (onlyLast && !isFull(snapshot.storedBy)) keep(snapshot, 'last', 'stored with a write-only key');
    if (snapshot.pinned) keep(snapshot, 'pinned', 'pinned');
    if (snapshot.timeMs > now) keep(snapshot, 'future', 'in the future');
    for (const list of rules.tags) {
      if (list.every((tag) => snapshot.tags.includes(tag))) keep(snapshot, 'tag', `tag ${list.join(',')}`);
    }
  }

  const past = onceEach(group.filter((snapshot) => snapshot.timeMs <= now));
  const complete = past.filter((snapshot) => !snapshot.partial);
  const newest = past[0];
  if (newest === undefined) return reasons;
  const oldest = complete.at(-1) ?? past.at(-1);

  // Partial snapshots must not use up the places of complete ones, but the newest data must not be lost for being
  // partial either.
  const lastAny = new Set(past.slice(0, rules.last));
  for (const snapshot of lastAny) keep(snapshot, 'last', `last ${countText(rules.last)}`);
  for (const snapshot of complete.slice(0, rules.last)) {
    if (!lastAny.has(snapshot)) keep(snapshot, 'last', `last ${countText(rules.last)} complete`);
  }

  for (const { unit, limit } of rules.counted) {
    const buckets = fillBuckets(past, unit, calendar);
    for (const [label, chosen] of [...buckets].slice(0, limit)) keep(chosen, unit, `${unit} ${label}`);
    if (buckets.size < limit) keepOldest(unit, buckets, '');
  }

  for (const { unit, duration, text } of rules.within) {
    const since = calendar.before(newest.timeMs, duration);
    const inside = past.filter((snapshot) => snapshot.timeMs > since);
    if (unit === undefined) {
      for (const snapshot of inside) keep(snapshot, 'within', `within ${text}`);
    } else {
      const buckets = fillBuckets(inside, unit, calendar);
      for (const [label, chosen] of buckets) keep(chosen, 'within', `${unit} ${label} within ${text}`);
      if (oldest !== undefined && oldest.timeMs > since) keepOldest(unit, buckets, ` within ${text}`);
    }
  }

  if (complete[0] !== undefined && !reasons.has(complete[0]))
    keep(complete[0], 'newest', 'last complete snapshot');
  if (!reasons.has(newest)) keep(newest, 'newest', 'newest snapshot');
  return reasons;

  function keepOldest(
    unit: CalendarUnit,
    buckets: ReadonlyMap<string, RetentionInput>,
    within: string,
  ): void {
    if (oldest === undefined) return;
    const label = calendar.bucket(oldest.timeMs, unit);
    if (buckets.get(label) !== oldest)
      keep(oldest, within === '' ? unit : 'within', `oldest ${unit} ${label}${within}`);
  }
}

/** The reasons that keep any of the snapshots which stand for the same one, by `standsFor`. */
function reasonsBySnapshot(
  kept: readonly (readonly [RetentionInput, readonly Reason[]])[],
): ReadonlyMap<string, readonly Reason[]> {
  return new Map(kept.map(([snapshot, reasons]) => [standsFor(snapshot), reasons]));
}

/** The newest snapshot of every bucket, complete ones preferred; the latest bucket first. */
function fillBuckets(
  snapshots: readonly RetentionInput[],
  unit: CalendarUnit,
  calendar: Calendar,
): ReadonlyMap<string, RetentionInput> {
  const buckets = new Map<string, { chosen: RetentionInput; readonly timeMs: number }>();
  for (const snapshot of snapshots) {
    const label = calendar.bucket(snapshot.timeMs, unit);
    const bucket = buckets.get(label);
    if (bucket === undefined) buckets.set(label, { chosen: snapshot, timeMs: snapshot.timeMs });
    else if (bucket.chosen.partial && !snapshot.partial) bucket.chosen = snapshot;
  }
  const latestFirst = [...buckets].sort(([, a], [, b]) => b.timeMs - a.timeMs);
  return new Map(latestFirst.map(([label, { chosen }]) => [label, chosen]));
}

function countText(count: number): string {
  return count === Infinity ? 'all' : String(count);
}
