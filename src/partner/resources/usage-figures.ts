/** The figures of a period, in the form that usage and account show. */
import { type Static, Type } from '../../base/schema-type.ts';
import type { Usage } from '../store/usage.ts';
import { Bytes, Count } from './values.ts';

const figures = {
  storage_bytes: Bytes,
  uploaded_bytes: Bytes,
  restored_bytes: Bytes,
  backups_completed: Count,
  backups_failed: Count,
  active_customers: Count,
  api_requests: Count,
};

export const UsageFiguresData = Type.Object(figures);
export const UsageItemData = Type.Object({ period: Type.String(), ...figures });

/** The columns of a usage table, in order. */
export const USAGE_COLUMNS: readonly (keyof Static<typeof UsageItemData>)[] = [
  'period',
  'storage_bytes',
  'uploaded_bytes',
  'restored_bytes',
  'backups_completed',
  'backups_failed',
  'active_customers',
  'api_requests',
];

export function shownFigures(usage: Usage): Static<typeof UsageFiguresData> {
  return {
    storage_bytes: usage.storageBytes,
    uploaded_bytes: usage.uploadedBytes,
    restored_bytes: usage.restoredBytes,
    backups_completed: usage.backupsCompleted,
    backups_failed: usage.backupsFailed,
    active_customers: usage.activeCustomers,
    api_requests: usage.apiRequests,
  };
}
