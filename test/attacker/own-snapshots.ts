/** What others store in the name of a host changes nothing of what is done with its own snapshots. */
import { treePath } from '../../src/base/tree-path.ts';
import { chooseParent } from '../../src/archiver/before/parent.ts';
import {
  type ForgettingPlan,
  lacksFiles,
  planForgetting,
} from '../../src/repository/retention/forgetting.ts';
import type { Snapshot } from '../../src/repository/snapshots.ts';
import { storedBy } from './judged.ts';
import { Broken } from './promises.ts';
import { THIEF_KEY } from './scene.ts';

/** What rules would remove that keep the last ones. */
export function planOfRules(live: readonly Snapshot[], keepLast: number, nowMs: number): ForgettingPlan {
  const rules = {
    keep_last: keepLast,
    keep_hourly: null,
    keep_daily: null,
    keep_weekly: null,
    keep_monthly: null,
    keep_yearly: null,
    keep_within: null,
    time_zone: null,
    frozen: [],
  };
  const snapshots = live.map((one) => ({ ...one, ...one.record, partial: lacksFiles(one.record) }));
  return planForgetting(snapshots, rules, nowMs);
}

/** @throws {Broken} when the next backup of a host would take entries over from what a write-only key stored */
export function requireOwnParent(live: readonly Snapshot[], host: string, root: string): void {
  const wanted = { host, paths: [treePath(root)], plain: false, kind: 'files' } as const;
  const parent = chooseParent(live, wanted);
  if (parent !== undefined && storedBy(parent) !== undefined)
    throw new Broken('only-what-was-agreed', `the next backup of ${host} relies on ${parent.id}`);
}

/**
 * @param live oldest first
 * @param removed by rules with `keep_last`
 * @throws {Broken}
 */
export function requireNewestKept(live: readonly Snapshot[], removed: ReadonlySet<string>): void {
  const newest = new Map<string, string>();
  for (const one of live) {
    const key = storedBy(one);
    if (key !== THIEF_KEY)
      newest.set(`${one.record.host} of ${key === undefined ? 'full keys' : `key ${key}`}`, one.id);
  }
  for (const [whose, id] of newest)
    if (removed.has(id)) throw new Broken('nothing-lost', `the rules remove ${id}, the newest of ${whose}`);
}
