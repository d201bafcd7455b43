/** The reports of devices: outcomes of jobs, and stored bytes. They contain no path, file name, key or chunk id. */
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
  /** One of the public error codes; null unless it failed. */
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
  /** Counts the reports of the device from 1. Identifies repeated reports. */
  readonly seq: number;
  readonly agentVersion: string;
  /** The interval in which a backup should end; null when none is expected. */
  readonly expectedEverySeconds: number | null;
  /** Bytes that the device stores in its destinations; null when not measured. */
  readonly storage: { readonly bytes: number; readonly at: number } | null;
  readonly results: readonly JobOutcome[];
}

export const MOST_RESULTS = 1_000;
/** A pebibyte. A larger figure is a mistake, and sums of many of them would be inexact. */
const MOST_BYTES = 2 ** 50;

/**
 * Checks what the sums rely on, regardless of earlier checks of the report's format.
 * @throws {ApiError} INVALID_REQUEST
 */
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
  // Up to the last day whose name has ten characters.
  return Number.isSafeInteger(value) && value >= 0 && value < Date.UTC(10_000, 0);
}
