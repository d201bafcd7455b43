/**
 * Stores the API keys of partners. A partner has at most one active key. The full secret leaves this module once, when
 * it is made, and is stored as a keyed hash.
 */
import { ApiError } from '../../api/wire/api-error.ts';
import { newSecretText } from '../../api/access/secret-text.ts';
import { recordChange, type Actor } from './audit-log.ts';
import { isTaken, type StoreDatabase, type StoreTransaction } from './database.ts';
import { appendEvent } from './events.ts';
import type { KeyedHash } from './keyed-hash.ts';
import type { ApiKeyTable, PartnerTable } from './schema.ts';

export interface ApiKey {
  readonly id: string;
  readonly partnerId: string;
  readonly name: string;
  /** The first 10 characters of the secret. */
  readonly prefix: string;
  readonly createdAt: number;
  /** Accurate to the minute. */
  readonly lastUsedAt: number | null;
}

export interface NewApiKey {
  readonly key: ApiKey;
  /** Shown once and not stored. */
  readonly secret: string;
}

export interface LatestApiKey {
  readonly key: ApiKey;
  /** Null when the key is active. */
  readonly revokedAt: number | null;
}

export interface ApiKeyStore {
  /** @throws {ApiError} API_KEY_EXISTS when one is active */
  generate(partnerId: string, name: string, actor: Actor): Promise<NewApiKey>;
  /** Replaces the active key, whose secret becomes invalid at once; undefined when no key is active. */
  regenerate(partnerId: string, actor: Actor): Promise<NewApiKey | undefined>;
  /** False when no key is active. */
  revoke(partnerId: string, actor: Actor): Promise<boolean>;
  active(partnerId: string): Promise<ApiKey | undefined>;
  /** The active key, or the one that was revoked last; undefined when there never was a key. */
  latest(partnerId: string): Promise<LatestApiKey | undefined>;
  /** The key and the status of its partner; undefined for a secret that is unknown, replaced or revoked. */
  verify(
    secret: string,
  ): Promise<{ readonly key: ApiKey; readonly partnerStatus: PartnerTable['status'] } | undefined>;
  /** Notes the use of the key, unless one was noted within the last minute. */
  touch(key: ApiKey): Promise<void>;
}

/** Precision of the time of last use, since it is not worth a write for every request. */
const LAST_USED_STEP_MS = 60_000;
const PREFIX_LENGTH = 10;

export function createApiKeyStore(db: StoreDatabase, hash: KeyedHash): ApiKeyStore {
  const insert = async (trx: StoreTransaction, partnerId: string, name: string): Promise<NewApiKey> => {
    const secret = newSecretText('hfp_');
    const row: ApiKeyTable = {
      id: db.newId('key'),
      partner_id: partnerId,
      name,
      prefix: secret.slice(0, PREFIX_LENGTH),
      hash: hash('api key', secret),
      created_at: db.now(),
      last_used_at: null,
      revoked_at: null,
    };
    await trx.insertInto('api_keys').values(row).execute();
    return { key: fromRow(row), secret };
  };
  /** Revokes the active key. */
  const end = async (trx: StoreTransaction, partnerId: string): Promise<ApiKey | undefined> => {
    const row = await trx
      .updateTable('api_keys')
      .set({ revoked_at: db.now() })
      .where('partner_id', '=', partnerId)
      .where('revoked_at', 'is', null)
      .returningAll()
      .executeTakeFirst();
    return row === undefined ? undefined : fromRow(row);
  };

  return {
    generate: async (partnerId, name, actor) => {
      try {
        return await db.writeAlone(partnerId, async (trx) => {
          const made = await insert(trx, partnerId, name);
          await recordChange(db, trx, partnerId, actor, {
            action: 'api_key.generated',
            target: made.key.id,
            before: null,
            after: shown(made.key),
          });
          return made;
        });
      } catch (error) {
        if (!isTaken(error)) throw error;
        throw new ApiError('API_KEY_EXISTS', 'There is already an active API key', {
          hint: 'Regenerate it, or revoke it first.',
          cause: error,
        });
      }
    },

    regenerate: async (partnerId, actor) =>
      await db.writeAlone(partnerId, async (trx) => {
        const old = await end(trx, partnerId);
        if (old === undefined) return undefined;
        const made = await insert(trx, partnerId, old.name);
        await recordChange(db, trx, partnerId, actor, {
          action: 'api_key.regenerated',
          target: made.key.id,
          before: shown(old),
          after: shown(made.key),
        });
        await appendEvent(db, trx, partnerId, { kind: 'api_key.regenerated', data: shown(made.key) });
        return made;
      }),

    revoke: async (partnerId, actor) =>
      await db.writeAlone(partnerId, async (trx) => {
        const old = await end(trx, partnerId);
        if (old === undefined) return false;
        await recordChange(db, trx, partnerId, actor, {
          action: 'api_key.revoked',
          target: old.id,
          before: shown(old),
          after: null,
        });
        await appendEvent(db, trx, partnerId, { kind: 'api_key.revoked', data: shown(old) });
        return true;
      }),

    async active(partnerId) {
      const row = await db.reader
        .selectFrom('api_keys')
        .selectAll()
        .where('partner_id', '=', partnerId)
        .where('revoked_at', 'is', null)
        .executeTakeFirst();
      return row === undefined ? undefined : fromRow(row);
    },

    async latest(partnerId) {
      const row = await db.reader
        .selectFrom('api_keys')
        .selectAll()
        .where('partner_id', '=', partnerId)
        .orderBy('revoked_at', (order) => order.desc().nullsFirst())
        .orderBy('id', 'desc')
        .limit(1)
        .executeTakeFirst();
      return row === undefined ? undefined : { key: fromRow(row), revokedAt: row.revoked_at };
    },

    async verify(secret) {
      const row = await db.reader
        .selectFrom('api_keys')
        .innerJoin('partners', 'partners.id', 'api_keys.partner_id')
        .selectAll('api_keys')
        .select('partners.status as partner_status')
        .where('api_keys.hash', '=', hash('api key', secret))
        .where('api_keys.revoked_at', 'is', null)
        .executeTakeFirst();
      return row === undefined ? undefined : { key: fromRow(row), partnerStatus: row.partner_status };
    },

    async touch({ id, partnerId, lastUsedAt }) {
      const now = db.now();
      if (lastUsedAt !== null && lastUsedAt > now - LAST_USED_STEP_MS) return;
      await db.relaxed(async (trx) => {
        await trx
          .updateTable('api_keys')
          .set({ last_used_at: now })
          .where('partner_id', '=', partnerId)
          .where('id', '=', id)
          .where((is) =>
            is.or([is('last_used_at', 'is', null), is('last_used_at', '<=', now - LAST_USED_STEP_MS)]),
          )
          .execute();
      });
    },
  };
}

/** The fields of a key in audit records and events. */
function shown({ id, name, prefix }: ApiKey): Readonly<Record<string, unknown>> {
  return { api_key_id: id, name, prefix };
}

function fromRow(row: ApiKeyTable): ApiKey {
  return {
    id: row.id,
    partnerId: row.partner_id,
    name: row.name,
    prefix: row.prefix,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
  };
}
