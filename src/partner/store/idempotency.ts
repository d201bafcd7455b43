/** What was answered to requests that carry an `Idempotency-Key`, so that a repeated one has no second effect. */
import { randomUUID } from 'node:crypto';
import { IDEMPOTENCY_MS, type IdempotencyVerdict, type KeptResponse } from '../../db/idempotency.ts';
import type { StoreDatabase } from './database.ts';
import type { IdempotencyTable } from './schema.ts';

/** A key counts for one partner and one route. */
export interface PartnerIdempotencyKey {
  readonly partnerId: string;
  readonly key: string;
  /** Method and path, as `POST /customers`. */
  readonly route: string;
}

/** A request that runs under a key: what `finish` and `abandon` need. */
export interface RunningKey extends PartnerIdempotencyKey {
  readonly owner: string;
}

export type PartnerIdempotencyVerdict =
  | Exclude<IdempotencyVerdict, { readonly kind: 'new' }>
  /** The caller goes on, and ends with `finish` or `abandon`. */
  | { readonly kind: 'new'; readonly running: RunningKey };

export interface PartnerIdempotencyStore {
  /** Of several at once, in whatever instance, one is new. */
  begin(key: PartnerIdempotencyKey, requestHash: string): Promise<PartnerIdempotencyVerdict>;
  finish(running: RunningKey, response: KeptResponse): Promise<void>;
  /** The request had no effect: the key may be used again. */
  abandon(running: RunningKey): Promise<void>;
  /** Forgets what is older than a day. */
  prune(): Promise<void>;
}

/**
 * How long a request may run. One that was never answered, as its instance was killed, keeps its key for so long; the
 * service ends requests before.
 */
export const RUNNING_MS = 60_000;

export function createPartnerIdempotencyStore(db: StoreDatabase): PartnerIdempotencyStore {
  return {
    begin: async ({ partnerId, key, route }, requestHash) =>
      await db.write(async (trx) => {
        const now = db.now();
        const begun: Omit<IdempotencyTable, 'partner_id' | 'route' | 'key'> = {
          request_hash: requestHash,
          begun_at: now,
          owner: randomUUID(),
          running_until: now + RUNNING_MS,
          status: null,
          headers: null,
          body: null,
        };
        const { numInsertedOrUpdatedRows } = await trx
          .insertInto('idempotency')
          .values({ partner_id: partnerId, route, key, ...begun })
          .onConflict((conflict) =>
            conflict
              .columns(['partner_id', 'route', 'key'])
              .doUpdateSet(begun)
              .where((is) =>
                is.or([
                  is('idempotency.begun_at', '<=', now - IDEMPOTENCY_MS),
                  is.and([
                    is('idempotency.status', 'is', null),
                    is('idempotency.running_until', '<=', now),
                    is('idempotency.request_hash', '=', requestHash),
                  ]),
                ]),
              ),
          )
          .executeTakeFirstOrThrow();
        if ((numInsertedOrUpdatedRows ?? 0n) > 0n)
          return { kind: 'new', running: { partnerId, key, route, owner: begun.owner } };
        const row = await trx
          .selectFrom('idempotency')
          .selectAll()
          .where('partner_id', '=', partnerId)
          .where('route', '=', route)
          .where('key', '=', key)
          .executeTakeFirstOrThrow();
        return verdictOf(row, requestHash);
      }),

    finish: async ({ partnerId, key, route, owner }, { status, headers, body }) => {
      await db.write(async (trx) => {
        await trx
          .updateTable('idempotency')
          .set({ status, headers: JSON.stringify(headers), body })
          .where('partner_id', '=', partnerId)
          .where('route', '=', route)
          .where('key', '=', key)
          .where('owner', '=', owner)
          .execute();
      });
    },

    abandon: async ({ partnerId, key, route, owner }) => {
      await db.write(async (trx) => {
        await trx
          .deleteFrom('idempotency')
          .where('partner_id', '=', partnerId)
          .where('route', '=', route)
          .where('key', '=', key)
          .where('owner', '=', owner)
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

function verdictOf(row: IdempotencyTable, requestHash: string): PartnerIdempotencyVerdict {
  if (row.request_hash !== requestHash) return { kind: 'reused' };
  if (row.status === null) return { kind: 'running' };
  const headers = JSON.parse(row.headers ?? '{}') as Record<string, string>;
  return { kind: 'done', response: { status: row.status, headers, body: row.body ?? '' } };
}
