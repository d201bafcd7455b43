/** What was answered to requests that carry an `Idempotency-Key`, so that a repeated one has no second effect. */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { stillRunning } from '../../api/framework/idempotency.ts';
import { IDEMPOTENCY_MS, type IdempotencyVerdict, type KeptResponse } from '../../db/idempotency.ts';
import type { StoreDatabase, StoreTransaction } from './database.ts';
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
  /**
   * Id of what was made or changed by an earlier request with the key, whose instance was killed before it could answer.
   * That must not be done again. Null when there was none.
   */
  readonly effect: string | null;
}

export type PartnerIdempotencyVerdict =
  | Exclude<IdempotencyVerdict, { readonly kind: 'new' }>
  /** The caller goes on, and ends with `finish` or `abandon`. */
  | { readonly kind: 'new'; readonly running: RunningKey };

export interface PartnerIdempotencyStore {
  /** Of several at once, in whatever instance, one is new. */
  begin(key: PartnerIdempotencyKey, requestHash: string): Promise<PartnerIdempotencyVerdict>;
  finish(running: RunningKey, response: KeptResponse): Promise<void>;
  /** There is no response to keep: the key may be used again, and what had an effect has none a second time. */
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
 * Notes in the transaction of a change what it made or changed, so that the two are stored together: an instance that is
 * killed right after it has not answered, and whoever repeats the request is told of it.
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

/** Whoever lost the key to another one changes nothing. */
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
