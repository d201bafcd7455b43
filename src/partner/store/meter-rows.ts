/** Meter rows in the database: one device on one day. */
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

/** Makes the rows of those days these. The device is locked. */
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

/** Makes the rows of the device after that day these alone, and what its removal adds. */
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

/** From its removal on a device stores nothing that is billed. The device is locked. */
export async function writeRemoval(
  trx: StoreTransaction,
  device: MeteredDevice,
  removedAt: number,
): Promise<void> {
  const day = dayOf(removedAt);
  const meter = (await readMeters(trx, device, [day])).get(day) ?? NOTHING;
  // Whatever a clock that was ahead has told.
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
