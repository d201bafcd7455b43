/** Disables webhook endpoints. */
import { recordChange, SERVICE } from './audit-log.ts';
import type { StoreDatabase, StoreTransaction } from './database.ts';
import { appendEvent } from './events.ts';
import type { WebhookEndpointTable } from './schema.ts';

/**
 * `gone`: the endpoint answered with 410. `failing`: a delivery used up all its attempts, and no other delivery
 * succeeded meanwhile.
 */
export type DisabledReason = 'gone' | 'failing' | 'by_partner';

/**
 * Makes the service stop using an endpoint: its pending deliveries fail, and an event tells the partner. Does nothing
 * for an endpoint that is disabled already.
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
  // Last, because `appendEvent` waits for concurrent transactions that still considered the endpoint enabled: their
  // deliveries are visible only now.
  await failPending(trx, partnerId, id);
}

/** Fails all pending deliveries of the endpoint. */
export async function failPending(trx: StoreTransaction, partnerId: string, id: string): Promise<void> {
  await trx
    .updateTable('deliveries')
    .set({ status: 'failed', last_error: 'The endpoint was disabled', claimed_by: null, claimed_until: null })
    .where('partner_id', '=', partnerId)
    .where('endpoint_id', '=', id)
    .where('status', '=', 'pending')
    .execute();
}

/** The fields of an endpoint in audit records and events, without secrets. */
export function shownInRecords(row: WebhookEndpointTable): Readonly<Record<string, unknown>> {
  return {
    webhook_id: row.id,
    url: row.url,
    events: JSON.parse(row.events) as unknown,
    description: row.description,
    status: row.status,
  };
}
