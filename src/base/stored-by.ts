/**
 * Which keys stored a snapshot. Full keys are trusted. The holder of a write-only key can claim anything in what they
 * store: host, paths and times. So the snapshots of each such key form a group of their own, and never stand in for
 * those of others.
 */
export type StoredBy = typeof FULL_KEYS | StoredByWriteOnlyKey;

export interface StoredByWriteOnlyKey {
  readonly kind: 'write-only-key';
  readonly number: number;
  /** Eight hex digits that identify the key across repositories; `unknown` in copies that older versions made. */
  readonly mark: string;
  /** The key's label; null where the key was removed or belongs to another repository. */
  readonly label: string | null;
  /** The key belongs to another repository, from which the snapshot was copied. */
  readonly isForeign: boolean;
}

export const FULL_KEYS = { kind: 'full-keys' } as const;

export const UNKNOWN_MARK = 'unknown';

/**
 * Identifies the group in options, queries and JSON: `full`, or the key as `3@1a2b3c4d`. Equal for all snapshots of a
 * group.
 */
export function storeKey(by: StoredBy): string {
  return by.kind === 'full-keys' ? 'full' : `${by.number}@${by.mark}`;
}

export function isFull(by: StoredBy): by is typeof FULL_KEYS {
  return by.kind === 'full-keys';
}

/** The group for people: `full keys`, `write-only key 3 (db1)`. */
export function storedByText(by: StoredBy): string {
  if (isFull(by)) return 'full keys';
  const { number, label, isForeign } = by;
  if (isForeign) return `write-only key ${number} of another repository`;
  return label === null ? `write-only key ${number} (removed)` : `write-only key ${number} (${label})`;
}

/** The shortest choice that selects the group: the number of its key, where that is unambiguous. */
export function storeChoice(by: StoredBy): string {
  return isFull(by) || by.isForeign ? storeKey(by) : String(by.number);
}

/** A choice of groups: `full`, the number of a write-only key, or a key as `storeKey` names it. */
const STORE_CHOICE = /^(?:full|([1-9]\d{0,9})(?:@([0-9a-f]{8}|unknown))?)$/;

export function isStoreChoice(text: string): boolean {
  return STORE_CHOICE.test(text);
}

/** @param choices as accepted by `isStoreChoice`; without any, all groups match */
export function isStoredByAny(by: StoredBy, choices: readonly string[]): boolean {
  if (choices.length === 0) return true;
  const key = storeKey(by);
  return choices.some((one) => one === key || (!isFull(by) && one === String(by.number)));
}

/**
 * How far a claimed start may differ from the time at which the storage received the snapshot: ahead by clock drift,
 * behind by the longest run.
 */
const AHEAD_MS = 300_000;
const LONGEST_RUN_MS = 7 * 86_400_000;

/** The times of a snapshot, in milliseconds since 1970. */
export interface Times {
  readonly startedMs: number;
  /** When the storage received it; undefined where that is unknown. */
  readonly storedMs: number | undefined;
}

/** The time by which a snapshot is sorted and compared with others. The holder of a write-only key cannot choose it. */
export function countedMs(by: StoredBy, { startedMs, storedMs }: Times): number {
  return isFull(by) ? startedMs : (storedMs ?? startedMs);
}

/**
 * Whether the start that was given with a write-only key contradicts the storage's clock; it is then shown as a claim.
 */
export function isDoubtfulStart(by: StoredBy, { startedMs, storedMs }: Times): boolean {
  if (isFull(by) || storedMs === undefined) return false;
  return startedMs > storedMs + AHEAD_MS || startedMs < storedMs - LONGEST_RUN_MS;
}

/** The group from which `latest` is chosen, and newer snapshots of other groups that were left aside. */
export interface LatestChoice<T> {
  readonly group: readonly T[];
  /** The newest snapshot of each other group that has a newer one. */
  readonly newer: readonly T[];
}

/**
 * The snapshots of full keys if there are any, otherwise those of the only write-only key. Undefined where several
 * write-only keys and no full key stored some, as the choice would be ambiguous.
 * @param ones oldest first
 */
export function groupForLatest<T>(
  ones: readonly T[],
  byOf: (one: T) => StoredBy,
): LatestChoice<T> | undefined {
  const groups = Map.groupBy(ones, (one) => storeKey(byOf(one)));
  const group = groups.get('full') ?? (groups.size <= 1 ? ones : undefined);
  if (group === undefined) return undefined;
  const last = group.at(-1);
  const after = last === undefined ? [] : ones.slice(ones.lastIndexOf(last) + 1);
  const newer = new Map(after.map((one) => [storeKey(byOf(one)), one]));
  return { group, newer: [...newer.values()] };
}
