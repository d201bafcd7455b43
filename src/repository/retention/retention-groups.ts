/** Groups snapshots: retention compares only the snapshots of one group with each other. */
import { storeKey, type StoredBy } from '../../base/stored-by.ts';
import { refused, type CalendarUnit } from './retention-calendar.ts';

/**
 * The rule that keeps a snapshot. `newest`: it is the newest complete one, or the newest of all; `future`: its time is
 * in the future.
 */
export type RuleName = 'last' | CalendarUnit | 'within' | 'tag' | 'pinned' | 'future' | 'newest';

export interface RetentionDecision {
  readonly snapshot: RetentionInput;
  readonly keep: boolean;
  /** Why the snapshot is kept, for the user: `last 3`, `daily 2026-11-20`, `pinned`. Empty when it is removed. */
  readonly reasons: readonly string[];
  /** The rules behind `reasons`, each once, for programs. */
  readonly rules: readonly RuleName[];
}

export type GroupField = 'host' | 'paths' | 'tags' | 'user';

export interface RetentionGroup {
  /** What the snapshots of the group have in common: only the fields they were grouped by. */
  readonly key: {
    readonly host?: string;
    readonly paths?: readonly string[];
    readonly tags?: readonly string[];
    readonly user?: string;
  };
  /** Which keys stored these snapshots: write-only keys have groups of their own, whatever the snapshots are grouped by. */
  readonly storedBy: StoredBy;
  /** Newest first. */
  readonly snapshots: readonly RetentionDecision[];
}

export interface RetentionInput {
  readonly id: string;
  /** The position in the order of runs: higher for later ones, whatever their clocks said. */
  readonly rank: number;
  /** Milliseconds since 1970. */
  readonly timeMs: number;
  readonly host: string;
  readonly paths: readonly string[];
  readonly user?: string | undefined;
  readonly tags: readonly string[];
  readonly pinned: boolean;
  /** Some files could not be read. */
  readonly partial: boolean;
  /** Id of the snapshot whose tags or pin were changed to make this one. */
  readonly original?: string | undefined;
  readonly storedBy: StoredBy;
  /** When the storage received the snapshot; used in addition to `timeMs` for snapshots of write-only keys. */
  readonly storedMs?: number | undefined;
}

/** The snapshots of one group. */
export interface Members {
  readonly key: RetentionGroup['key'];
  readonly storedBy: StoredBy;
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
    const name = JSON.stringify([key, storeKey(snapshot.storedBy)]);
    const group = groups.get(name) ?? { key, storedBy: snapshot.storedBy, members: [] };
    group.members.push(snapshot);
    groups.set(name, group);
  }
  return [...groups.values()];
}

/**
 * Orders by rank, since clocks may be wrong. Snapshots of one rank are ordered by id, so that the plan does not depend
 * on the order of the list. A replacement comes first, since the host that changes a snapshot's tags is about to forget
 * the old one.
 */
export function newestFirst(a: RetentionInput, b: RetentionInput): number {
  return b.rank - a.rank || b.timeMs - a.timeMs || replaces(b) - replaces(a) || (a.id < b.id ? -1 : 1);
}

/** Identifies the snapshot for which one stands: by the id that it had before its tags, pin or keys were changed. */
export function standsFor({ id, original, storedBy }: RetentionInput): string {
  return `${storeKey(storedBy)} ${original ?? id}`;
}

/**
 * The first of all snapshots that stand for the same one. They must also agree in everything that the rules look at,
 * since the holder of a write-only key can claim that any snapshot stands for another.
 */
export function onceEach(snapshots: readonly RetentionInput[]): readonly RetentionInput[] {
  const seen = new Set<string>();
  return snapshots.filter((one) => {
    const name = JSON.stringify([standsFor(one), one.timeMs, one.partial]);
    const isFirst = !seen.has(name);
    seen.add(name);
    return isFirst;
  });
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
