/** Reduces a list with an item for each snapshot to the versions that differ. */
import type { FileVersion } from '../../../api/schemas/file.ts';

export interface DistinctVersion {
  /** The item of the newest snapshot with this version, which is kept longest. */
  readonly item: FileVersion;
  /** `removed`: from then on it was not there. */
  readonly change: 'added' | 'modified' | 'removed';
  /** When it was first and last backed up as it is. */
  readonly firstAt: string;
  readonly lastAt: string;
  readonly snapshots: number;
}

/** The distinct versions. Both lists are newest first. */
export function distinctVersions(items: readonly FileVersion[]): readonly DistinctVersion[] {
  const found: DistinctVersion[] = [];
  for (const item of items.toReversed()) {
    const { change, backed_up_at: at } = item;
    const last = found.at(-1);
    if (change === 'unchanged' && last !== undefined && last.change !== 'removed') {
      found[found.length - 1] = { ...last, item, lastAt: at, snapshots: last.snapshots + 1 };
      continue;
    }
    const began = change === 'unchanged' ? 'modified' : change;
    found.push({ item, change: began, firstAt: at, lastAt: at, snapshots: began === 'removed' ? 0 : 1 });
  }
  return found.toReversed();
}

export interface Pair {
  readonly older: DistinctVersion;
  readonly newer: DistinctVersion;
}

/** The two versions of the given snapshots, else the newest and the one before it; undefined when there is only one. */
export function pairOf(
  versions: readonly DistinctVersion[],
  older: string | undefined,
  newer: string | undefined,
): Pair | undefined {
  const there = versions.filter(({ change }) => change !== 'removed');
  const byId = (id: string | undefined): DistinctVersion | undefined =>
    there.find(({ item }) => item.snapshot_id === id);
  const right = byId(newer) ?? there[0];
  const left = byId(older) ?? there[there.findIndex((one) => one === right) + 1] ?? there.at(-1);
  if (left === undefined || right === undefined || there.length < 2) return undefined;
  return { older: left, newer: right };
}
