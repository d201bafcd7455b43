/** Which snapshots retention compares with each other: those of a group. */
import { refused } from './retention-calendar.ts';
import type { GroupField, RetentionGroup, RetentionInput } from './retention.ts';

/** The snapshots of one group. */
export interface Members {
  readonly key: RetentionGroup['key'];
  /** Newest first. */
  readonly members: RetentionInput[];
}

export function groupSnapshots(
  snapshots: readonly RetentionInput[],
  groupBy: readonly GroupField[],
): readonly Members[] {
  const fields = new Set(groupBy.map((field) => groupField(field)));
  const groups = new Map<string, Members>();
  for (const snapshot of [...snapshots].sort(newestFirst)) {
    const key = {
      ...(fields.has('host') ? { host: snapshot.host } : {}),
      ...(fields.has('paths') ? { paths: [...new Set(snapshot.paths)].sort() } : {}),
      ...(fields.has('tags') ? { tags: [...new Set(snapshot.tags)].sort() } : {}),
      ...(fields.has('user') && snapshot.user !== undefined ? { user: snapshot.user } : {}),
    };
    const name = JSON.stringify([key, snapshot.sealedBy]);
    const group = groups.get(name) ?? { key, members: [] };
    group.members.push(snapshot);
    groups.set(name, group);
  }
  return [...groups.values()];
}

/**
 * Snapshots of one instant are ordered by id, so that the plan does not depend on the order of the list; but first one
 * that takes another's place: whoever changes its tags is about to forget the other, and both would be gone.
 */
export function newestFirst(a: RetentionInput, b: RetentionInput): number {
  return b.timeMs - a.timeMs || replaces(b) - replaces(a) || (a.id < b.id ? -1 : 1);
}

function replaces({ original }: RetentionInput): number {
  return original === undefined ? 0 : 1;
}

export function groupField(word: string): GroupField {
  switch (word) {
    case 'host':
    case 'paths':
    case 'tags':
    case 'user':
      return word;
    case 'path':
      return 'paths';
    case 'tag':
      return 'tags';
    default:
      throw refused(`Cannot group by "${word}"`, 'Group by any of host, paths, tags and user, or by none.');
  }
}
