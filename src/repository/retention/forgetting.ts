/**
 * Decides which snapshots the retention rules of the settings forget, for prune and for its preview. While an alarm
 * about a source waits for an answer, none of its snapshots from before the alarm is forgotten.
 */
import { type ByteString, isWithin, textOfBytes } from '../../base/byte-path.ts';
import { isNarrowed } from '../../base/job-tag.ts';
import type { SourceName } from '../../base/source-names.ts';
import type { StoredBy } from '../../base/stored-by.ts';
import { treePath } from '../../base/tree-path.ts';
import type { SnapshotRecord } from '../../format/records.ts';
import { whereItLies } from '../../system/where-it-lies.ts';
import type { RuleName } from './retention-groups.ts';
import { type KeepCount, planRetention, type RetentionPolicy } from './retention.ts';

export interface RetentionRules {
  readonly keep_last: number | null;
  readonly keep_hourly: number | null;
  readonly keep_daily: number | null;
  readonly keep_weekly: number | null;
  readonly keep_monthly: number | null;
  readonly keep_yearly: number | null;
  /** As `30d`, `1y6m`. */
  readonly keep_within: string | null;
  /** Time zone of the days, weeks and months in the rules; null for the system's. */
  readonly time_zone: string | null;
  /** Sources with an alarm that waits for an answer: their snapshots from before these times (ms) are not forgotten. */
  readonly frozen: readonly { readonly source: string; readonly before: number }[];
}

/** The fields of a snapshot that the decision uses. */
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
  /** Id of the snapshot whose tags or pin were changed to make this one. */
  readonly original?: string | undefined;
  /** As in `RetentionInput`. */
  readonly storedBy: StoredBy;
  readonly storedMs?: number | undefined;
}

export interface ForgettingPlan {
  /** Ids. */
  readonly remove: readonly string[];
  /** The rules that keep each remaining snapshot, by id; empty lists where no rule is stated. */
  readonly kept: ReadonlyMap<string, readonly (RuleName | 'alarm')[]>;
  /** How many stay only because of an alarm. */
  readonly frozen: number;
  /** How many have a time in the future. */
  readonly future: number;
  /** The settings have no retention rules, so everything stays. */
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

/** Ids of snapshots from before an alarm that contain anything of the alarm's source. */
function frozenSnapshots(
  snapshots: readonly ForgettableSnapshot[],
  frozen: RetentionRules['frozen'],
): ReadonlySet<string> {
  const freezes = frozen.map(({ source, before }) => ({
    before,
    paths: new Set([source, whereItLies(source)].map(treePath)),
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

/**
 * Tells whether a snapshot lacks files of its source. Whether files could not be read, or were left out by the exclude
 * rules of a single request. Retention rules do not count such a snapshot as a whole one.
 */
export function lacksFiles({ status, tags }: Pick<SnapshotRecord, 'status' | 'tags'>): boolean {
  return status === 'partial' || isNarrowed(tags);
}
