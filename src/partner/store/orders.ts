/**
 * Orders are what a partner asks of a device. Neither of the two kinds deletes anything, so that somebody who controls
 * the service can make an agent work, but nothing else.
 */
import { ApiError } from '../../api/wire/api-error.ts';
import { recordChange, type Actor } from './audit-log.ts';
import type { StoreDatabase, StoreReader } from './database.ts';
import { noteEffect } from './idempotency.ts';
import type { OrderTable } from './schema.ts';

/** All kinds of orders; the database accepts no others, so that a kind that deletes would need a migration. */
export const ORDER_KINDS = ['run_backup', 'report'] as const;

export type OrderKind = (typeof ORDER_KINDS)[number];

export interface Order {
  readonly id: string;
  readonly deviceId: string;
  readonly kind: OrderKind;
  readonly createdAt: number;
  readonly expiresAt: number;
}

export interface OrderStore {
  /**
   * Undefined when there is no such device.
   * @throws {ApiError} INVALID_REQUEST when as many orders wait for the device as one response carries
   */
  create(partnerId: string, deviceId: string, kind: OrderKind, actor: Actor): Promise<Order | undefined>;
  /** The order, taken or not. */
  get(partnerId: string, deviceId: string, id: string): Promise<Order | undefined>;
  /** Orders that the device has not taken and that have not expired, oldest first. */
  open(partnerId: string, deviceId: string): Promise<readonly Order[]>;
  /** Marks orders as taken by the device, each once. Ids of other orders are ignored. */
  take(partnerId: string, deviceId: string, ids: readonly string[], ip: string | null): Promise<void>;
  /** Removes orders that expired a week ago. The audit log keeps what happened to them. */
  prune(): Promise<void>;
}

/** Lifetime of an order: one that arrives late would be a surprise, since its partner has found another way by then. */
export const ORDER_MS = 3_600_000;
export const MOST_ORDERS = 10;
/** How long an expired order is kept, because a device may take it and then be offline before it can say so. */
const KEPT_MS = 7 * 86_400_000;

export function createOrderStore(db: StoreDatabase): OrderStore {
  return {
    create: async (partnerId, deviceId, kind, actor) =>
      await db.writeAlone(partnerId, async (trx) => {
        const device = await trx
          .selectFrom('devices')
          .select('id')
          .where('partner_id', '=', partnerId)
          .where('id', '=', deviceId)
          .where('removed_at', 'is', null)
          .executeTakeFirst();
        if (device === undefined) return undefined;
        const waiting = await openOrders(trx, partnerId, deviceId, db.now()).execute();
        if (waiting.length >= MOST_ORDERS) throw tooManyOrders();
        const now = db.now();
        const row: OrderTable = {
          id: db.newId('ord'),
          partner_id: partnerId,
          device_id: deviceId,
          kind,
          created_at: now,
          expires_at: now + ORDER_MS,
          taken_at: null,
        };
        await trx.insertInto('orders').values(row).execute();
        await recordChange(db, trx, partnerId, actor, {
          action: 'order.created',
          target: row.id,
          before: null,
          after: shown(row),
        });
        await noteEffect(trx, actor.running, row.id);
        return fromRow(row);
      }),

    async get(partnerId, deviceId, id) {
      const row = await db.reader
        .selectFrom('orders')
        .selectAll()
        .where('partner_id', '=', partnerId)
        .where('device_id', '=', deviceId)
        .where('id', '=', id)
        .executeTakeFirst();
      return row === undefined ? undefined : fromRow(row);
    },

    open: async (partnerId, deviceId) =>
      (await openOrders(db.reader, partnerId, deviceId, db.now()).execute()).map(fromRow),

    take: async (partnerId, deviceId, ids, ip) => {
      if (ids.length === 0) return;
      await db.write(async (trx) => {
        const rows = await trx
          .updateTable('orders')
          .set({ taken_at: db.now() })
          .where('partner_id', '=', partnerId)
          .where('device_id', '=', deviceId)
          .where('id', 'in', ids)
          .where('taken_at', 'is', null)
          .returningAll()
          .execute();
        for (const row of rows) {
          const actor: Actor = { name: 'device', keyId: null, ip };
          await recordChange(db, trx, partnerId, actor, {
            action: 'order.taken',
            target: row.id,
            before: null,
            after: shown(row),
          });
        }
      });
    },

    prune: async () => {
      const untilMs = db.now() - KEPT_MS;
      await db.write(async (trx) => {
        await trx.deleteFrom('orders').where('expires_at', '<=', untilMs).execute();
      });
    },
  };
}

function openOrders(reader: StoreReader, partnerId: string, deviceId: string, now: number) {
  return reader
    .selectFrom('orders')
    .selectAll()
    .where('partner_id', '=', partnerId)
    .where('device_id', '=', deviceId)
    .where('taken_at', 'is', null)
    .where('expires_at', '>', now)
    .orderBy('id')
    .limit(MOST_ORDERS);
}

function tooManyOrders(): ApiError {
  return new ApiError('INVALID_REQUEST', `${MOST_ORDERS} orders are already waiting for this device`, {
    hint: 'Wait until it has taken them, or an hour.',
    details: { most_orders: MOST_ORDERS },
  });
}

/** The fields of an order in audit records. */
function shown(row: OrderTable): Readonly<Record<string, unknown>> {
  return { device_id: row.device_id, order: row.kind, expires_at: new Date(row.expires_at).toISOString() };
}

function fromRow(row: OrderTable): Order {
  return {
    id: row.id,
    deviceId: row.device_id,
    kind: row.kind,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}
