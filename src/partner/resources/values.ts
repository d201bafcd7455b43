/** Schemas and formats of values that several resources show. */
import { ApiError } from '../../api/wire/api-error.ts';
import { hasNothingToSee, isOneLine } from '../../base/one-line.ts';
import { Type } from '../../base/schema-type.ts';
import type { BackupOutcome } from '../store/report.ts';

/** Path prefix of the Partner API. */
export const PARTNER_PREFIX = '/api/partner/v1';

export const Time = Type.String({ format: 'date-time' });
export const MaybeTime = Type.Union([Time, Type.Null()]);
export const MaybeText = Type.Union([Type.String(), Type.Null()]);
export const Bytes = Type.Integer({ minimum: 0 });
export const Count = Type.Integer({ minimum: 0 });

export const IdParams = Type.Object({ id: Type.String() }, { additionalProperties: false });
export const DeletedData = Type.Object({ id: Type.String(), deleted: Type.Literal(true) });

export const LastBackupData = Type.Union([
  Type.Object({
    status: Type.Enum(['completed', 'warning', 'failed']),
    finished_at: Time,
    duration_seconds: Count,
    files_backed_up: Count,
    size_bytes: Bytes,
    uploaded_bytes: Bytes,
    error_code: MaybeText,
  }),
  Type.Null(),
]);

export function timestamp(ms: number): string {
  return new Date(ms).toISOString();
}

export function maybeTimestamp(ms: number | null): string | null {
  return ms === null ? null : timestamp(ms);
}

export type ShownBackup = ReturnType<typeof shownBackup>;

export function shownBackup(backup: BackupOutcome | null) {
  if (backup === null) return null;
  return {
    status: backup.status,
    finished_at: timestamp(backup.finishedAt),
    duration_seconds: backup.durationSeconds,
    files_backed_up: backup.filesBackedUp,
    size_bytes: backup.sizeBytes,
    uploaded_bytes: backup.uploadedBytes,
    error_code: backup.errorCode,
  };
}

/**
 * Checks text that people read in lists, or that programs search for: it must have visible characters and a single
 * line.
 * @throws {ApiError} INVALID_REQUEST
 */
export function requireLine(field: string, text: string | null | undefined): void {
  if (text === undefined || text === null) return;
  const message = hasNothingToSee(text)
    ? 'is blank'
    : isOneLine(text)
      ? undefined
      : 'has a line break or another control character';
  if (message === undefined) return;
  throw new ApiError('INVALID_REQUEST', `'${field}' ${message}`, {
    hint: 'Use readable characters, on one line.',
    details: { field, problems: [{ field, message }] },
  });
}
