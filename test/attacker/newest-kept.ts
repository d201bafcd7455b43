/** Rules that keep one of each host keep its newest, whatever others stored in its name. */
import type { Snapshot } from '../../src/repository/snapshots.ts';
import { storedBy } from './judged.ts';
import { Broken } from './promises.ts';
import { THIEF_KEY } from './scene.ts';

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
