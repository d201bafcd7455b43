/** Webhook endpoints: where a partner wants to be told, and of what. Secrets come and stay sealed. */
import { ApiError } from '../../api/api-error.ts';
import { recordChange, SERVICE, type Actor } from './audit-log.ts';
import type { StoreDatabase, StoreTransaction } from './database.ts';
import { appendEvent, type EventKind } from './events.ts';
import { pageOf, type Page, type PageRequest } from './page.ts';
import type { WebhookEndpointTable } from './schema.ts';

export interface WebhookEndpoint {
  readonly id: string;
  readonly url: string;
  /** Empty: all kinds. */
  readonly events: readonly EventKind[];
  readonly description: string | null;
  readonly status: 'enabled' | 'disabled';
  readonly disabledReason: string | null;
  readonly failingSince: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** What signs; both while the secret is being rotated. */
export interface EndpointSecrets {
  readonly secret: string;
  readonly previous: string | null;
}

export interface NewEndpoint {
  readonly url: string;
  readonly events: readonly EventKind[];
  readonly description: string | null;
  readonly sealedSecret: string;
}

export interface EndpointChange {
  readonly url?: string | undefined;
  readonly events?: readonly EventKind[] | undefined;
  readonly description?: string | null | undefined;
  readonly status?: 'enabled' | 'disabled' | undefined;
}

export interface WebhookEndpointStore {
  /** @throws {ApiError} INVALID_REQUEST when there are ten */
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
  /** With its deliveries. */
  remove(partnerId: string, id: string, actor: Actor): Promise<boolean>;
  /** Signs with the new secret, and until `previousUntil` with the one before as well. */
  rotateSecret(
    partnerId: string,
    id: string,
    sealedSecret: string,
    previousUntil: number,
    actor: Actor,
  ): Promise<WebhookEndpoint | undefined>;
  /** Undefined when there is no such endpoint. */
  secrets(partnerId: string, id: string): Promise<EndpointSecrets | undefined>;
  /** Sends it a `webhook.test`, enabled or not. False when there is no such endpoint. */
  test(partnerId: string, id: string, actor: Actor): Promise<boolean>;
  /**
   * The service stops using an endpoint: what waits for it has failed, and the partner is told by an event. False when
   * it is disabled already.
   */
  disable(partnerId: string, id: string, reason: string): Promise<boolean>;
}

export const MOST_ENDPOINTS = 10;

export function createWebhookEndpointStore(db: StoreDatabase): WebhookEndpointStore {
  const get = async (partnerId: string, id: string): Promise<WebhookEndpoint | undefined> => {
    const row = await rowOf(db.reader, partnerId, id);
    return row === undefined ? undefined : fromRow(row);
  };

  /** Applies a change and its record; undefined when there is no such endpoint. */
  const change = async (
    partnerId: string,
    id: string,
    values: Partial<WebhookEndpointTable>,
    action: string,
    actor: Actor,
  ): Promise<WebhookEndpoint | undefined> =>
    await db.writeAlone(partnerId, async (trx) => {
      const before = await rowOf(trx, partnerId, id);
      if (before === undefined) return undefined;
      const after = { ...before, ...values, updated_at: db.now() };
      await update(trx, partnerId, id, { ...values, updated_at: after.updated_at });
      if (after.status === 'disabled') await failPending(trx, partnerId, id);
      const record = { before: shown(before), after: shown(after) };
      await recordChange(db, trx, partnerId, actor, { action, target: id, ...record });
      return fromRow(after);
    });

  return {
    create: async (partnerId, { url, events, description, sealedSecret }, actor) =>
      await db.writeAlone(partnerId, async (trx) => {
        const others = await trx
          .selectFrom('webhook_endpoints')
          .select('id')
          .where('partner_id', '=', partnerId)
          .execute();
        if (others.length >= MOST_ENDPOINTS) {
          throw new ApiError('INVALID_REQUEST', `There are ${MOST_ENDPOINTS} webhooks already`, {
            hint: 'Delete one first.',
            details: { most_webhooks: MOST_ENDPOINTS },
          });
        }
        const now = db.now();
        const row: WebhookEndpointTable = {
          id: db.newId('whk'),
          partner_id: partnerId,
          url,
          events: JSON.stringify(events),
          description,
          status: 'enabled',
          disabled_reason: null,
          secret: sealedSecret,
          previous_secret: null,
          previous_until: null,
          failing_since: null,
          created_at: now,
          updated_at: now,
        };
        await trx.insertInto('webhook_endpoints').values(row).execute();
        await recordChange(db, trx, partnerId, actor, {
          action: 'webhook.created',
          target: row.id,
          before: null,
          after: shown(row),
        });
        return fromRow(row);
      }),

    get,

    async list(partnerId, { limit, before }) {
      const rows = await db.reader
        .selectFrom('webhook_endpoints')
        .selectAll()
        .where('partner_id', '=', partnerId)
        .$if(before !== undefined, (query) => query.where('id', '<', before ?? ''))
        .orderBy('id', 'desc')
        .limit(limit + 1)
        .execute();
      return pageOf(rows, limit, fromRow);
    },

    patch: async (partnerId, id, { url, events, description, status }, actor) =>
      await change(
        partnerId,
        id,
        {
          ...(url === undefined ? {} : { url }),
          ...(events === undefined ? {} : { events: JSON.stringify(events) }),
          ...(description === undefined ? {} : { description }),
          ...(status === undefined
            ? {}
            : {
                status,
                disabled_reason: status === 'enabled' ? null : 'by the partner',
                failing_since: null,
              }),
        },
        'webhook.updated',
        actor,
      ),

    remove: async (partnerId, id, actor) =>
      await db.writeAlone(partnerId, async (trx) => {
        const row = await trx
          .deleteFrom('webhook_endpoints')
          .where('partner_id', '=', partnerId)
          .where('id', '=', id)
          .returningAll()
          .executeTakeFirst();
        if (row === undefined) return false;
        await recordChange(db, trx, partnerId, actor, {
          action: 'webhook.deleted',
          target: id,
          before: shown(row),
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
          previous_secret: row.secret,
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
        return fromRow({ ...row, ...values });
      }),

    async secrets(partnerId, id) {
      const row = await rowOf(db.reader, partnerId, id);
      if (row === undefined) return undefined;
      const isRotating = (row.previous_until ?? 0) > db.now();
      return { secret: row.secret, previous: isRotating ? row.previous_secret : null };
    },

    test: async (partnerId, id, actor) =>
      await db.writeAlone(partnerId, async (trx) => {
        const row = await rowOf(trx, partnerId, id);
        if (row === undefined) return false;
        await recordChange(db, trx, partnerId, actor, {
          action: 'webhook.tested',
          target: id,
          before: null,
          after: null,
        });
        const data = { webhook_id: id };
        await appendEvent(db, trx, partnerId, { kind: 'webhook.test', endpointId: id, data });
        return true;
      }),

    disable: async (partnerId, id, reason) =>
      await db.writeAlone(partnerId, async (trx) => {
        const before = await rowOf(trx, partnerId, id);
        if (before?.status !== 'enabled') return false;
        const values = { status: 'disabled' as const, disabled_reason: reason, updated_at: db.now() };
        await update(trx, partnerId, id, values);
        await failPending(trx, partnerId, id);
        const after = shown({ ...before, ...values });
        await recordChange(db, trx, partnerId, SERVICE, {
          action: 'webhook.disabled',
          target: id,
          before: shown(before),
          after,
        });
        await appendEvent(db, trx, partnerId, { kind: 'webhook.disabled', data: { ...after, reason } });
        return true;
      }),
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

async function failPending(trx: StoreTransaction, partnerId: string, id: string): Promise<void> {
  await trx
    .updateTable('deliveries')
    .set({ status: 'failed', last_error: 'the webhook was disabled', claimed_by: null, claimed_until: null })
    .where('partner_id', '=', partnerId)
    .where('endpoint_id', '=', id)
    .where('status', '=', 'pending')
    .execute();
}

/** What records and events tell of it: nothing secret. */
function shown(row: WebhookEndpointTable): Readonly<Record<string, unknown>> {
  return {
    webhook_id: row.id,
    url: row.url,
    events: JSON.parse(row.events) as unknown,
    description: row.description,
    status: row.status,
  };
}

function fromRow(row: WebhookEndpointTable): WebhookEndpoint {
  return {
    id: row.id,
    url: row.url,
    events: JSON.parse(row.events) as WebhookEndpoint['events'],
    description: row.description,
    status: row.status,
    disabledReason: row.disabled_reason,
    failingSince: row.failing_since,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
