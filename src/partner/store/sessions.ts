/** Stores sessions of the settings page. Only keyed hashes of their tokens are stored. */
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
  /** The token for the cookie. */
  readonly token: string;
  readonly session: Session;
}

export interface KnownSession {
  readonly session: Session;
  /** Whether it is the session of the request. */
  readonly isThis: boolean;
}

export interface SessionStore {
  /** Creates a session when a partner signs in. */
  create(partnerId: string, actor: Actor): Promise<NewSession>;
  /**
   * The session with that token, which counts as use; undefined for a session that is unknown, ended, too old or idle
   * for too long.
   */
  find(token: string): Promise<Session | undefined>;
  /** Ends one session. */
  remove(token: string): Promise<void>;
  /** Sessions that have not ended, newest first. `token` is the one of the current session. */
  list(partnerId: string, token: string): Promise<readonly KnownSession[]>;
  /** Ends all sessions at a user's request, with an audit record. */
  endAll(partnerId: string, actor: Actor): Promise<void>;
  /**
   * Ends all sessions, such as after a changed password, which has its own audit record. The session with the token
   * `but` stays.
   */
  removeAll(partnerId: string, but?: string): Promise<void>;
  /** Removes sessions that have ended. */
  prune(): Promise<void>;
}

/** Longest duration of a session, in use or not. */
export const SESSION_MS = 12 * 3_600_000;
/** Time without use after which a session ends. */
export const SESSION_IDLE_MS = 2 * 3_600_000;
/** Precision of the time of last use. */
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
