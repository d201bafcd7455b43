/** What devices report: outcomes of jobs and stored bytes. No path, file name, key or chunk id is among it. */
import { ApiError } from '../../api/wire/api-error.ts';

export interface BackupOutcome {
  readonly kind: 'backup';
  readonly status: 'completed' | 'warning' | 'failed';
  /** Milliseconds since 1970, by the clock of the device. */
  readonly finishedAt: number;
  readonly durationSeconds: number;
  readonly filesBackedUp: number;
  readonly sizeBytes: number;
  readonly uploadedBytes: number;
  /** From the list of codes; null unless it failed. */
  readonly errorCode: string | null;
}

export interface RestoreOutcome {
  readonly kind: 'restore';
  readonly status: 'completed' | 'failed';
  readonly finishedAt: number;
  readonly durationSeconds: number;
  readonly filesRestored: number;
  readonly restoredBytes: number;
  readonly errorCode: string | null;
}

export type JobOutcome = BackupOutcome | RestoreOutcome;

export interface DeviceReport {
  /** From 1, one more for each report of the device: by it a repeated report is known. */
  readonly seq: number;
  readonly agentVersion: string;
  /** How often a backup should end; null when none is expected. */
  readonly expectedEverySeconds: number | null;
  /** What the device holds in its destinations; null when that was not looked at. */
  readonly storage: { readonly bytes: number; readonly at: number } | null;
  readonly results: readonly JobOutcome[];
}

export const MOST_RESULTS = 1_000;
/** A pebibyte: more is a mistake, and sums of many such would no longer be exact. */
const MOST_BYTES = 2 ** 50;

/** What the sums rely on, whoever checked the form of the report before. @throws {ApiError} INVALID_REQUEST */
export function requireCountable(report: DeviceReport): void {
  const { seq, storage, results } = report;
  const bytes = results.map((result) =>
    result.kind === 'backup' ? result.uploadedBytes : result.restoredBytes,
  );
  const good =
    Number.isSafeInteger(seq) &&
    seq >= 1 &&
    results.length <= MOST_RESULTS &&
    [...bytes, storage?.bytes ?? 0].every(isBytes) &&
    [...results.map(({ finishedAt }) => finishedAt), storage?.at ?? 0].every(isTime);
  if (good) return;
  throw new ApiError('INVALID_REQUEST', 'The report holds numbers that cannot be counted', {
    hint: 'Sizes are whole bytes up to 2^50, times are milliseconds since 1970.',
  });
}

function isBytes(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0 && value <= MOST_BYTES;
}

function isTime(value: number): boolean {
  // The last day that has a name of ten letters.
  return Number.isSafeInteger(value) && value >= 0 && value < Date.UTC(10_000, 0);
}
