/** Who stored a snapshot and when it was made, in words and for `--json`. */
import {
  countedMs,
  isDoubtfulStart,
  isFull,
  storeKey,
  storedByText,
  type StoredBy,
} from '../../base/stored-by.ts';
import type { Snapshot } from '../../repository/snapshots.ts';
import { localTime } from './wording.ts';

type Dated = Pick<Snapshot, 'storedBy' | 'storedMs'> & {
  readonly record: Pick<Snapshot['record'], 'startedMs'>;
};

function timesOf({ record: { startedMs }, storedMs }: Dated): Parameters<typeof countedMs>[1] {
  return { startedMs, storedMs };
}

/** The time at which a snapshot is taken to have been made, in milliseconds since 1970. */
export function timeOf(snapshot: Dated): number {
  return countedMs(snapshot.storedBy, timesOf(snapshot));
}

/**
 * The start of a snapshot. If a write-only key claims a start that cannot be, the time when the storage got the
 * snapshot, with the claim.
 */
export function timeText(snapshot: Dated): string {
  const start = localTime(snapshot.record.startedMs);
  return isDoubtfulStart(snapshot.storedBy, timesOf(snapshot))
    ? `${localTime(timeOf(snapshot))} (it says ${start})`
    : start;
}

/** Who stored a snapshot, to follow its name; empty for full keys. */
export function ofWhom({ storedBy }: Pick<Snapshot, 'storedBy'>): string {
  return isFull(storedBy) ? '' : `, stored by ${storedByText(storedBy)}`;
}

/** The value of `stored_by` in JSON. */
export function storedByObject(by: StoredBy): object {
  return {
    key: storeKey(by),
    write_only_key: isFull(by) ? null : by.number,
    label: isFull(by) ? null : by.label,
    text: storedByText(by),
  };
}
