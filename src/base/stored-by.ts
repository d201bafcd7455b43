/**
 * Who stored a snapshot. Full keys are trusted; whoever has a write-only key says what he likes in what he stores: host,
 * paths, times. So what each such key stored is a group of its own, and stands for nothing that others stored.
 */
export type StoredBy = typeof FULL_KEYS | StoredByWriteOnlyKey;

export interface StoredByWriteOnlyKey {
  readonly kind: 'write-only-key';
  readonly number: number;
  /** Eight hex digits that tell the key from those of other repositories; `unknown` in copies of older versions. */
  readonly mark: string;
  /** What it is called; null where the key was removed, or is one of another repository. */
  readonly label: string | null;
  /** It is one of another repository, from which the snapshot was copied. */
  readonly isForeign: boolean;
}

export const FULL_KEYS = { kind: 'full-keys' } as const;

export const UNKNOWN_MARK = 'unknown';

/** Names who stored it in options, queries and JSON: `full`, or the key as `3@1a2b3c4d`. Equal for what is one group. */
export function storeKey(by: StoredBy): string {
  return by.kind === 'full-keys' ? 'full' : `${by.number}@${by.mark}`;
}

export function isFull(by: StoredBy): by is typeof FULL_KEYS {
  return by.kind === 'full-keys';
}

/** For people: `full keys`, `write-only key 3 (db1)`. */
export function storedByText(by: StoredBy): string {
  if (isFull(by)) return 'full keys';
  const { number, label, isForeign } = by;
  if (isForeign) return `write-only key ${number} of another repository`;
  return label === null ? `write-only key ${number} (removed)` : `write-only key ${number} (${label})`;
}

/** How people choose it: by the number of its key, where that is enough. */
export function storeChoice(by: StoredBy): string {
  return isFull(by) || by.isForeign ? storeKey(by) : String(by.number);
}

/** Which groups are meant: `full`, the number of a write-only key, or a key as `storeKey` names it. */
const STORE_CHOICE = /^(?:full|([1-9]\d{0,9})(?:@([0-9a-f]{8}|unknown))?)$/;

export function isStoreChoice(text: string): boolean {
  return STORE_CHOICE.test(text);
}

/** @param choices as `isStoreChoice` lets them pass; all groups are meant where there are none */
export function isStoredByAny(by: StoredBy, choices: readonly string[]): boolean {
  if (choices.length === 0) return true;
  const key = storeKey(by);
  return choices.some((one) => one === key || (!isFull(by) && one === String(by.number)));
}

/** How far a start may be from the time at which the storage got the snapshot: ahead by the drift of clocks, behind by the longest run. */
const AHEAD_MS = 300_000;
const LONGEST_RUN_MS = 7 * 86_400_000;

/** The times of a snapshot, in milliseconds since 1970. */
export interface Times {
  readonly startedMs: number;
  /** When the storage got it; undefined where that is not known. */
  readonly storedMs: number | undefined;
}

/** The time by which it is listed and compared with others: nobody with a write-only key chooses it. */
export function countedMs(by: StoredBy, { startedMs, storedMs }: Times): number {
  return isFull(by) ? startedMs : (storedMs ?? startedMs);
}

/** Whether the start that a write-only key gave cannot be, by the storage's clock: then it is shown as a claim. */
export function isDoubtfulStart(by: StoredBy, { startedMs, storedMs }: Times): boolean {
  if (isFull(by) || storedMs === undefined) return false;
  return startedMs > storedMs + AHEAD_MS || startedMs < storedMs - LONGEST_RUN_MS;
}

/** What `latest` is chosen from, and what is newer of others and was left aside. */
export interface LatestChoice<T> {
  readonly group: readonly T[];
  /** The newest of each other group that has something newer. */
  readonly newer: readonly T[];
}

/**
 * What full keys stored, where they stored anything; else what the only write-only key did. Undefined where several
 * write-only keys did and no full one: nothing tells whose is meant.
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
