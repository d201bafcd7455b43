/**
 * The queue of webhook deliveries. A worker claims one for some time; when it dies the claim ends by itself, and another
 * worker sends it again with the same id. Nothing is lost, and the receiver knows a repetition by its id.
 */
import { recordChange, type Actor } from './audit-log.ts';
import { skipLocked, type StoreDatabase } from './database.ts';
import { nextAttemptAt } from '../webhooks/schedule.ts';
import { pageOf, type Page, type PageRequest } from './page.ts';
import type { DeliveryTable } from './schema.ts';

export interface Delivery {
  readonly id: string;
  readonly endpointId: string;
  readonly eventId: string;
  readonly status: DeliveryTable['status'];
  /** Those that ended. */
  readonly attempts: number;
  /** Null unless it is pending. */
  readonly nextAttemptAt: number | null;
  /** HTTP status of the last attempt; null when there was no answer, or no attempt. */
  readonly lastStatus: number | null;
  readonly lastError: string | null;
  readonly lastAttemptAt: number | null;
  readonly createdAt: number;
}

/** The right to make the next attempt, until it ends. */
export interface DeliveryClaim {
  readonly partnerId: string;
  readonly delivery: Delivery;
  readonly worker: string;
  readonly until: number;
}

export type AttemptOutcome =
  | { readonly kind: 'delivered'; readonly status: number }
  | {
      readonly kind: 'failed';
      readonly status: number | null;
      readonly error: string;
      /** The receiver asks for at least so much time. */
      readonly retryAfterMs?: number | undefined;
    }
  /** There will be no further attempt. */
  | { readonly kind: 'given up'; readonly status: number | null; readonly error: string };

export interface DeliveryStore {
  /**
   * Deliveries whose time has come and that nobody else has, the longest due first. `worker`: a name that no other has;
   * `leaseMs`: longer than an attempt may take.
   */
  claim(worker: string, limit: number, leaseMs: number): Promise<readonly DeliveryClaim[]>;
  /**
   * Notes the outcome of the attempt, and when the next one is. Undefined when the claim had ended and another worker may
   * have it, or when the delivery was removed: then nothing is noted.
   */
  finish(claim: DeliveryClaim, outcome: AttemptOutcome): Promise<Delivery | undefined>;
  /** When the next delivery is due that nobody has; undefined when none waits. */
  nextDueAt(): Promise<number | undefined>;
  get(partnerId: string, id: string): Promise<Delivery | undefined>;
  /** Newest first. */
  list(partnerId: string, endpointId: string, request: PageRequest): Promise<Page<Delivery>>;
  /** Sends it again from now on, with all attempts anew. Undefined when that endpoint has no such delivery. */
  retry(partnerId: string, endpointId: string, id: string, actor: Actor): Promise<Delivery | undefined>;
}

const LONGEST_ERROR = 500;

/** `chance`: from 0 to just below 1, for the pauses between attempts. */
export function createDeliveryStore(db: StoreDatabase, chance: () => number): DeliveryStore {
  return {
    claim: async (worker, limit, leaseMs) =>
      await db.write(async (trx) => {
        const now = db.now();
        const until = now + leaseMs;
        const due = await trx
          .selectFrom('deliveries')
          .select('id')
          .where('status', '=', 'pending')
          .where('next_attempt_at', '<=', now)
          .where((is) => is.or([is('claimed_until', 'is', null), is('claimed_until', '<=', now)]))
          .orderBy('next_attempt_at')
          .orderBy('id')
          .limit(limit)
          .$call(skipLocked(db))
          .execute();
        if (due.length === 0) return [];
        const rows = await trx
          .updateTable('deliveries')
          .set({ claimed_by: worker, claimed_until: until })
          .where(
            'id',
            'in',
            due.map(({ id }) => id),
          )
          .returningAll()
          .execute();
        return rows
          .toSorted((a, b) => a.next_attempt_at - b.next_attempt_at || (a.id < b.id ? -1 : 1))
          .map((row) => ({ partnerId: row.partner_id, delivery: fromRow(row), worker, until }));
      }),

    finish: async ({ partnerId, delivery, worker, until }, outcome) =>
      await db.write(async (trx) => {
        const now = db.now();
        const attempts = delivery.attempts + 1;
        const row = await trx
          .updateTable('deliveries')
          .set({ ...after(attempts, outcome, now, chance), last_attempt_at: now })
          .where('partner_id', '=', partnerId)
          .where('id', '=', delivery.id)
          // A worker that took longer than its claim must not write over another one's outcome.
          .where('status', '=', 'pending')
          .where('claimed_by', '=', worker)
          .where('claimed_until', '=', until)
          .returningAll()
          .executeTakeFirst();
        if (row === undefined) return undefined;
        const endpoint = trx
          .updateTable('webhook_endpoints')
          .where('partner_id', '=', partnerId)
          .where('id', '=', delivery.endpointId);
        if (outcome.kind === 'delivered') {
          await endpoint.set({ failing_since: null }).where('failing_since', 'is not', null).execute();
        } else {
          await endpoint.set({ failing_since: now }).where('failing_since', 'is', null).execute();
        }
        return fromRow(row);
      }),

    async nextDueAt() {
      const row = await db.reader
        .selectFrom('deliveries')
        .select(['next_attempt_at', 'claimed_until'])
        .where('status', '=', 'pending')
        .orderBy((is) =>
          is
            .case()
            .when('claimed_until', '>', is.ref('next_attempt_at'))
            .then(is.ref('claimed_until'))
            .else(is.ref('next_attempt_at'))
            .end(),
        )
        .limit(1)
        .executeTakeFirst();
      return row === undefined ? undefined : Math.max(row.next_attempt_at, row.claimed_until ?? 0);
    },

    async get(partnerId, id) {
      const row = await db.reader
        .selectFrom('deliveries')
        .selectAll()
        .where('partner_id', '=', partnerId)
        .where('id', '=', id)
        .executeTakeFirst();
      return row === undefined ? undefined : fromRow(row);
    },

    async list(partnerId, endpointId, { limit, before }) {
      const rows = await db.reader
        .selectFrom('deliveries')
        .selectAll()
        .where('partner_id', '=', partnerId)
        .where('endpoint_id', '=', endpointId)
        .$if(before !== undefined, (query) => query.where('id', '<', before ?? ''))
        .orderBy('id', 'desc')
        .limit(limit + 1)
        .execute();
      return pageOf(rows, limit, fromRow);
    },

    retry: async (partnerId, endpointId, id, actor) =>
      await db.writeAlone(partnerId, async (trx) => {
        const row = await trx
          .updateTable('deliveries')
          .set({
            status: 'pending',
            attempts: 0,
            next_attempt_at: db.now(),
            claimed_by: null,
            claimed_until: null,
          })
          .where('partner_id', '=', partnerId)
          .where('endpoint_id', '=', endpointId)
          .where('id', '=', id)
          .returningAll()
          .executeTakeFirst();
        if (row === undefined) return undefined;
        await recordChange(db, trx, partnerId, actor, {
          action: 'delivery.retried',
          target: id,
          before: null,
          after: { webhook_id: endpointId, event_id: row.event_id },
        });
        return fromRow(row);
      }),
  };
}

function after(
  attempts: number,
  outcome: AttemptOutcome,
  now: number,
  chance: () => number,
): Partial<DeliveryTable> {
  const free = { attempts, claimed_by: null, claimed_until: null, last_status: outcome.status };
  if (outcome.kind === 'delivered') return { ...free, status: 'succeeded', last_error: null };
  const told = { ...free, last_error: outcome.error.slice(0, LONGEST_ERROR) };
  const next =
    outcome.kind === 'failed' ? nextAttemptAt(attempts, now, outcome.retryAfterMs ?? null, chance()) : null;
  return next === null ? { ...told, status: 'failed' } : { ...told, next_attempt_at: next };
}

function fromRow(row: DeliveryTable): Delivery {
  return {
    id: row.id,
    endpointId: row.endpoint_id,
    eventId: row.event_id,
    status: row.status,
    attempts: row.attempts,
    nextAttemptAt: row.status === 'pending' ? row.next_attempt_at : null,
    lastStatus: row.last_status,
    lastError: row.last_error,
    lastAttemptAt: row.last_attempt_at,
    createdAt: row.created_at,
  };
}
