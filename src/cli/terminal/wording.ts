/** Counts, times and snapshots in words. */
import {
  countedMs,
  isDoubtfulStart,
  isFull,
  type StoredBy,
  storedByText,
  storeKey,
} from '../../base/stored-by.ts';
import { formatSpan, localTime } from '../../base/units.ts';
import type { Snapshot } from '../../repository/snapshots.ts';

/** A whole number as `12,345`. Intl is not used: its formatter takes longer to make than many commands take to run. */
export function thousands(amount: number): string {
  return String(amount).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
}

/** `1 file`, `12,345 files`. */
export function count(amount: number, noun: string, plural = `${noun}s`): string {
  return `${thousands(amount)} ${amount === 1 ? noun : plural}`;
}

/** `3h5m ago`; `just now` for less than a minute, and for a time that was noted while the clock was ahead. */
export function ago(ms: number): string {
  return ms < 60_000 ? 'just now' : `${formatSpan(ms)} ago`;
}

/** An id as shown to people: eight digits are enough to tell thousands apart. */
export function shortId(id: string): string {
  return id.slice(0, 8);
}

/** Seconds for JSON, to the millisecond. */
export function seconds(ms: number): number {
  return Math.round(ms) / 1000;
}

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
