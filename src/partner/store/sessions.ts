/** Sessions of the settings page. Their secrets are known by a keyed hash alone. */
import { randomBytes } from 'node:crypto';
import { recordChange, type Actor } from './audit-log.ts';
import type { StoreDatabase } from './database.ts';
import type { KeyedHash } from './keyed-hash.ts';
import type { SessionTable } from './schema.ts';

export interface Session {
  readonly partnerId: string;
  readonly createdAt: number;
  readonly lastSeenAt: number;
  readonly expiresAt: number;
  readonly ip: string | null;
}

export interface NewSession {
  /** For the cookie. */
  readonly token: string;
  readonly session: Session;
}

export interface KnownSession {
  readonly session: Session;
  /** Whether it is the one that asks. */
  readonly isThis: boolean;
}

export interface SessionStore {
  /** Who signs in. */
  create(partnerId: string, actor: Actor): Promise<NewSession>;
  /** Undefined for one that is unknown, ended, too old or long unused. Being found keeps it in use. */
  find(token: string): Promise<Session | undefined>;
  /** Signs out. */
  remove(token: string): Promise<void>;
  /** Those that have not ended, the newest first. `token`: of the one that asks. */
  list(partnerId: string, token: string): Promise<readonly KnownSession[]>;
  /** Signs out everywhere, because somebody asked for it. */
  endAll(partnerId: string, actor: Actor): Promise<void>;
  /** Signs out everywhere, as after a changed password, which has a record of its own; `but` stays. */
  removeAll(partnerId: string, but?: string): Promise<void>;
  /** Forgets those that have ended. */
  prune(): Promise<void>;
}

/** From signing in, whatever happens. */
export const SESSION_MS = 12 * 3_600_000;
/** Unused for so long it ends. */
export const SESSION_IDLE_MS = 2 * 3_600_000;
/** How exactly its last use is known. */
const SEEN_STEP_MS = 60_000;

export function createSessionStore(db: StoreDatabase, hash: KeyedHash): SessionStore {
  return {
    create: async (partnerId, actor) =>
      await db.write(async (trx) => {
        const token = randomBytes(32).toString('base64url');
        const now = db.now();
        const session = {
          partnerId,
          createdAt: now,
          lastSeenAt: now,
          expiresAt: now + SESSION_MS,
          ip: actor.ip,
        };
        await trx
          .insertInto('sessions')
          .values({
            hash: hash('session', token),
            partner_id: partnerId,
            created_at: now,
            last_seen_at: now,
            expires_at: session.expiresAt,
            ip: actor.ip,
          })
          .execute();
        await recordChange(db, trx, partnerId, actor, {
          action: 'session.created',
          target: partnerId,
          before: null,
          after: null,
        });
        return { token, session };
      }),

    async find(token) {
      const now = db.now();
      const id = hash('session', token);
      const row = await db.reader
        .selectFrom('sessions')
        .selectAll()
        .where('hash', '=', id)
        .where('expires_at', '>', now)
        .where('last_seen_at', '>', now - SESSION_IDLE_MS)
        .executeTakeFirst();
      if (row === undefined) return undefined;
      if (row.last_seen_at <= now - SEEN_STEP_MS) {
        await db.relaxed(async (trx) => {
          await trx.updateTable('sessions').set({ last_seen_at: now }).where('hash', '=', id).execute();
        });
      }
      return fromRow(row);
    },

    async list(partnerId, token) {
      const now = db.now();
      const rows = await db.reader
        .selectFrom('sessions')
        .selectAll()
        .where('partner_id', '=', partnerId)
        .where('expires_at', '>', now)
        .where('last_seen_at', '>', now - SESSION_IDLE_MS)
        .orderBy('created_at', 'desc')
        .execute();
      const own = hash('session', token);
      return rows.map((row) => ({ session: fromRow(row), isThis: row.hash === own }));
    },

    remove: async (token) => {
      await db.write(async (trx) => {
        await trx.deleteFrom('sessions').where('hash', '=', hash('session', token)).execute();
      });
    },

    endAll: async (partnerId, actor) => {
      await db.writeAlone(partnerId, async (trx) => {
        await trx.deleteFrom('sessions').where('partner_id', '=', partnerId).execute();
        await recordChange(db, trx, partnerId, actor, {
          action: 'session.all_ended',
          target: partnerId,
          before: null,
          after: null,
        });
      });
    },

    removeAll: async (partnerId, but) => {
      await db.write(async (trx) => {
        await trx
          .deleteFrom('sessions')
          .where('partner_id', '=', partnerId)
          .$if(but !== undefined, (query) => query.where('hash', '!=', hash('session', but ?? '')))
          .execute();
      });
    },

    prune: async () => {
      await db.write(async (trx) => {
        const now = db.now();
        await trx
          .deleteFrom('sessions')
          .where((is) =>
            is.or([is('expires_at', '<=', now), is('last_seen_at', '<=', now - SESSION_IDLE_MS)]),
          )
          .execute();
      });
    },
  };
}

function fromRow(row: SessionTable): Session {
  return {
    partnerId: row.partner_id,
    createdAt: row.created_at,
    lastSeenAt: row.last_seen_at,
    expiresAt: row.expires_at,
    ip: row.ip,
  };
}
