/** Reads and writes meter rows, each of which is for one device on one day. */
import type { StoreTransaction } from './database.ts';
import { NOTHING, dayOf, type Day, type Meter } from './metering.ts';
import type { DeviceTable, MeterRowTable } from './schema.ts';

type MeteredDevice = Pick<DeviceTable, 'partner_id' | 'customer_id' | 'id' | 'removed_at'>;

export async function readMeters(
  trx: StoreTransaction,
  { partner_id, id }: MeteredDevice,
  days: readonly Day[],
): Promise<ReadonlyMap<Day, Meter>> {
  const rows = await trx
    .selectFrom('meter_rows')
    .selectAll()
    .where('partner_id', '=', partner_id)
    .where('device_id', '=', id)
    .where('day', 'in', days)
    .execute();
  return new Map(rows.map((row) => [row.day, fromRow(row)]));
}

/** Writes the rows of the given days. The caller has locked the device. */
export async function writeMeters(
  trx: StoreTransaction,
  device: MeteredDevice,
  meters: ReadonlyMap<Day, Meter>,
): Promise<void> {
  for (const [day, meter] of meters) {
    const { partner_id, customer_id, device_id, day: _day, ...values } = toRow(device, day, meter);
    await trx
      .insertInto('meter_rows')
      .values({ partner_id, customer_id, device_id, day, ...values })
      .onConflict((conflict) => conflict.columns(['device_id', 'day']).doUpdateSet(values))
      .execute();
  }
}

/** Replaces all rows of the device after the day `since`, including what its removal adds. */
export async function replaceMeters(
  trx: StoreTransaction,
  device: MeteredDevice,
  meters: ReadonlyMap<Day, Meter>,
  since: Day,
): Promise<void> {
  await trx
    .deleteFrom('meter_rows')
    .where('partner_id', '=', device.partner_id)
    .where('device_id', '=', device.id)
    .where('day', '>', since)
    .execute();
  await writeMeters(trx, device, new Map([...meters].filter(([day]) => day > since)));
  if (device.removed_at !== null && dayOf(device.removed_at) > since)
    await writeRemoval(trx, device, device.removed_at);
}

/** Sets the billed storage of a device to zero from its removal on. The caller has locked the device. */
export async function writeRemoval(
  trx: StoreTransaction,
  device: MeteredDevice,
  removedAt: number,
): Promise<void> {
  const day = dayOf(removedAt);
  const meter = (await readMeters(trx, device, [day])).get(day) ?? NOTHING;
  // At least as late as any time reported by a clock that was ahead.
  const at = Math.max(removedAt, meter.storage?.at ?? 0);
  const storage = { bytes: 0, at, seq: Number.MAX_SAFE_INTEGER };
  await writeMeters(trx, device, new Map([[day, { ...meter, storage }]]));
  await trx
    .updateTable('meter_rows')
    .set({ storage_bytes: 0 })
    .where('partner_id', '=', device.partner_id)
    .where('device_id', '=', device.id)
    .where('day', '>', day)
    .where('storage_bytes', 'is not', null)
    .execute();
}

function toRow({ partner_id, customer_id, id }: MeteredDevice, day: Day, meter: Meter): MeterRowTable {
  return {
    partner_id,
    customer_id,
    device_id: id,
    day,
    storage_bytes: meter.storage?.bytes ?? null,
    storage_at: meter.storage?.at ?? 0,
    storage_seq: meter.storage?.seq ?? 0,
    uploaded_bytes: meter.uploadedBytes,
    restored_bytes: meter.restoredBytes,
    backups_completed: meter.backupsCompleted,
    backups_failed: meter.backupsFailed,
    restores_completed: meter.restoresCompleted,
    restores_failed: meter.restoresFailed,
  };
}

function fromRow(row: MeterRowTable): Meter {
  return {
    storage:
      row.storage_bytes === null
        ? null
        : { bytes: row.storage_bytes, at: row.storage_at, seq: row.storage_seq },
    uploadedBytes: row.uploaded_bytes,
    restoredBytes: row.restored_bytes,
    backupsCompleted: row.backups_completed,
    backupsFailed: row.backups_failed,
    restoresCompleted: row.restores_completed,
    restoresFailed: row.restores_failed,
  };
}
