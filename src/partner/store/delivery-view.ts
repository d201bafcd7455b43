/** Reads deliveries together with the kind of their event. */
import type { StoreReader } from './database.ts';
import type { EventKind } from './events.ts';
import type { DeliveryTable } from './schema.ts';

export interface Delivery {
  readonly id: string;
  readonly endpointId: string;
  readonly eventId: string;
  readonly eventKind: EventKind;
  readonly status: DeliveryTable['status'];
  /** Number of attempts with a known outcome. */
  readonly attempts: number;
  /** Null unless the delivery is pending. */
  readonly nextAttemptAt: number | null;
  /** HTTP status of the last attempt; null when there was no answer, or no attempt. */
  readonly lastStatus: number | null;
  readonly lastError: string | null;
  readonly lastAttemptAt: number | null;
  readonly createdAt: number;
}

export interface DeliveryRow extends DeliveryTable {
  readonly event_kind: string;
  readonly silent_until: number | null;
}

export function deliveryRows(reader: StoreReader, partnerId: string) {
  return reader
    .selectFrom('deliveries')
    .innerJoin('events', 'events.id', 'deliveries.event_id')
    .innerJoin('webhook_endpoints', 'webhook_endpoints.id', 'deliveries.endpoint_id')
    .selectAll('deliveries')
    .select(['events.kind as event_kind', 'webhook_endpoints.silent_until as silent_until'])
    .where('deliveries.partner_id', '=', partnerId)
    .where('webhook_endpoints.deleted_at', 'is', null);
}

export async function readDelivery(
  reader: StoreReader,
  partnerId: string,
  id: string,
): Promise<Delivery | undefined> {
  const row = await deliveryRows(reader, partnerId).where('deliveries.id', '=', id).executeTakeFirst();
  return row === undefined ? undefined : shownDelivery(row);
}

export function shownDelivery(row: DeliveryRow): Delivery {
  return {
    id: row.id,
    endpointId: row.endpoint_id,
    eventId: row.event_id,
    eventKind: row.event_kind as EventKind,
    status: row.status,
    attempts: row.attempts,
    nextAttemptAt: row.status === 'pending' ? Math.max(row.next_attempt_at, row.silent_until ?? 0) : null,
    lastStatus: row.last_status,
    lastError: row.last_error,
    lastAttemptAt: row.last_attempt_at,
    createdAt: row.created_at,
  };
}
