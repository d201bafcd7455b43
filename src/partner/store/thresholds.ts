/** Tells a partner when a customer approaches the storage limit of its plan, once for each threshold. */
import { selectCustomers } from './customer-view.ts';
import type { StoreTransaction } from './database.ts';
import type { NewEvent } from './events.ts';

/** In percent of the storage limit. */
export const USAGE_THRESHOLDS: readonly number[] = [80, 100];

/**
 * The event for the highest threshold that the customer's storage has reached, unless it was sent before. The last
 * threshold sent is stored with the customer, so that only one of two devices that report at the same time sends it.
 * When the storage falls below a threshold, it may be sent again.
 */
export async function thresholdEvents(
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
