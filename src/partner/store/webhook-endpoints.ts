/**
 * Stores webhook endpoints: where a partner wants to be notified, and about what. Secrets are passed in and stored
 * encrypted.
 */
import { ApiError } from '../../api/wire/api-error.ts';
import { recordChange, type Actor } from './audit-log.ts';
import type { StoreDatabase, StoreTransaction } from './database.ts';
import { deliveryRows, shownDelivery, type Delivery } from './delivery-view.ts';
import { appendEvent, type EventKind } from './events.ts';
import { noteEffect } from './idempotency.ts';
import { pageOf, type Page, type PageRequest } from './page.ts';
import type { WebhookEndpointTable } from './schema.ts';
import { failPending, shownInRecords, type DisabledReason } from './webhook-disabling.ts';

export interface WebhookEndpoint {
  readonly id: string;
  readonly url: string;
  /** Empty for all kinds. */
  readonly events: readonly EventKind[];
  readonly description: string | null;
  readonly status: 'enabled' | 'disabled';
  readonly disabledReason: DisabledReason | null;
  readonly failingSince: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Where a message sent at this moment goes, and what signs it. */
export interface SealedTarget {
  readonly url: string;
  /** Newest first; two while the secret is being rotated. */
  readonly sealedSecrets: readonly string[];
}

export interface NewEndpoint {
  readonly url: string;
  readonly events: readonly EventKind[];
  readonly description: string | null;
  /** Encrypts the secret for the endpoint with that id. May be called several times. */
  readonly sealSecret: (id: string) => string;
}

export interface EndpointChange {
  readonly url?: string | undefined;
  readonly events?: readonly EventKind[] | undefined;
  readonly description?: string | null | undefined;
  readonly status?: 'enabled' | 'disabled' | undefined;
}

export interface WebhookEndpointStore {
  /** @throws {ApiError} INVALID_REQUEST when the partner has ten endpoints */
  create(partnerId: string, endpoint: NewEndpoint, actor: Actor): Promise<WebhookEndpoint>;
  get(partnerId: string, id: string): Promise<WebhookEndpoint | undefined>;
  /** Newest first. */
  list(partnerId: string, request: PageRequest): Promise<Page<WebhookEndpoint>>;
  patch(
    partnerId: string,
    id: string,
    change: EndpointChange,
    actor: Actor,
  ): Promise<WebhookEndpoint | undefined>;
  /**
   * Deletes the endpoint: it and its deliveries are hidden, nothing more is sent, and `prune` removes the deliveries.
   * False when there is no such endpoint.
   */
  remove(partnerId: string, id: string, actor: Actor): Promise<boolean>;
  /** Replaces the secret. Until `previousUntil`, messages are signed with the previous secret as well. */
  rotateSecret(
    partnerId: string,
    id: string,
    sealedSecret: string,
    previousUntil: number,
    actor: Actor,
  ): Promise<WebhookEndpoint | undefined>;
  /** Undefined when there is no such endpoint. */
  target(partnerId: string, id: string): Promise<SealedTarget | undefined>;
  /** Queues a `webhook.test` to the endpoint, enabled or not. Undefined when there is no such endpoint. */
  test(partnerId: string, id: string, actor: Actor): Promise<Delivery | undefined>;
  /** Removes what is left of deleted endpoints. */
  prune(): Promise<void>;
}

export const MOST_ENDPOINTS = 10;

export function createWebhookEndpointStore(db: StoreDatabase): WebhookEndpointStore {
  const get = async (partnerId: string, id: string): Promise<WebhookEndpoint | undefined> => {
    const row = await rowOf(db.reader, partnerId, id);
    return row === undefined ? undefined : fromRow(row);
  };

  return {
    create: async (partnerId, { url, events, description, sealSecret }, actor) =>
      await db.writeAlone(partnerId, async (trx) => {
        const others = await trx
          .selectFrom('webhook_endpoints')
          .select('id')
          .where('partner_id', '=', partnerId)
          .where('deleted_at', 'is', null)
          .execute();
        if (others.length >= MOST_ENDPOINTS) {
          throw new ApiError('INVALID_REQUEST', `There are already ${MOST_ENDPOINTS} webhooks`, {
            hint: 'Delete one first.',
            details: { most_webhooks: MOST_ENDPOINTS },
          });
        }
        const now = db.now();
        const id = db.newId('whk');
        const row: WebhookEndpointTable = {
          id,
          partner_id: partnerId,
          url,
          events: JSON.stringify(events),
          description,
          status: 'enabled',
          disabled_reason: null,
          secret: sealSecret(id),
          previous_secret: null,
          previous_until: null,
          failing_since: null,
          silent_until: null,
          created_at: now,
          updated_at: now,
          deleted_at: null,
        };
        await trx.insertInto('webhook_endpoints').values(row).execute();
        await recordChange(db, trx, partnerId, actor, {
          action: 'webhook.created',
          target: row.id,
          before: null,
          after: shownInRecords(row),
        });
        await noteEffect(trx, actor.running, row.id);
        return fromRow(row);
      }),

    get,

    async list(partnerId, { limit, before }) {
      const rows = await db.reader
        .selectFrom('webhook_endpoints')
        .selectAll()
        .where('partner_id', '=', partnerId)
        .where('deleted_at', 'is', null)
        .$if(before !== undefined, (query) => query.where('id', '<', before ?? ''))
        .orderBy('id', 'desc')
        .limit(limit + 1)
        .execute();
      return pageOf(rows, limit, fromRow);
    },

    patch: async (partnerId, id, change, actor) =>
      await db.writeAlone(partnerId, async (trx) => {
        const before = await rowOf(trx, partnerId, id);
        if (before === undefined) return undefined;
        const now = db.now();
        // The receiver may have changed together with its settings, so its silence ends.
        const values = { ...changesOf(before, change), ...heardAgain(before, now), updated_at: now };
        const after = { ...before, ...values };
        await update(trx, partnerId, id, values);
        if (change.status === 'disabled') await failPending(trx, partnerId, id);
        await recordChange(db, trx, partnerId, actor, {
          action: 'webhook.updated',
          target: id,
          before: shownInRecords(before),
          after: shownInRecords(after),
        });
        return fromRow(after);
      }),

    remove: async (partnerId, id, actor) =>
      await db.writeAlone(partnerId, async (trx) => {
        const row = await trx
          .updateTable('webhook_endpoints')
          .set({ deleted_at: db.now(), secret: '', previous_secret: null })
          .where('partner_id', '=', partnerId)
          .where('id', '=', id)
          .where('deleted_at', 'is', null)
          .returningAll()
          .executeTakeFirst();
        if (row === undefined) return false;
        await recordChange(db, trx, partnerId, actor, {
          action: 'webhook.deleted',
          target: id,
          before: shownInRecords(row),
          after: null,
        });
        return true;
      }),

    rotateSecret: async (partnerId, id, sealedSecret, previousUntil, actor) =>
      await db.writeAlone(partnerId, async (trx) => {
        const row = await rowOf(trx, partnerId, id);
        if (row === undefined) return undefined;
        const values = {
          secret: sealedSecret,
          // The secret that an earlier request with the key created was never shown to anybody.
          previous_secret: hasEffect(actor) ? row.previous_secret : row.secret,
          previous_until: previousUntil,
          updated_at: db.now(),
        };
        await update(trx, partnerId, id, values);
        await recordChange(db, trx, partnerId, actor, {
          action: 'webhook.secret_rotated',
          target: id,
          before: null,
          after: { previous_until: new Date(previousUntil).toISOString() },
        });
        await noteEffect(trx, actor.running, id);
        return fromRow({ ...row, ...values });
      }),

    async target(partnerId, id) {
      const row = await rowOf(db.reader, partnerId, id);
      if (row === undefined) return undefined;
      const isRotating = (row.previous_until ?? 0) > db.now();
      const previous = isRotating && row.previous_secret !== null ? [row.previous_secret] : [];
      return { url: row.url, sealedSecrets: [row.secret, ...previous] };
    },

    test: async (partnerId, id, actor) =>
      await db.writeAlone(partnerId, async (trx) => {
        const row = await rowOf(trx, partnerId, id);
        if (row === undefined) return undefined;
        await recordChange(db, trx, partnerId, actor, {
          action: 'webhook.tested',
          target: id,
          before: null,
          after: null,
        });
        await update(trx, partnerId, id, heardAgain(row, db.now()));
        const data = { webhook_id: id };
        const event = { kind: 'webhook.test', endpointId: id, data } as const;
        const eventId = await appendEvent(db, trx, partnerId, event);
        const rows = deliveryRows(trx, partnerId).where('deliveries.event_id', '=', eventId);
        const delivery = shownDelivery(await rows.executeTakeFirstOrThrow());
        await noteEffect(trx, actor.running, delivery.id);
        return delivery;
      }),

    async prune() {
      const deleted = await db.reader
        .selectFrom('webhook_endpoints')
        .select(['id', 'partner_id'])
        .where('deleted_at', 'is not', null)
        .execute();
      for (const { id, partner_id: partnerId } of deleted)
        while ((await db.write(async (trx) => await pruneSome(trx, partnerId, id))) > 0);
    },
  };
}

/** Deliveries that one transaction removes, so that nobody waits long for it. */
const PRUNED_AT_ONCE = 1_000;

/**
 * Removes some deliveries of a deleted endpoint, or the endpoint itself when it has none left. Returns the number of
 * deliveries.
 */
async function pruneSome(trx: StoreTransaction, partnerId: string, id: string): Promise<number> {
  const some = await trx
    .selectFrom('deliveries')
    .select('id')
    .where('partner_id', '=', partnerId)
    .where('endpoint_id', '=', id)
    .limit(PRUNED_AT_ONCE)
    .execute();
  if (some.length === 0) {
    await trx
      .deleteFrom('webhook_endpoints')
      .where('partner_id', '=', partnerId)
      .where('id', '=', id)
      .execute();
    return 0;
  }
  const ids = some.map((row) => row.id);
  await trx.deleteFrom('deliveries').where('partner_id', '=', partnerId).where('id', 'in', ids).execute();
  return ids.length;
}

function hasEffect({ running }: Actor): boolean {
  return running !== undefined && running.effect !== null;
}

/**
 * Ends the silence that the endpoint asked for, because a user acts on it. Single deliveries then find out whether it
 * accepts them.
 */
function heardAgain(
  { silent_until: until }: Pick<WebhookEndpointTable, 'silent_until'>,
  now: number,
): Pick<WebhookEndpointTable, 'silent_until'> {
  return { silent_until: until === null ? null : Math.min(until, now) };
}

/** The columns that the change sets. A status that the endpoint has already stays, with its reason. */
function changesOf(
  before: WebhookEndpointTable,
  { url, events, description, status }: EndpointChange,
): Partial<WebhookEndpointTable> {
  return {
    ...(url === undefined ? {} : { url }),
    ...(events === undefined ? {} : { events: JSON.stringify(events) }),
    ...(description === undefined ? {} : { description }),
    ...(status === undefined || status === before.status
      ? {}
      : { status, disabled_reason: status === 'enabled' ? null : 'by_partner', failing_since: null }),
  };
}

async function rowOf(
  reader: StoreDatabase['reader'],
  partnerId: string,
  id: string,
): Promise<WebhookEndpointTable | undefined> {
  return await reader
    .selectFrom('webhook_endpoints')
    .selectAll()
    .where('partner_id', '=', partnerId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
}

async function update(
  trx: StoreTransaction,
  partnerId: string,
  id: string,
  values: Partial<WebhookEndpointTable>,
): Promise<void> {
  await trx
    .updateTable('webhook_endpoints')
    .set(values)
    .where('partner_id', '=', partnerId)
    .where('id', '=', id)
    .execute();
}

function fromRow(row: WebhookEndpointTable): WebhookEndpoint {
  return {
    id: row.id,
    url: row.url,
    events: JSON.parse(row.events) as WebhookEndpoint['events'],
    description: row.description,
    status: row.status,
    disabledReason: row.disabled_reason as DisabledReason | null,
    failingSince: row.failing_since,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
