/**
 * The queue of webhook deliveries. A worker claims a delivery for a limited time. If the worker dies, the claim expires
 * and another worker sends the delivery again with the same id, by which the receiver recognises a repetition. So
 * nothing is lost.
 */
import type { ExpressionBuilder } from 'kysely';
import { isTriedForLong, nextAttemptAt, pauseOf } from './delivery-schedule.ts';
import { recordChange, type Actor } from './audit-log.ts';
import { skipLocked, type StoreDatabase, type StoreTransaction } from './database.ts';
import { deliveryRows, readDelivery, shownDelivery, type Delivery } from './delivery-view.ts';
import { noteEffect } from './idempotency.ts';
import { pageOf, type Page, type PageRequest } from './page.ts';
import type { DeliveryTable, Tables } from './schema.ts';
import { disableByService } from './webhook-disabling.ts';

/** The right to make the next attempt, until `until`. */
export interface DeliveryClaim {
  readonly partnerId: string;
  readonly delivery: Delivery;
  readonly worker: string;
  readonly until: number;
  /** Time of the first attempt of this delivery since it was created or last retried; null before it. */
  readonly firstAttemptAt: number | null;
}

/** An endpoint with a due delivery. */
export interface DueEndpoint {
  readonly partnerId: string;
  readonly endpointId: string;
  /** Whether the latest attempts to the endpoint failed. */
  readonly isFailing: boolean;
  /**
   * Whether the endpoint asked for silence, which has ended, and nothing has succeeded since. A single attempt then
   * finds out whether it accepts deliveries again.
   */
  readonly isTrial: boolean;
}

export interface ClaimRequest extends Pick<DueEndpoint, 'partnerId' | 'endpointId'> {
  /** A name that no other worker has. */
  readonly worker: string;
  readonly limit: number;
  /** Duration of the claim; longer than an attempt may take. */
  readonly leaseMs: number;
}

export type AttemptOutcome =
  | { readonly kind: 'delivered'; readonly status: number }
  | {
      readonly kind: 'failed';
      readonly status: number | null;
      readonly error: string;
      /** Least time that the receiver asked for before the next attempt. */
      readonly retryAfterMs?: number | null;
      /** Time for which the receiver wants no deliveries at all. The attempt does not count, and the endpoint is paused. */
      readonly silenceMs?: number | null;
    }
  /** The receiver wants no further deliveries: the endpoint is disabled. */
  | { readonly kind: 'gone'; readonly status: 410 };

export interface DeliveryStore {
  /** Endpoints with an unclaimed due delivery. Costs one index look-up when there are none. */
  dueEndpoints(): Promise<readonly DueEndpoint[]>;
  /** Claims due deliveries to one endpoint that no other worker has, the longest due first. */
  claim(request: ClaimRequest): Promise<readonly DeliveryClaim[]>;
  /**
   * Stores the outcome of the attempt and the time of the next one. Disables an endpoint that wants no further
   * deliveries, or that has failed for as long as this delivery was tried. Returns undefined and stores nothing when
   * the claim has expired, so that another worker may have the delivery, or when the delivery was removed.
   */
  finish(claim: DeliveryClaim, outcome: AttemptOutcome): Promise<Delivery | undefined>;
  /**
   * Gives up the claim of an attempt that was not made or was cut off. It does not count, and any worker may make it
   * after `pauseMs`.
   */
  giveBack(claim: DeliveryClaim, pauseMs: number): Promise<void>;
  get(partnerId: string, id: string): Promise<Delivery | undefined>;
  /** Newest first. */
  list(
    partnerId: string,
    endpointId: string,
    request: PageRequest & { readonly status?: Delivery['status'] | undefined },
  ): Promise<Page<Delivery>>;
  /** Queues the delivery again, with a full set of attempts. Undefined when the endpoint has no such delivery. */
  retry(partnerId: string, endpointId: string, id: string, actor: Actor): Promise<Delivery | undefined>;
}

const LONGEST_ERROR = 500;

/** @param chance returns a number from 0 to just below 1, for the pauses between attempts */
export function createDeliveryStore(db: StoreDatabase, chance: () => number): DeliveryStore {
  return {
    async dueEndpoints() {
      const now = db.now();
      const isAnyDue = isDueAt(now);
      const any = await db.reader.selectFrom('deliveries').select('id').where(isAnyDue).limit(1).execute();
      if (any.length === 0) return [];
      const rows = await db.reader
        .selectFrom('webhook_endpoints')
        .select([
          'webhook_endpoints.id as endpointId',
          'webhook_endpoints.partner_id as partnerId',
          'webhook_endpoints.failing_since as failingSince',
          'webhook_endpoints.silent_until as silentUntil',
        ])
        .where('webhook_endpoints.deleted_at', 'is', null)
        .where((is) =>
          is.exists(
            is
              .selectFrom('deliveries')
              .select('deliveries.id')
              .whereRef('deliveries.endpoint_id', '=', 'webhook_endpoints.id')
              .where(isAnyDue),
          ),
        )
        .where(isHearingAt(now))
        .execute();
      return rows.map(({ failingSince, silentUntil, ...due }) => ({
        ...due,
        isFailing: failingSince !== null,
        isTrial: silentUntil !== null,
      }));
    },

    claim: async ({ worker, partnerId, endpointId, limit, leaseMs }) =>
      await db.write(async (trx) => {
        const now = db.now();
        const until = now + leaseMs;
        const due = await trx
          .selectFrom('deliveries')
          .select('id')
          .where('partner_id', '=', partnerId)
          .where('endpoint_id', '=', endpointId)
          .where(isDueAt(now))
          .where(isOfHearingEndpoint(now))
          .orderBy('next_attempt_at')
          .orderBy('id')
          .limit(limit)
          .$call(skipLocked(db))
          .execute();
        if (due.length === 0) return [];
        const ids = due.map(({ id }) => id);
        await trx
          .updateTable('deliveries')
          .set({ claimed_by: worker, claimed_until: until })
          .where('partner_id', '=', partnerId)
          .where('id', 'in', ids)
          .execute();
        const rows = await deliveryRows(trx, partnerId)
          .where('deliveries.id', 'in', ids)
          .orderBy('next_attempt_at')
          .orderBy('deliveries.id')
          .execute();
        return rows.map((row) => ({
          partnerId,
          delivery: shownDelivery(row),
          worker,
          until,
          firstAttemptAt: row.first_attempt_at,
        }));
      }),

    finish: async (claim, outcome) =>
      await db.write(async (trx) => {
        const now = db.now();
        const row = await claimed(trx, claim)
          .set(after(claim, outcome, now, chance))
          .set((is) => ({
            last_attempt_at: now,
            first_attempt_at: is.fn.coalesce('first_attempt_at', is.val(now)),
          }))
          .returningAll()
          .executeTakeFirst();
        if (row === undefined) return undefined;
        await noteAtEndpoint(db, trx, row, outcome, now);
        return await readDelivery(trx, claim.partnerId, row.id);
      }),

    giveBack: async (claim, pauseMs) =>
      await db.write(async (trx) => {
        await claimed(trx, claim)
          .set({ claimed_by: null, claimed_until: null, next_attempt_at: db.now() + pauseMs })
          .execute();
      }),

    get: async (partnerId, id) => await readDelivery(db.reader, partnerId, id),

    async list(partnerId, endpointId, { limit, before, status }) {
      const rows = await deliveryRows(db.reader, partnerId)
        .where('deliveries.endpoint_id', '=', endpointId)
        .$if(before !== undefined, (query) => query.where('deliveries.id', '<', before ?? ''))
        .$if(status !== undefined, (query) => query.where('deliveries.status', '=', status ?? 'pending'))
        .orderBy('deliveries.id', 'desc')
        .limit(limit + 1)
        .execute();
      return pageOf(rows, limit, shownDelivery);
    },

    retry: async (partnerId, endpointId, id, actor) =>
      await db.writeAlone(partnerId, async (trx) => {
        const row = await trx
          .updateTable('deliveries')
          .set({
            status: 'pending',
            attempts: 0,
            first_attempt_at: null,
            next_attempt_at: db.now(),
            claimed_by: null,
            claimed_until: null,
          })
          .where('partner_id', '=', partnerId)
          .where('endpoint_id', '=', endpointId)
          .where('id', '=', id)
          .where(isOfLivingEndpoint)
          .returningAll()
          .executeTakeFirst();
        if (row === undefined) return undefined;
        // A manual retry suggests that the endpoint accepts deliveries again. Ending the silence makes single
        // deliveries find out.
        await trx
          .updateTable('webhook_endpoints')
          .set({ silent_until: db.now() })
          .where('partner_id', '=', partnerId)
          .where('id', '=', endpointId)
          .where('silent_until', '>', db.now())
          .execute();
        await recordChange(db, trx, partnerId, actor, {
          action: 'delivery.retried',
          target: id,
          before: null,
          after: { webhook_id: endpointId, event_id: row.event_id },
        });
        await noteEffect(trx, actor.running, id);
        db.noteDue(trx);
        return await readDelivery(trx, partnerId, id);
      }),
  };
}

/** Matches deliveries that are due and unclaimed. */
export function isDueAt(now: number) {
  return (is: ExpressionBuilder<Tables, 'deliveries'>) =>
    is.and([
      is('deliveries.status', '=', 'pending'),
      is('deliveries.next_attempt_at', '<=', now),
      is.or([is('deliveries.claimed_until', 'is', null), is('deliveries.claimed_until', '<=', now)]),
    ]);
}

/**
 * Matches the delivery only while the claim is current: a worker that took too long must not overwrite the outcome of
 * another one.
 */
function claimed(trx: StoreTransaction, { partnerId, delivery, worker, until }: DeliveryClaim) {
  return trx
    .updateTable('deliveries')
    .where('partner_id', '=', partnerId)
    .where('id', '=', delivery.id)
    .where('status', '=', 'pending')
    .where('claimed_by', '=', worker)
    .where('claimed_until', '=', until)
    .where(isOfLivingEndpoint);
}

function isOfLivingEndpoint(is: ExpressionBuilder<Tables, 'deliveries'>) {
  return is.exists(
    is
      .selectFrom('webhook_endpoints')
      .select('webhook_endpoints.id')
      .whereRef('webhook_endpoints.id', '=', 'deliveries.endpoint_id')
      .where('webhook_endpoints.deleted_at', 'is', null),
  );
}

/** Matches endpoints that have not asked for silence, or whose silence has ended. */
function isHearingAt(now: number) {
  return (is: ExpressionBuilder<Tables, 'webhook_endpoints'>) =>
    is.or([
      is('webhook_endpoints.silent_until', 'is', null),
      is('webhook_endpoints.silent_until', '<=', now),
    ]);
}

function isOfHearingEndpoint(now: number) {
  return (is: ExpressionBuilder<Tables, 'deliveries'>) =>
    is.exists(
      is
        .selectFrom('webhook_endpoints')
        .select('webhook_endpoints.id')
        .whereRef('webhook_endpoints.id', '=', 'deliveries.endpoint_id')
        .where(isHearingAt(now)),
    );
}

function after(
  { delivery, firstAttemptAt }: DeliveryClaim,
  outcome: AttemptOutcome,
  now: number,
  chance: () => number,
): Partial<DeliveryTable> {
  const attempts = delivery.attempts + 1;
  const free = { attempts, claimed_by: null, claimed_until: null, last_status: outcome.status };
  switch (outcome.kind) {
    case 'delivered':
      return { ...free, status: 'succeeded', last_error: null };
    case 'gone':
      return {
        ...free,
        status: 'failed',
        last_error: 'The receiver wants no more messages: it answered with 410',
      };
    case 'failed': {
      const told = { ...free, last_error: outcome.error.slice(0, LONGEST_ERROR) };
      const silence = outcome.silenceMs ?? null;
      if (silence !== null) {
        const pauseMs = pauseOf(silence, chance());
        return isTriedForLong(firstAttemptAt ?? now, now)
          ? { ...told, status: 'failed' }
          : { ...told, attempts: delivery.attempts, next_attempt_at: now + pauseMs };
      }
      const next = nextAttemptAt(attempts, now, outcome.retryAfterMs ?? null, chance());
      return next === null ? { ...told, status: 'failed' } : { ...told, next_attempt_at: next };
    }
  }
}

/**
 * Notes at the endpoint since when it has been failing, and disables it if necessary.
 * @param now the same time that the delivery got for this attempt. The two are compared: with two readings of the
 * clock, the endpoint would seem to begin failing after the failed attempt.
 */
async function noteAtEndpoint(
  db: StoreDatabase,
  trx: StoreTransaction,
  { partner_id: partnerId, endpoint_id: id, status, first_attempt_at: firstAttemptAt }: DeliveryTable,
  outcome: AttemptOutcome,
  now: number,
): Promise<void> {
  const endpoint = trx
    .updateTable('webhook_endpoints')
    .where('partner_id', '=', partnerId)
    .where('id', '=', id);
  const { kind } = outcome;
  if (kind === 'delivered') {
    await endpoint.set({ failing_since: null }).where('failing_since', 'is not', null).execute();
    // Keeps a later silence, for which another delivery was asked meanwhile.
    await endpoint.set({ silent_until: null }).where('silent_until', '<=', now).execute();
    return;
  }
  const silence = kind === 'failed' ? (outcome.silenceMs ?? null) : null;
  if (silence !== null) {
    const until = now + pauseOf(silence, 0);
    await endpoint
      .set({ silent_until: until })
      .where((is) => is.or([is('silent_until', 'is', null), is('silent_until', '<', until)]))
      .execute();
  }
  await endpoint.set({ failing_since: now }).where('failing_since', 'is', null).execute();
  if (kind === 'gone') return await disableByService(db, trx, partnerId, id, 'gone');
  if (status !== 'failed') return;
  const { failing_since: since } = await trx
    .selectFrom('webhook_endpoints')
    .select('failing_since')
    .where('partner_id', '=', partnerId)
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  if (since !== null && firstAttemptAt !== null && since <= firstAttemptAt)
    await disableByService(db, trx, partnerId, id, 'failing');
}
