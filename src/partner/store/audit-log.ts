/** The audit log: what was changed, by whom and from where. Records can be added and read, but not changed or removed. */
import type { StoreDatabase, StoreTransaction } from './database.ts';
import type { RunningKey } from './idempotency.ts';
import type { Page, PageRequest } from './page.ts';
import { pageOf } from './page.ts';

/** Who makes a change. */
export interface Actor {
  /** `api`, `settings page`, `device`, `operator` or `service`. */
  readonly name: string;
  /** Id of the API key that was used. */
  readonly keyId: string | null;
  readonly ip: string | null;
  /** The idempotency key of the request, for changes that must not happen twice. */
  readonly running?: RunningKey | undefined;
}

/** The service itself, for scheduled changes and for changes that nobody requested. */
export const SERVICE: Actor = { name: 'service', keyId: null, ip: null };

export interface Change {
  /** Such as `customer.created`. */
  readonly action: string;
  /** Id of what was changed. */
  readonly target: string;
  /** The state before and after; null where nothing exists. Neither contains a secret. */
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
}

export interface AuditRecord extends Change {
  readonly id: string;
  readonly actor: Omit<Actor, 'running'>;
  readonly createdAt: number;
}

export interface AuditLog {
  /** Newest first. */
  list(partnerId: string, request: PageRequest): Promise<Page<AuditRecord>>;
}

export function createAuditLog(db: StoreDatabase): AuditLog {
  return {
    async list(partnerId, { limit, before }) {
      const rows = await db.reader
        .selectFrom('audit_log')
        .selectAll()
        .where('partner_id', '=', partnerId)
        .$if(before !== undefined, (query) => query.where('id', '<', before ?? ''))
        .orderBy('id', 'desc')
        .limit(limit + 1)
        .execute();
      return pageOf(rows, limit, (row) => ({
        id: row.id,
        actor: { name: row.actor, keyId: row.key_id, ip: row.ip },
        action: row.action,
        target: row.target,
        before: parsed(row.before),
        after: parsed(row.after),
        createdAt: row.created_at,
      }));
    },
  };
}

/** Adds a record to the transaction that makes the change. */
export async function recordChange(
  db: StoreDatabase,
  trx: StoreTransaction,
  partnerId: string,
  actor: Actor,
  { action, target, before, after }: Change,
): Promise<void> {
  await trx
    .insertInto('audit_log')
    .values({
      id: db.newId('aud'),
      partner_id: partnerId,
      actor: actor.name,
      key_id: actor.keyId,
      ip: actor.ip,
      action,
      target,
      before: before === null ? null : JSON.stringify(before),
      after: after === null ? null : JSON.stringify(after),
      created_at: db.now(),
    })
    .execute();
}

function parsed(text: string | null): Readonly<Record<string, unknown>> | null {
  return text === null ? null : (JSON.parse(text) as Readonly<Record<string, unknown>>);
}
