/** Taking devices out of use: their keys are void at once, and from that day on they store nothing that is billed. */
import { forUpdate, type StoreDatabase, type StoreTransaction } from './database.ts';
import { writeRemoval } from './meter-rows.ts';
import type { DeviceTable } from './schema.ts';

/** Those of a customer, or one. Gives them as they were. */
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
