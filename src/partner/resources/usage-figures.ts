/** The figures of a period, in the form that usage and account show, and as a table for spreadsheets. */
import { type Static, Type } from '../../base/schema-type.ts';
import type { Usage } from '../store/usage.ts';
import type { CustomerUsage } from '../store/usage-by-customer.ts';
import { Bytes, Count, MaybeText, MaybeTime, maybeTimestamp } from './values.ts';

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

export const CustomerUsageData = Type.Object({
  customer_id: Type.String(),
  name: Type.String(),
  external_id: MaybeText,
  plan_id: Type.String(),
  deleted_at: MaybeTime,
  storage_bytes: Bytes,
  uploaded_bytes: Bytes,
  restored_bytes: Bytes,
  backups_completed: Count,
  backups_failed: Count,
});

const CUSTOMER_COLUMNS: readonly (keyof Static<typeof CustomerUsageData>)[] = [
  'customer_id',
  'name',
  'external_id',
  'plan_id',
  'deleted_at',
  'storage_bytes',
  'uploaded_bytes',
  'restored_bytes',
  'backups_completed',
  'backups_failed',
];

export function shownCustomerUsage(usage: CustomerUsage): Static<typeof CustomerUsageData> {
  return {
    customer_id: usage.id,
    name: usage.name,
    external_id: usage.externalId,
    plan_id: usage.planId,
    deleted_at: maybeTimestamp(usage.deletedAt),
    storage_bytes: usage.storageBytes,
    uploaded_bytes: usage.uploadedBytes,
    restored_bytes: usage.restoredBytes,
    backups_completed: usage.backupsCompleted,
    backups_failed: usage.backupsFailed,
  };
}

/** One line for each customer. */
export function customersCsv(customers: readonly CustomerUsage[]): string {
  return csvOf(
    CUSTOMER_COLUMNS,
    customers.map((one) => {
      const shown = shownCustomerUsage(one);
      return CUSTOMER_COLUMNS.map((name) => shown[name] ?? '');
    }),
  );
}

export type Cell = string | number;

export const CSV_TYPE = 'text/csv; charset=utf-8; header=present';

/**
 * Renders tables as CSV (RFC 4180) for spreadsheets. Spreadsheets take text that begins like a formula for one, which
 * must not happen. Some ignore invisible characters before it, take full-width signs for plain ones, or, depending on
 * the country, separate cells by semicolons or tabs, so that a formula begins behind one. Such text gets an apostrophe,
 * which makes it plain text. Quotation marks keep semicolons and tabs within their cell in programs that respect them.
 */
export function csvOf(names: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return [names, ...rows].map((row) => `${row.map(cellText).join(',')}\r\n`).join('');
}

function cellText(cell: Cell): string {
  if (typeof cell === 'number') return String(cell);
  const safe = cell.replace(FORMULA, "'").replaceAll(LATER_FORMULA, "'");
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const SIGNS = String.raw`=+\-@\u2212\uff0b\uff0d\uff1d\uff20\ufe63\ufe62\ufe66\ufe6b`;
const UNSEEN = String.raw`[\s\p{C}\p{Z}'"]`;
const FORMULA = new RegExp(String.raw`^(?=${UNSEEN}*[${SIGNS}]|[\t\r\n])`, 'u');
const CELL_END = String.raw`[;|\t\r\n]`;
const LATER_FORMULA = new RegExp(`(?<=${CELL_END})(?=(?:(?!${CELL_END})${UNSEEN})*[${SIGNS}])`, 'gu');
const NEEDS_QUOTES = /[",;|\t\r\n]/;
