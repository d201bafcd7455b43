/**
 * Which snapshots the rules of the settings forget: what a prune does, and what a preview of it shows. Nothing of a source
 * is forgotten from before an alarm about it that waits for an answer.
 */
import { bytesOfText, textOfBytes, type ByteString } from '../../base/byte-path.ts';
import type { StoredBy } from '../../base/stored-by.ts';
import type { SourceName } from '../../base/source-names.ts';
import { whereItLies } from '../../system/where-it-lies.ts';
import { planRetention, type KeepCount, type RetentionPolicy } from './retention.ts';
import type { RuleName } from './retention-groups.ts';

export interface RetentionRules {
  readonly keep_last: number | null;
  readonly keep_hourly: number | null;
  readonly keep_daily: number | null;
  readonly keep_weekly: number | null;
  readonly keep_monthly: number | null;
  readonly keep_yearly: number | null;
  /** As `30d`, `1y6m`. */
  readonly keep_within: string | null;
  /** Whose days, weeks and months the rules mean; null for that of the system. */
  readonly time_zone: string | null;
  /** Alarms wait for an answer: snapshots of these sources from before these times (ms) are not forgotten. */
  readonly frozen: readonly { readonly source: string; readonly before: number }[];
}

/** What is looked at of a snapshot. */
export interface ForgettableSnapshot {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly startedMs: number;
  readonly host: string;
  readonly paths: readonly ByteString[];
  readonly named?: readonly SourceName[] | undefined;
  readonly user?: string | undefined;
  readonly tags: readonly string[];
  readonly pinned: boolean;
  readonly partial: boolean;
  /** Whose tags or pin were changed to make this one. */
  readonly original?: string | undefined;
  /** As retention takes them. */
  readonly storedBy: StoredBy;
  readonly storedMs?: number | undefined;
}

export interface ForgettingPlan {
  /** Ids. */
  readonly remove: readonly string[];
  /** By id, of those that stay: what keeps each. Nothing does where no rule is stated. */
  readonly kept: ReadonlyMap<string, readonly (RuleName | 'alarm')[]>;
  /** How many stay for an alarm alone. */
  readonly frozen: number;
  /** How many bear a time in the future. */
  readonly future: number;
  /** The settings say nothing about what to keep, so that everything stays. */
  readonly isUnruled: boolean;
}

/**
 * @param snapshots in the order in which they were made, oldest first
 * @throws {RequestError} when the rules cannot be understood
 */
export function planForgetting(
  snapshots: readonly ForgettableSnapshot[],
  rules: RetentionRules,
  nowMs: number,
): ForgettingPlan {
  const policy = policyOf(rules);
  if (policy === undefined) {
    const kept = new Map(snapshots.map(({ id }) => [id, []]));
    return { remove: [], kept, frozen: 0, future: 0, isUnruled: true };
  }
  const inputs = snapshots.map((one, rank) => ({
    ...one,
    rank,
    timeMs: one.startedMs,
    paths: one.paths.map(textOfBytes),
  }));
  const plan = planRetention(inputs, policy, nowMs);
  const frozen = frozenSnapshots(snapshots, rules.frozen);
  const decisions = plan.groups.flatMap((group) => group.snapshots);
  const stays = decisions.filter(({ keep, snapshot }) => keep || frozen.has(snapshot.id));
  return {
    remove: plan.remove.filter((id) => !frozen.has(id)),
    kept: new Map(
      stays.map(({ snapshot, rules: names }) => [
        snapshot.id,
        frozen.has(snapshot.id) ? [...names, 'alarm' as const] : names,
      ]),
    ),
    frozen: stays.filter(({ keep }) => !keep).length,
    future: plan.future.length,
    isUnruled: false,
  };
}

/** Those with anything in them of a source that an alarm is about, from before the alarm. */
function frozenSnapshots(
  snapshots: readonly ForgettableSnapshot[],
  frozen: RetentionRules['frozen'],
): ReadonlySet<string> {
  const freezes = frozen.map(({ source, before }) => ({
    before,
    paths: new Set([source, whereItLies(source)].map(bytesOfText)),
  }));
  const isFrozen = ({ startedMs, paths, named = [] }: ForgettableSnapshot): boolean =>
    freezes.some(
      (freeze) =>
        startedMs < freeze.before &&
        [...paths, ...named.map(({ name }) => name)].some((path) =>
          [...freeze.paths].some((source) => isWithin(path, source) || isWithin(source, path)),
        ),
    );
  return new Set(snapshots.filter(isFrozen).map(({ id }) => id));
}

function isWithin(path: ByteString, above: ByteString): boolean {
  return path === above || above === '/' || path.startsWith(`${above}/`);
}

/** Undefined when no rule is stated. */
function policyOf(rules: RetentionRules): RetentionPolicy | undefined {
  const counts = {
    keepLast: rules.keep_last,
    keepHourly: rules.keep_hourly,
    keepDaily: rules.keep_daily,
    keepWeekly: rules.keep_weekly,
    keepMonthly: rules.keep_monthly,
    keepYearly: rules.keep_yearly,
  };
  const stated: Record<string, KeepCount> = {};
  for (const [field, count] of Object.entries(counts)) if (count !== null && count > 0) stated[field] = count;
  if (rules.keep_within === null && Object.keys(stated).length === 0) return undefined;
  return {
    ...stated,
    ...(rules.keep_within === null ? {} : { keepWithin: rules.keep_within }),
    ...(rules.time_zone === null ? {} : { timeZone: rules.time_zone }),
  };
}
