/** The store in a PostgreSQL database, which several instances of the service share. */
import { PostgresDialect } from 'kysely';
import { Pool, types } from 'pg';
import { StateError } from '../../base/errors.ts';

/** Of one instance. PostgreSQL allows a hundred in all, unless told otherwise. */
const MOST_CONNECTIONS = 10;
/** No statement here reads more than a partner's year: what takes longer is stuck. */
const STATEMENT_MS = 30_000;
/** A transaction that its process forgot holds locks. */
const IDLE_IN_TRANSACTION_MS = 60_000;
const CONNECT_MS = 10_000;

const INT8: number = types.builtins.INT8;
const NUMERIC: number = types.builtins.NUMERIC;

export interface PostgresOptions {
  /** Told of connections that broke while they were not asked anything; the pool makes new ones by itself. */
  readonly lost?: (error: Error) => void;
}

export function postgresDialect(
  url: string,
  { lost = () => undefined }: PostgresOptions = {},
): PostgresDialect {
  const pool = new Pool({
    connectionString: url,
    application_name: 'holdfast-partner',
    max: MOST_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_MS,
    statement_timeout: STATEMENT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    types: { getTypeParser: parserOf },
  });
  // One that breaks between two statements tells only itself, and an error that nobody hears ends the process. The next
  // statement fails.
  pool.on('connect', (client) => client.on('error', lost));
  // Of those that nobody uses the pool tells the same once more.
  pool.on('error', () => undefined);
  return new PostgresDialect({ pool });
}

function parserOf(type: number, format?: 'text' | 'binary'): (text: string) => unknown {
  if (format !== 'binary') {
    if (type === INT8) return safeInteger;
    // What `sum` makes of bigint.
    if (type === NUMERIC) return Number;
  }
  return types.getTypeParser(type, format) as (text: string) => unknown;
}

function safeInteger(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value)) return value;
  throw new StateError('STATE_DAMAGED', 'The database holds an integer that cannot be computed with exactly');
}
