/**
 * Stores the reports of devices. Each counts once, identified by its number, however often and in whatever order it
 * arrives.
 */
import { selectCustomers } from './customer-view.ts';
import { forUpdate, type StoreDatabase, type StoreTransaction } from './database.ts';
import { appendEvents, type NewEvent } from './events.ts';
import { readMeters, replaceMeters, writeMeters } from './meter-rows.ts';
import {
  addMeters,
  type Day,
  dayOf,
  type Known,
  laterStorage,
  type Meter,
  metersOf,
  NOTHING,
  timeOf,
} from './metering.ts';
import { type BackupOutcome, type DeviceReport, type JobOutcome, requireCountable } from './report.ts';
import type { DeviceTable } from './schema.ts';

export interface ReportStore {
  /**
   * Stores and counts a report, with its events, in one transaction. A report that only says that the device is alive
   * is not stored, since it has nothing to count twice. `duplicate`: the report was counted before. `taken`: a
   * different report was counted under its number, such as when the state of the device was set back. `unknown`: the
   * device does not exist or was removed. Reports change nothing that a partner has set, so there is no audit record.
   * @throws {ApiError} INVALID_REQUEST when its numbers cannot be counted
   */
  accept(
    partnerId: string,
    deviceId: string,
    report: DeviceReport,
  ): Promise<'accepted' | 'duplicate' | 'taken' | 'unknown'>;
  /**
   * Recomputes the meter rows of a device from its reports, for as many days as reports are kept. False when there is
   * no such device.
   */
  recompute(partnerId: string, deviceId: string): Promise<boolean>;
  /** Removes expired reports; their meter rows stay. Returns their number. */
  prune(): Promise<number>;
}

/** How long reports are kept, and meter rows can be recomputed. */
const REPORTS_KEPT_MS = 400 * 86_400_000;
/** Reports that one transaction removes, so that nobody waits long for it. */
const PRUNED_AT_ONCE = 2_000;

export function createReportStore(db: StoreDatabase): ReportStore {
  return {
    async accept(partnerId, deviceId, report) {
      requireCountable(report);
      // A heartbeat is repeated soon, so it is not worth waiting for the disk.
      const write = isHeartbeat(report) ? db.relaxed : db.write;
      return await write(async (trx) => {
        const device = await lockDevice(db, trx, partnerId, deviceId);
        if (device?.removed_at !== null) return 'unknown';
        const receivedAt = db.now();
        if (!(await keep(trx, device, report, receivedAt))) {
          await updateDevice(trx, device, { last_seen_at: receivedAt });
          return (await isKept(trx, device, report)) ? 'duplicate' : 'taken';
        }
        const meters = metersOf(report, { enrolledAt: device.enrolled_at, receivedAt });
        await addToRows(trx, device, meters);
        const after = afterReport(device, report, receivedAt);
        await updateDevice(trx, device, after);
        const events = report.results.map((result) => eventOf(device, result));
        const thresholds =
          after.storage_used_bytes === undefined
            ? []
            : await thresholdEvents(trx, partnerId, device.customer_id);
        await appendEvents(db, trx, partnerId, [...events, ...thresholds]);
        return 'accepted';
      });
    },

    recompute: async (partnerId, deviceId) =>
      await db.write(async (trx) => {
        const device = await lockDevice(db, trx, partnerId, deviceId);
        if (device === undefined) return false;
        const reports = await trx
          .selectFrom('reports')
          .select(['body', 'received_at'])
          .where('partner_id', '=', partnerId)
          .where('device_id', '=', deviceId)
          .execute();
        const days = new Map<Day, Meter>();
        for (const { body, received_at: receivedAt } of reports) {
          const known = { enrolledAt: device.enrolled_at, receivedAt };
          for (const [day, meter] of metersOf(JSON.parse(body) as DeviceReport, known))
            days.set(day, addMeters(days.get(day) ?? NOTHING, meter));
        }
        // Older reports may have been removed. They count towards that day or earlier ones, whose rows stay.
        await replaceMeters(trx, device, days, dayOf(db.now() - REPORTS_KEPT_MS));
        return true;
      }),

    prune: async () => {
      const untilMs = db.now() - REPORTS_KEPT_MS;
      let pruned = 0;
      for (;;) {
        const count = await pruneSome(db, untilMs);
        if (count === 0) return pruned;
        pruned += count;
      }
    },
  };
}

/** Whether the report only says that the device is alive. */
function isHeartbeat({ results, storage }: DeviceReport): boolean {
  return results.length === 0 && storage === null;
}

/** Stores the report; false when there is one with that number. */
async function keep(
  trx: StoreTransaction,
  { partner_id, id }: DeviceTable,
  report: DeviceReport,
  receivedAt: number,
): Promise<boolean> {
  if (isHeartbeat(report)) return true;
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('reports')
    .values({
      device_id: id,
      seq: report.seq,
      partner_id,
      received_at: receivedAt,
      body: JSON.stringify(report),
    })
    .onConflict((conflict) => conflict.columns(['device_id', 'seq']).doNothing())
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows !== 0n;
}

/** Whether the stored report with that number is identical. */
async function isKept(
  trx: StoreTransaction,
  { partner_id, id }: DeviceTable,
  report: DeviceReport,
): Promise<boolean> {
  const kept = await trx
    .selectFrom('reports')
    .select('body')
    .where('partner_id', '=', partner_id)
    .where('device_id', '=', id)
    .where('seq', '=', report.seq)
    .executeTakeFirst();
  return kept?.body === JSON.stringify(report);
}

/** Locks the device, so that its reports are counted one after the other. */
async function lockDevice(
  db: StoreDatabase,
  trx: StoreTransaction,
  partnerId: string,
  deviceId: string,
): Promise<DeviceTable | undefined> {
  return await trx
    .selectFrom('devices')
    .selectAll()
    .where('partner_id', '=', partnerId)
    .where('id', '=', deviceId)
    .$call(forUpdate(db))
    .executeTakeFirst();
}

async function pruneSome(db: StoreDatabase, untilMs: number): Promise<number> {
  return await db.write(async (trx) => {
    const last = await trx
      .selectFrom('reports')
      .select('received_at')
      .orderBy('received_at')
      .limit(1)
      .offset(PRUNED_AT_ONCE - 1)
      .executeTakeFirst();
    const { numDeletedRows } = await trx
      .deleteFrom('reports')
      .where('received_at', '<', untilMs)
      .where('received_at', '<=', last?.received_at ?? untilMs)
      .executeTakeFirst();
    return Number(numDeletedRows);
  });
}

async function addToRows(
  trx: StoreTransaction,
  device: DeviceTable,
  meters: ReadonlyMap<Day, Meter>,
): Promise<void> {
  if (meters.size === 0) return;
  const rows = await readMeters(trx, device, [...meters.keys()]);
  const sums = [...meters].map(([day, meter]) => [day, addMeters(rows.get(day) ?? NOTHING, meter)] as const);
  await writeMeters(trx, device, new Map(sums));
}

async function updateDevice(
  trx: StoreTransaction,
  { partner_id, id }: DeviceTable,
  values: Partial<DeviceTable>,
): Promise<void> {
  await trx
    .updateTable('devices')
    .set(values)
    .where('partner_id', '=', partner_id)
    .where('id', '=', id)
    .execute();
}

/** The new values of the device. A late report does not overwrite what a later one reported. */
function afterReport(device: DeviceTable, report: DeviceReport, receivedAt: number): Partial<DeviceTable> {
  const isNewest = report.seq > device.report_seq;
  const times = { enrolledAt: device.enrolled_at, receivedAt };
  const backup = lastBackup(report, times);
  const isLast = backup !== undefined && backup.finishedAt >= (device.last_backup_at ?? 0);
  const known = { bytes: device.storage_used_bytes, at: device.storage_at, seq: device.storage_seq };
  const told = report.storage;
  const storage =
    told === null
      ? known
      : laterStorage(known, { bytes: told.bytes, at: timeOf(told.at, times), seq: report.seq });
  return {
    last_seen_at: receivedAt,
    ...(isNewest
      ? {
          report_seq: report.seq,
          agent_version: report.agentVersion,
          expected_every_seconds: report.expectedEverySeconds,
          expected_since: device.expected_every_seconds === null ? receivedAt : device.expected_since,
        }
      : {}),
    ...(isLast ? { last_backup: JSON.stringify(backup), last_backup_at: backup.finishedAt } : {}),
    ...(isLast && backup.status !== 'failed' ? { missed_since: null } : {}),
    ...(storage === null || storage === known
      ? {}
      : { storage_used_bytes: storage.bytes, storage_at: storage.at, storage_seq: storage.seq }),
  };
}

function lastBackup(report: DeviceReport, known: Known): BackupOutcome | undefined {
  const backups = report.results
    .filter((result) => result.kind === 'backup')
    .map((backup) => ({ ...backup, finishedAt: timeOf(backup.finishedAt, known) }));
  return backups.reduce<BackupOutcome | undefined>(
    (last, backup) => (last === undefined || backup.finishedAt >= last.finishedAt ? backup : last),
    undefined,
  );
}

function eventOf({ id, customer_id: customerId }: DeviceTable, result: JobOutcome): NewEvent {
  const base = {
    customer_id: customerId,
    device_id: id,
    finished_at: new Date(result.finishedAt).toISOString(),
    duration_seconds: result.durationSeconds,
  };
  const error = result.errorCode === null ? {} : { error_code: result.errorCode };
  if (result.kind === 'backup') {
    const { filesBackedUp, sizeBytes, uploadedBytes } = result;
    const sizes = { files_backed_up: filesBackedUp, size_bytes: sizeBytes, uploaded_bytes: uploadedBytes };
    return {
      kind: `backup.${result.status}`,
      customerId,
      deviceId: id,
      data: { ...base, ...sizes, ...error },
    };
  }
  const sizes = { files_restored: result.filesRestored, restored_bytes: result.restoredBytes };
  return {
    kind: `restore.${result.status}`,
    customerId,
    deviceId: id,
    data: { ...base, ...sizes, ...error },
  };
}

/** A partner is told once for each when a customer approaches the storage limit of its plan. In percent of that limit. */
const USAGE_THRESHOLDS: readonly number[] = [80, 100];

/**
 * The event for the highest threshold that the customer's storage has reached, unless it was sent before. The last
 * threshold sent is stored with the customer, so that only one of two devices that report at the same time sends it.
 * When the storage falls below a threshold, it may be sent again.
 */
async function thresholdEvents(
  trx: StoreTransaction,
  partnerId: string,
  customerId: string,
): Promise<readonly NewEvent[]> {
  const [customer] = await selectCustomers(trx, partnerId, { id: customerId });
  if (customer === undefined) return [];
  const { storageUsedBytes: used, storageLimitBytes: limit } = customer;
  const reached = USAGE_THRESHOLDS.findLast((percent) => used >= (limit / 100) * percent) ?? 0;
  const update = trx
    .updateTable('customers')
    .set({ usage_told: reached })
    .where('partner_id', '=', partnerId)
    .where('id', '=', customerId);
  await update.where('usage_told', '>', reached).execute();
  const { numUpdatedRows } = await update.where('usage_told', '<', reached).executeTakeFirst();
  if (numUpdatedRows === 0n) return [];
  const data = {
    customer_id: customerId,
    threshold_percent: reached,
    storage_used_bytes: used,
    storage_limit_bytes: limit,
  };
  return [{ kind: 'usage.threshold_reached', customerId, data }];
}
