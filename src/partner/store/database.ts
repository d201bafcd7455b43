/** The connection or pool to the store, with its kinds of transactions. */
import { setTimeout as delay } from 'node:timers/promises';
import { Kysely, sql, type SelectQueryBuilder, type Transaction } from 'kysely';
import { monotonicFactory } from 'ulid';
import type { Clock } from '../../base/clock.ts';
import { StateError, errnoOf } from '../../base/errors.ts';
import type { StoreAddress } from './address.ts';
import { postgresDialect, type PostgresOptions } from './postgres.ts';
import type { Tables } from './schema.ts';
import { sqliteDialect } from './sqlite.ts';

export type StoreTransaction = Transaction<Tables>;
/** What queries can run on: the store, or a transaction. */
export type StoreReader = Kysely<Tables>;

export type IdPrefix = 'acct' | 'key' | 'cus' | 'dev' | 'evt' | 'whk' | 'dlv' | 'aud' | 'ord';

export interface StoreDatabase extends AsyncDisposable {
  readonly kind: StoreAddress['kind'];
  readonly reader: StoreReader;
  /**
   * Runs the work in a transaction, which is durable when the promise resolves. The work may run several times, since a
   * database with several writers sometimes requires that: it must have no effect outside the store.
   */
  readonly write: <T>(work: (trx: StoreTransaction) => Promise<T>) => Promise<T>;
  /** As `write`, with at most one transaction at a time for each partner, in all instances. */
  writeAlone<T>(partnerId: string, work: (trx: StoreTransaction) => Promise<T>): Promise<T>;
  /** As `write`, but a power failure may undo the last transactions. The end of a process never does. */
  readonly relaxed: <T>(work: (trx: StoreTransaction) => Promise<T>) => Promise<T>;
  /** As `relaxed`, with at most one transaction at a time for each of the names, in all instances. */
  relaxedAlone<T>(names: readonly string[], work: (trx: StoreTransaction) => Promise<T>): Promise<T>;
  /** Notes that deliveries are due as soon as this transaction of `write` is committed. */
  noteDue(trx: StoreTransaction): void;
  /** Milliseconds since 1970 by the clock of this machine. */
  now(): number;
  /**
   * The time that all instances share: that of the database server, or of this machine where there is only one
   * instance. Rate windows measured by different clocks would let too much through.
   */
  sharedNow(reader: StoreReader): Promise<number>;
  /** An id of prefix and ULID. Ids made by one instance sort in order of creation. */
  newId(prefix: IdPrefix): string;
}

export interface DatabaseOptions extends PostgresOptions {
  /** The clock of `sharedNow`, for tests that move it. */
  readonly sharedClock?: Pick<Clock, 'now'> | undefined;
  /** Called with each statement that was executed. */
  readonly seen?: ((statement: string) => void) | undefined;
  /** Called after deliveries that are due at once were stored by this instance. */
  readonly due?: () => void;
}

/** Milliseconds that a change waits for other transactions. */
const PATIENCE_MS = 15_000;
const LONGEST_PAUSE_MS = 5;
/**
 * The first of the two numbers that identify an advisory lock in PostgreSQL, which keeps these locks apart from those
 * of other programs.
 */
const LOCK_CLASS = 0x48_46_50;

/** @throws {StateError} as `openDatabase`; errors of the connection to PostgreSQL surface with the first query */
export function openStoreDatabase(
  address: StoreAddress,
  clock: Pick<Clock, 'now'>,
  options: DatabaseOptions = {},
): StoreDatabase {
  const { kind } = address;
  const { seen } = options;
  const nextUlid = monotonicFactory();
  const reader = new Kysely<Tables>({
    dialect: kind === 'sqlite' ? sqliteDialect(address.path) : postgresDialect(address.url, options),
    ...(seen === undefined ? {} : { log: ({ query }) => seen(query.sql) }),
  });

  const withDue = new WeakSet<StoreTransaction>();
  const write: StoreDatabase['write'] = async (work) => {
    const { value, isDue } = await again(
      async () =>
        await reader.transaction().execute(async (trx) => ({
          value: await work(trx),
          isDue: withDue.has(trx),
        })),
    );
    if (isDue) options.due?.();
    return value;
  };
  const relaxed: StoreDatabase['relaxed'] = async (work) => {
    if (kind === 'postgres') {
      return await write(async (trx) => {
        await sql`SET LOCAL synchronous_commit = off`.execute(trx);
        return await work(trx);
      });
    }
    return await again(
      async () =>
        await reader.connection().execute(async (connection) => {
          await sql`PRAGMA synchronous = NORMAL`.execute(connection);
          try {
            return await connection.transaction().execute(work);
          } finally {
            await sql`PRAGMA synchronous = FULL`.execute(connection);
          }
        }),
    );
  };
  const lock = async (trx: StoreTransaction, name: string): Promise<void> => {
    // SQLite has only one writer at a time.
    if (kind === 'postgres')
      await sql`SELECT pg_advisory_xact_lock(${LOCK_CLASS}, hashtext(${name}))`.execute(trx);
  };

  return {
    kind,
    reader,
    write,
    writeAlone: async (partnerId, work) =>
      await write(async (trx) => {
        await lock(trx, partnerId);
        return await work(trx);
      }),
    relaxed,
    relaxedAlone: async (names, work) =>
      await relaxed(async (trx) => {
        // Locks are taken in the same order everywhere, so that two transactions cannot deadlock.
        for (const name of names.toSorted()) await lock(trx, name);
        return await work(trx);
      }),
    noteDue: (trx) => void withDue.add(trx),
    now: () => clock.now(),
    sharedNow: async (reader) => {
      if (options.sharedClock !== undefined) return options.sharedClock.now();
      if (kind === 'sqlite') return clock.now();
      const { rows } = await sql<{
        now: number;
      }>`SELECT CAST(floor(extract(epoch FROM clock_timestamp()) * 1000) AS bigint) AS now`.execute(reader);
      return rows[0]?.now ?? clock.now();
    },
    newId: (prefix) => `${prefix}_${nextUlid(clock.now())}`,
    [Symbol.asyncDispose]: async () => await reader.destroy(),
  };
}

/**
 * Repeats the work while other transactions are in the way, until patience runs out.
 * @throws {StateError} STATE_BUSY
 */
async function again<T>(work: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + PATIENCE_MS;
  for (let pauseMs = 1; ; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)) {
    try {
      return await work();
    } catch (error) {
      if (!isInTheWay(error)) throw error;
      if (performance.now() > deadline) {
        throw new StateError('STATE_BUSY', 'The database of the service is busy', {
          hint: 'Try again later.',
          retry: 'later',
          cause: error,
        });
      }
    }
    await delay(pauseMs);
  }
}

/** Whether an SQLite writer has to wait, or PostgreSQL aborted the transaction in favour of another one. */
function isInTheWay(error: unknown): boolean {
  const code = errnoOf(error) ?? '';
  return code.startsWith('SQLITE_BUSY') || code === '40001' || code === '40P01';
}

/**
 * Messages of errors without a code, in which the PostgreSQL driver reports a lost connection, or one that it did not
 * get.
 */
const GONE = /^(?:Connection terminated|Client has encountered|timeout exceeded when trying to connect)/;
const OF_CONNECTIONS = /^(?:08|57P|53300)/;

/**
 * Whether the store is temporarily unavailable: locked by others, shutting down, unreachable, out of disk space or
 * memory, or too slow for a statement.
 */
export function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = errnoOf(error);
  if (code === undefined) return GONE.test(error.message);
  return code === 'STATE_BUSY' || NO_CONNECTION.has(code) || NO_ROOM.has(code) || OF_CONNECTIONS.test(code);
}

/**
 * `SQLITE_FULL`, and codes of PostgreSQL for a full disk, no memory, and a statement that was canceled because of its
 * time.
 */
const NO_ROOM: ReadonlySet<string> = new Set(['SQLITE_FULL', '53100', '53200', '57014']);

const NO_CONNECTION: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
]);

/** Whether a row could not be added because another one has the same unique value. */
export function isTaken(error: unknown): boolean {
  return ['SQLITE_CONSTRAINT_UNIQUE', 'SQLITE_CONSTRAINT_PRIMARYKEY', '23505'].includes(errnoOf(error) ?? '');
}

/** For `$call`: locks the selected rows until the transaction ends. SQLite needs no locks on rows. */
export function forUpdate({
  kind,
}: Pick<StoreDatabase, 'kind'>): <From extends keyof Tables, Row>(
  query: SelectQueryBuilder<Tables, From, Row>,
) => SelectQueryBuilder<Tables, From, Row> {
  return (query) => (kind === 'postgres' ? query.forUpdate() : query);
}

/** As `forUpdate`, skipping rows that others have locked. */
export function skipLocked({
  kind,
}: Pick<StoreDatabase, 'kind'>): <From extends keyof Tables, Row>(
  query: SelectQueryBuilder<Tables, From, Row>,
) => SelectQueryBuilder<Tables, From, Row> {
  return (query) => (kind === 'postgres' ? query.forUpdate().skipLocked() : query);
}
