/** Damage that leaves the pages in order: bytes within a value that SQLite does not look into. */
import { damage, type Database } from './database.ts';

const STATUSES = ['queued', 'running', 'completed', 'failed', 'canceled'];

/** Values that every reader expects to understand. */
const UNREADABLE = `
  SELECT EXISTS (SELECT 1 FROM jobs WHERE NOT json_valid(detail) OR NOT json_valid(bookkeeping)
                 OR status NOT IN (SELECT value FROM json_each(?)))
      OR EXISTS (SELECT 1 FROM events WHERE NOT json_valid(data))
      OR EXISTS (SELECT 1 FROM idempotency WHERE NOT json_valid(coalesce(headers, '{}')))
      OR EXISTS (SELECT 1 FROM partner_results WHERE NOT json_valid(coalesce(body, '{}')))
      OR EXISTS (SELECT 1 FROM partner_report WHERE NOT json_valid(body))`;

/** @throws what `isDamage` knows */
export function requireReadable(database: Database): void {
  const found = database.prepare<[string], number>(UNREADABLE).pluck().get(JSON.stringify(STATUSES));
  if (found !== 0) throw damage('a row holds what nobody wrote');
}
