/** How an endpoint comes to be disabled, by whomever. */
import { recordChange, SERVICE } from './audit-log.ts';
import type { StoreDatabase, StoreTransaction } from './database.ts';
import { appendEvent } from './events.ts';
import type { WebhookEndpointTable } from './schema.ts';

/** `gone`: it answered with 410. `failing`: a delivery had all its attempts, and none to it succeeded meanwhile. */
export type DisabledReason = 'gone' | 'failing' | 'by_partner';

/**
 * The service stops using an endpoint: what waits for it has failed, and the partner is told by an event. Nothing is done
 * to one that is disabled already.
 */
export async function disableByService(
  db: StoreDatabase,
  trx: StoreTransaction,
  partnerId: string,
  id: string,
  reason: Exclude<DisabledReason, 'by_partner'>,
): Promise<void> {
  const row = await trx
    .updateTable('webhook_endpoints')
    .set({ status: 'disabled', disabled_reason: reason, updated_at: db.now() })
    .where('partner_id', '=', partnerId)
    .where('id', '=', id)
    .where('status', '=', 'enabled')
    .where('deleted_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
  if (row === undefined) return;
  const after = shownInRecords(row);
  await recordChange(db, trx, partnerId, SERVICE, {
    action: 'webhook.disabled',
    target: id,
    before: { ...after, status: 'enabled' },
    after,
  });
  await appendEvent(db, trx, partnerId, { kind: 'webhook.disabled', data: { ...after, reason } });
  // Last: an event of another transaction that took the endpoint for enabled is there by now.
  await failPending(trx, partnerId, id);
}

/** What waits for it is not sent. */
export async function failPending(trx: StoreTransaction, partnerId: string, id: string): Promise<void> {
  await trx
    .updateTable('deliveries')
    .set({ status: 'failed', last_error: 'The endpoint was disabled', claimed_by: null, claimed_until: null })
    .where('partner_id', '=', partnerId)
    .where('endpoint_id', '=', id)
    .where('status', '=', 'pending')
    .execute();
}

/** What records and events tell of an endpoint: nothing secret. */
export function shownInRecords(row: WebhookEndpointTable): Readonly<Record<string, unknown>> {
  return {
    webhook_id: row.id,
    url: row.url,
    events: JSON.parse(row.events) as unknown,
    description: row.description,
    status: row.status,
  };
}
