/** Stores events, which the partner reads and webhooks deliver. */
import type { StoreDatabase, StoreTransaction } from './database.ts';
import { pageOf, type Page, type PageRequest } from './page.ts';
import type { EventTable, WebhookEndpointTable } from './schema.ts';

export const EVENT_KINDS = [
  'customer.created',
  'customer.updated',
  'customer.suspended',
  'customer.resumed',
  'customer.deleted',
  'customer.plan_changed',
  'backup.completed',
  'backup.warning',
  'backup.failed',
  'backup.missed',
  'restore.completed',
  'restore.failed',
  'usage.threshold_reached',
  'device.enrolled',
  'device.removed',
  'api_key.regenerated',
  'api_key.revoked',
  'webhook.disabled',
  'webhook.test',
] as const;

export type EventKind = (typeof EVENT_KINDS)[number];

export interface PartnerEvent {
  readonly id: string;
  /** Sequence number of the partner's events, from 1 without gaps. */
  readonly seq: number;
  readonly kind: EventKind;
  readonly customerId: string | null;
  readonly deviceId: string | null;
  readonly data: Readonly<Record<string, unknown>>;
  readonly createdAt: number;
}

export interface NewEvent {
  readonly kind: EventKind;
  readonly customerId?: string | undefined;
  readonly deviceId?: string | undefined;
  readonly data: Readonly<Record<string, unknown>>;
  /** The only endpoint to deliver to, enabled or not; without it, all enabled endpoints that ask for the kind. */
  readonly endpointId?: string;
}

export interface EventStore {
  list(
    partnerId: string,
    request: PageRequest & {
      readonly kind?: EventKind | undefined;
      readonly customerId?: string | undefined;
    },
  ): Promise<Page<PartnerEvent>>;
  get(partnerId: string, id: string): Promise<PartnerEvent | undefined>;
  /**
   * Removes events from before `untilMs` whose deliveries have all ended, together with those deliveries. Returns their
   * number.
   */
  prune(untilMs: number): Promise<number>;
}

export function createEventStore(db: StoreDatabase): EventStore {
  return {
    async list(partnerId, { limit, before, kind, customerId }) {
      const rows = await db.reader
        .selectFrom('events')
        .selectAll()
        .where('partner_id', '=', partnerId)
        // Ordered by sequence number: with several instances, ids are not in the order in which events became visible.
        .$if(before !== undefined, (query) =>
          query.where('seq', '<', (inner) =>
            inner
              .selectFrom('events as last')
              .select('last.seq')
              .where('last.partner_id', '=', partnerId)
              .where('last.id', '=', before ?? ''),
          ),
        )
        .$if(kind !== undefined, (query) => query.where('kind', '=', kind ?? ''))
        .$if(customerId !== undefined, (query) => query.where('customer_id', '=', customerId ?? ''))
        .orderBy('seq', 'desc')
        .limit(limit + 1)
        .execute();
      return pageOf(rows, limit, fromRow);
    },
    async get(partnerId, id) {
      const row = await db.reader
        .selectFrom('events')
        .selectAll()
        .where('partner_id', '=', partnerId)
        .where('id', '=', id)
        .executeTakeFirst();
      return row === undefined ? undefined : fromRow(row);
    },
    prune: async (untilMs) => {
      let pruned = 0;
      for (;;) {
        const count = await pruneSome(db, untilMs);
        if (count === 0) return pruned;
        pruned += count;
      }
    },
  };
}

async function pruneSome(db: StoreDatabase, untilMs: number): Promise<number> {
  return await db.write(async (trx) => {
    const old = await trx
      .selectFrom('events')
      .select('events.id')
      .where('created_at', '<', untilMs)
      .where((is) =>
        is.not(
          is.exists(
            is
              .selectFrom('deliveries')
              .select('deliveries.id')
              .whereRef('deliveries.event_id', '=', 'events.id')
              .where('deliveries.status', '=', 'pending'),
          ),
        ),
      )
      .orderBy('created_at')
      .limit(PRUNED_AT_ONCE)
      .execute();
    if (old.length === 0) return 0;
    const ids = old.map(({ id }) => id);
    await trx.deleteFrom('deliveries').where('event_id', 'in', ids).execute();
    await trx.deleteFrom('events').where('id', 'in', ids).execute();
    return ids.length;
  });
}

/** Events that one transaction removes, so that nobody waits long for it. */
const PRUNED_AT_ONCE = 500;

/**
 * Adds an event to the transaction of the change that it reports, and a delivery for each endpoint that wants it. To be
 * called last in the transaction: from here on the partner's row is locked, which gives events numbers without gaps.
 * Returns the id of the event.
 */
export async function appendEvent(
  db: StoreDatabase,
  trx: StoreTransaction,
  partnerId: string,
  event: NewEvent,
): Promise<string> {
  const [id = ''] = await appendEvents(db, trx, partnerId, [event]);
  return id;
}

/** As `appendEvent`, for several events in the given order. */
export async function appendEvents(
  db: StoreDatabase,
  trx: StoreTransaction,
  partnerId: string,
  events: readonly NewEvent[],
): Promise<readonly string[]> {
  if (events.length === 0) return [];
  const createdAt = db.now();
  const { events_seq: last } = await trx
    .updateTable('partners')
    .set((is) => ({ events_seq: is('events_seq', '+', events.length) }))
    .where('id', '=', partnerId)
    .returning('events_seq')
    .executeTakeFirstOrThrow();
  const endpoints = await trx
    .selectFrom('webhook_endpoints')
    .select(['id', 'events', 'status'])
    .where('partner_id', '=', partnerId)
    .where('deleted_at', 'is', null)
    .execute();
  const rows = events.map(({ kind, customerId, deviceId, data }, index): EventTable => ({
    id: db.newId('evt'),
    partner_id: partnerId,
    seq: last - events.length + 1 + index,
    kind,
    customer_id: customerId ?? null,
    device_id: deviceId ?? null,
    data: JSON.stringify(data),
    created_at: createdAt,
  }));
  const deliveries = rows.flatMap(({ id }, index) =>
    endpoints
      .filter((endpoint) => isWanted(endpoint, events[index]))
      .map((endpoint) => ({
        id: db.newId('dlv'),
        partner_id: partnerId,
        endpoint_id: endpoint.id,
        event_id: id,
        status: 'pending' as const,
        attempts: 0,
        next_attempt_at: createdAt,
        created_at: createdAt,
      })),
  );
  for (const some of inParts(rows)) await trx.insertInto('events').values(some).execute();
  for (const some of inParts(deliveries)) await trx.insertInto('deliveries').values(some).execute();
  if (deliveries.length > 0) db.noteDue(trx);
  return rows.map(({ id }) => id);
}

function isWanted(
  { id, events, status }: Pick<WebhookEndpointTable, 'id' | 'events' | 'status'>,
  event: NewEvent | undefined,
): boolean {
  if (event?.endpointId !== undefined) return id === event.endpointId;
  const kinds = JSON.parse(events) as readonly string[];
  return status === 'enabled' && (kinds.length === 0 || kinds.includes(event?.kind ?? ''));
}

/** Rows that fit into one statement. */
const ROWS_AT_ONCE = 500;

function inParts<T>(rows: readonly T[]): readonly (readonly T[])[] {
  const count = Math.ceil(rows.length / ROWS_AT_ONCE);
  return Array.from({ length: count }, (_, index) =>
    rows.slice(index * ROWS_AT_ONCE, (index + 1) * ROWS_AT_ONCE),
  );
}

function fromRow(row: EventTable): PartnerEvent {
  return {
    id: row.id,
    seq: row.seq,
    kind: row.kind as EventKind,
    customerId: row.customer_id,
    deviceId: row.device_id,
    data: JSON.parse(row.data) as PartnerEvent['data'],
    createdAt: row.created_at,
  };
}
