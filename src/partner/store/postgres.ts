/** The store in a PostgreSQL database, which several instances of the service share. */
import { PostgresDialect } from 'kysely';
import { Pool, types } from 'pg';
import { StateError } from '../../base/errors.ts';

/** Connections of one instance. PostgreSQL allows a hundred in total by default. */
const MOST_CONNECTIONS = 10;
/** No statement reads more than a partner's year: one that takes longer is stuck. */
const STATEMENT_MS = 30_000;
/** Abandoned transactions are ended, because they hold locks. */
const IDLE_IN_TRANSACTION_MS = 60_000;
const CONNECT_MS = 10_000;

const INT8: number = types.builtins.INT8;
const NUMERIC: number = types.builtins.NUMERIC;

export interface PostgresOptions {
  /** Called with errors of idle connections. The pool replaces them automatically. */
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
  // A connection that breaks between two statements emits an error only on its client, and an unhandled error event
  // ends the process. The next statement fails.
  pool.on('connect', (client) => client.on('error', lost));
  // For unused connections, the pool emits the same error once more.
  pool.on('error', () => undefined);
  return new PostgresDialect({ pool });
}

function parserOf(type: number, format?: 'text' | 'binary'): (text: string) => unknown {
  if (format !== 'binary') {
    if (type === INT8) return safeInteger;
    // The type of `sum` over bigint.
    if (type === NUMERIC) return Number;
  }
  return types.getTypeParser(type, format) as (text: string) => unknown;
}

function safeInteger(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value)) return value;
  throw new StateError('STATE_DAMAGED', 'The database holds an integer that cannot be computed with exactly');
}
