/** Sums up reports by day: pure functions whose result does not depend on the order of reports. */
import type { DeviceReport } from './report.ts';

/** A day in UTC, such as `2026-11-22`. */
export type Day = string;

export interface Meter {
  /**
   * The last storage figure of the day; of two with the same time, that of the later report. Null when none was
   * reported.
   */
  readonly storage: { readonly bytes: number; readonly at: number; readonly seq: number } | null;
  readonly uploadedBytes: number;
  readonly restoredBytes: number;
  /** Including backups with warnings. */
  readonly backupsCompleted: number;
  readonly backupsFailed: number;
  readonly restoresCompleted: number;
  readonly restoresFailed: number;
}

export const NOTHING: Meter = {
  storage: null,
  uploadedBytes: 0,
  restoredBytes: 0,
  backupsCompleted: 0,
  backupsFailed: 0,
  restoresCompleted: 0,
  restoresFailed: 0,
};

export function dayOf(ms: number): Day {
  return new Date(ms).toISOString().slice(0, 10);
}

/** Start of the day in milliseconds since 1970; NaN when there is no such day. */
export function startOf(day: Day): number {
  const start = /^\d{4}-\d\d-\d\d$/.test(day) ? Date.parse(`${day}T00:00:00Z`) : Number.NaN;
  return !Number.isNaN(start) && dayOf(start) === day ? start : Number.NaN;
}

/** Between which times a report can be true. */
export interface Known {
  /** When its device was enrolled. */
  readonly enrolledAt: number;
  readonly receivedAt: number;
}

/**
 * The time that a report gives, where its device existed by then; else that of its receipt. The clock of a device may be
 * ahead, or set back by years.
 */
export function timeOf(at: number, { enrolledAt, receivedAt }: Known): number {
  return at < enrolledAt || at > receivedAt ? receivedAt : at;
}

/** What one report adds to each of its days. */
export function metersOf(report: DeviceReport, known: Known): ReadonlyMap<Day, Meter> {
  const days = new Map<Day, Meter>();
  const add = (at: number, meter: Partial<Meter>): void => {
    const day = dayOf(timeOf(at, known));
    days.set(day, addMeters(days.get(day) ?? NOTHING, { ...NOTHING, ...meter }));
  };
  for (const result of report.results) {
    if (result.kind === 'backup') {
      const counts = result.status === 'failed' ? { backupsFailed: 1 } : { backupsCompleted: 1 };
      add(result.finishedAt, { ...counts, uploadedBytes: result.uploadedBytes });
    } else {
      const counts = result.status === 'failed' ? { restoresFailed: 1 } : { restoresCompleted: 1 };
      add(result.finishedAt, { ...counts, restoredBytes: result.restoredBytes });
    }
  }
  if (report.storage !== null) {
    const { bytes, at } = report.storage;
    add(at, { storage: { bytes, at: timeOf(at, known), seq: report.seq } });
  }
  return days;
}

export function addMeters(a: Meter, b: Meter): Meter {
  return {
    storage: laterStorage(a.storage, b.storage),
    uploadedBytes: largestExact(a.uploadedBytes + b.uploadedBytes),
    restoredBytes: largestExact(a.restoredBytes + b.restoredBytes),
    backupsCompleted: a.backupsCompleted + b.backupsCompleted,
    backupsFailed: a.backupsFailed + b.backupsFailed,
    restoresCompleted: a.restoresCompleted + b.restoresCompleted,
    restoresFailed: a.restoresFailed + b.restoresFailed,
  };
}

export function laterStorage(a: Meter['storage'], b: Meter['storage']): Meter['storage'] {
  if (a === null || b === null) return a ?? b;
  return b.at > a.at || (b.at === a.at && b.seq > a.seq) ? b : a;
}

/** Limits a sum to the largest exact integer, 8 PiB. A device that reports such numbers only damages its own figures. */
export function largestExact(sum: number): number {
  return Math.min(sum, Number.MAX_SAFE_INTEGER);
}
