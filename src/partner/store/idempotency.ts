/** Stores the responses to requests with an `Idempotency-Key`, so that a repeated request has no second effect. */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { stillRunning } from '../../api/framework/idempotency.ts';
import { IDEMPOTENCY_MS, type IdempotencyVerdict, type KeptResponse } from '../../db/idempotency.ts';
import type { StoreDatabase, StoreTransaction } from './database.ts';
import type { IdempotencyTable } from './schema.ts';

/** A key is valid for one partner and one route. */
export interface PartnerIdempotencyKey {
  readonly partnerId: string;
  readonly key: string;
  /** Method and path, such as `POST /customers`. */
  readonly route: string;
}

/** A request that runs under a key; passed to `finish` or `abandon`. */
export interface RunningKey extends PartnerIdempotencyKey {
  readonly owner: string;
  /**
   * Id of what an earlier request with the key created or changed before its instance was killed without answering.
   * That must not be done again. Null when there is nothing.
   */
  readonly effect: string | null;
}

export type PartnerIdempotencyVerdict =
  | Exclude<IdempotencyVerdict, { readonly kind: 'new' }>
  /** The caller handles the request, and ends with `finish` or `abandon`. */
  | { readonly kind: 'new'; readonly running: RunningKey };

export interface PartnerIdempotencyStore {
  /** Begins a request. Among concurrent requests with the same key, in any instances, only one is `new`. */
  begin(key: PartnerIdempotencyKey, requestHash: string): Promise<PartnerIdempotencyVerdict>;
  finish(running: RunningKey, response: KeptResponse): Promise<void>;
  /** Ends a request without a response to keep. The key may be used again, but a noted effect is not repeated. */
  abandon(running: RunningKey): Promise<void>;
  /** Removes keys that are older than a day. */
  prune(): Promise<void>;
}

/**
 * How long a request may run. The key of a request whose instance was killed stays taken for this long. The service
 * ends requests earlier.
 */
export const RUNNING_MS = 60_000;

export function createPartnerIdempotencyStore(db: StoreDatabase): PartnerIdempotencyStore {
  return {
    begin: async ({ partnerId, key, route }, requestHash) =>
      await db.write(async (trx) => {
        const now = db.now();
        const forgottenMs = now - IDEMPOTENCY_MS;
        const begun: Omit<IdempotencyTable, 'partner_id' | 'route' | 'key' | 'effect'> = {
          request_hash: requestHash,
          begun_at: now,
          owner: randomUUID(),
          running_until: now + RUNNING_MS,
          status: null,
          headers: null,
          body: null,
        };
        const taken = await trx
          .insertInto('idempotency')
          .values({ partner_id: partnerId, route, key, ...begun })
          .onConflict((conflict) =>
            conflict
              .columns(['partner_id', 'route', 'key'])
              .doUpdateSet({
                ...begun,
                effect: sql`CASE WHEN idempotency.begun_at <= ${forgottenMs} THEN NULL ELSE idempotency.effect END`,
              })
              .where((is) =>
                is.or([
                  is('idempotency.begun_at', '<=', forgottenMs),
                  is.and([
                    is('idempotency.status', 'is', null),
                    is('idempotency.running_until', '<=', now),
                    is('idempotency.request_hash', '=', requestHash),
                  ]),
                ]),
              ),
          )
          .returning('effect')
          .executeTakeFirst();
        if (taken !== undefined)
          return { kind: 'new', running: { partnerId, key, route, owner: begun.owner, ...taken } };
        const row = await trx
          .selectFrom('idempotency')
          .selectAll()
          .where('partner_id', '=', partnerId)
          .where('route', '=', route)
          .where('key', '=', key)
          .executeTakeFirstOrThrow();
        return verdictOf(row, requestHash);
      }),

    finish: async (running, { status, headers, body }) => {
      await db.write(async (trx) => {
        await change(trx, running)
          .set({ status, headers: JSON.stringify(headers), body })
          .execute();
      });
    },

    abandon: async (running) => {
      await db.write(async (trx) => {
        await change(trx, running).set({ running_until: db.now() }).execute();
        await trx
          .deleteFrom('idempotency')
          .where('partner_id', '=', running.partnerId)
          .where('route', '=', running.route)
          .where('key', '=', running.key)
          .where('owner', '=', running.owner)
          .where('effect', 'is', null)
          .execute();
      });
    },

    prune: async () => {
      await db.write(async (trx) => {
        await trx
          .deleteFrom('idempotency')
          .where('begun_at', '<=', db.now() - IDEMPOTENCY_MS)
          .execute();
      });
    },
  };
}

/**
 * Stores what a change created or changed in the transaction of the change. If the instance is killed right after it, a
 * repeated request is answered with that effect.
 * @throws {ApiError} IDEMPOTENCY_IN_PROGRESS when the request took so long that another one has its key
 */
export async function noteEffect(
  trx: StoreTransaction,
  running: RunningKey | undefined,
  id: string,
): Promise<void> {
  if (running === undefined) return;
  const { numUpdatedRows } = await change(trx, running).set({ effect: id }).executeTakeFirst();
  if (numUpdatedRows === 0n) throw stillRunning();
}

/** Matches only while the request still owns the key: a request that lost its key must not change anything. */
function change(trx: StoreTransaction, { partnerId, key, route, owner }: RunningKey) {
  return trx
    .updateTable('idempotency')
    .where('partner_id', '=', partnerId)
    .where('route', '=', route)
    .where('key', '=', key)
    .where('owner', '=', owner);
}

function verdictOf(row: IdempotencyTable, requestHash: string): PartnerIdempotencyVerdict {
  if (row.request_hash !== requestHash) return { kind: 'reused' };
  if (row.status === null) return { kind: 'running' };
  const headers = JSON.parse(row.headers ?? '{}') as Record<string, string>;
  return { kind: 'done', response: { status: row.status, headers, body: row.body ?? '' } };
}
