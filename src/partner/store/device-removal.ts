/** Removes devices. Their keys become invalid at once, and from that day on their storage is not billed. */
import { forUpdate, type StoreDatabase, type StoreTransaction } from './database.ts';
import { writeRemoval } from './meter-rows.ts';
import type { DeviceTable } from './schema.ts';

/** Removes all devices of a customer, or a single one. Returns the rows as they were before. */
export async function removeDevices(
  db: StoreDatabase,
  trx: StoreTransaction,
  partnerId: string,
  which: { readonly customerId: string } | { readonly deviceId: string },
  removedAt: number,
): Promise<readonly DeviceTable[]> {
  const devices = trx
    .selectFrom('devices')
    .selectAll()
    .where('partner_id', '=', partnerId)
    .where('removed_at', 'is', null);
  const rows = await (
    'deviceId' in which
      ? devices.where('id', '=', which.deviceId)
      : devices.where('customer_id', '=', which.customerId)
  )
    .$call(forUpdate(db))
    .execute();
  for (const row of rows) {
    await trx
      .updateTable('devices')
      .set({ removed_at: removedAt })
      .where('partner_id', '=', partnerId)
      .where('id', '=', row.id)
      .execute();
    await writeRemoval(trx, row, removedAt);
  }
  return rows;
}
