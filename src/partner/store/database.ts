/** One connection to the store, or one pool: how it is read, and how it is changed. */
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
/** What can be asked: the store, or a transaction in it. */
export type StoreReader = Kysely<Tables>;

export type IdPrefix = 'acct' | 'key' | 'cus' | 'dev' | 'evt' | 'whk' | 'dlv' | 'aud' | 'ord';

export interface StoreDatabase extends AsyncDisposable {
  readonly kind: StoreAddress['kind'];
  readonly reader: StoreReader;
  /**
   * All of it or nothing, on the disk when it resolves. The work may run several times, since a database that several
   * write to asks for that now and then: it must change nothing but the store.
   */
  readonly write: <T>(work: (trx: StoreTransaction) => Promise<T>) => Promise<T>;
  /** As `write`, one after the other for each partner, in all instances. */
  writeAlone<T>(partnerId: string, work: (trx: StoreTransaction) => Promise<T>): Promise<T>;
  /** As `write`; a power cut may undo the last of it, the end of a process never. */
  readonly relaxed: <T>(work: (trx: StoreTransaction) => Promise<T>) => Promise<T>;
  /** As `relaxed`, one after the other for each of the names, in all instances. */
  relaxedAlone<T>(names: readonly string[], work: (trx: StoreTransaction) => Promise<T>): Promise<T>;
  /** There will be deliveries that are due at once when this transaction, one of `write`, is done. */
  noteDue(trx: StoreTransaction): void;
  /** Milliseconds since 1970, of this machine. */
  now(): number;
  /**
   * The time that all instances share: that of the database server, or of this machine where there is one instance
   * alone. Windows that are measured by different clocks would let too much through.
   */
  sharedNow(reader: StoreReader): Promise<number>;
  /** Prefix and ULID; of two made here the later one is greater. */
  newId(prefix: IdPrefix): string;
}

export interface DatabaseOptions extends PostgresOptions {
  /** What `sharedNow` tells, for tests that move it. */
  readonly sharedClock?: Pick<Clock, 'now'> | undefined;
  /** Told of each statement that was carried out. */
  readonly seen?: ((statement: string) => void) | undefined;
  /** Called when deliveries were stored here that are due at once. */
  readonly due?: () => void;
}

/** How long a change waits for others, in milliseconds. */
const PATIENCE_MS = 15_000;
const LONGEST_PAUSE_MS = 5;
/** The first of two numbers by which PostgreSQL knows a lock, so that ours are not those of something else. */
const LOCK_CLASS = 0x48_46_50;

/** @throws {StateError} as `openDatabase`; what PostgreSQL says of a connection comes with the first query */
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
    // SQLite has one writer at a time anyway.
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
        // In one order everywhere: of two that want the same two, neither has the one that the other waits for.
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

/** Does it again when others were in the way, until patience ends. @throws {StateError} STATE_BUSY */
async function again<T>(work: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + PATIENCE_MS;
  for (let pauseMs = 1; ; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)) {
    try {
      return await work();
    } catch (error) {
      if (!isInTheWay(error)) throw error;
      if (performance.now() > deadline) {
        throw new StateError('STATE_BUSY', 'Others hold the database of the service all the time', {
          hint: 'Try again later.',
          retry: 'later',
          cause: error,
        });
      }
    }
    await delay(pauseMs);
  }
}

/** A writer of SQLite that has to wait, or a transaction that PostgreSQL ended for the sake of another one. */
export function isInTheWay(error: unknown): boolean {
  const code = errnoOf(error) ?? '';
  return code.startsWith('SQLITE_BUSY') || code === '40001' || code === '40P01';
}

/** Of errors without a code, what the driver of PostgreSQL says of a connection that is gone, or of one that it did not get. */
const GONE = /^(?:Connection terminated|Client has encountered|timeout exceeded when trying to connect)/;
const OF_CONNECTIONS = /^(?:08|57P|53300)/;

/**
 * Whether the store does not answer at this moment: others hold it, the server is ending, there is no connection to it, which
 * the system says, its disk is full, or a statement took too long.
 */
export function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = errnoOf(error);
  if (code === undefined) return GONE.test(error.message);
  return code === 'STATE_BUSY' || NO_CONNECTION.has(code) || NO_ROOM.has(code) || OF_CONNECTIONS.test(code);
}

/** `SQLITE_FULL`, and of PostgreSQL: a full disk, no memory, and a statement that was ended for its time. */
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

/** Whether a row could not be added because another one has the same name. */
export function isTaken(error: unknown): boolean {
  return ['SQLITE_CONSTRAINT_UNIQUE', 'SQLITE_CONSTRAINT_PRIMARYKEY', '23505'].includes(errnoOf(error) ?? '');
}

/** For `$call`: holds the rows that are read until the transaction ends, which SQLite does anyway. */
export function forUpdate({
  kind,
}: Pick<StoreDatabase, 'kind'>): <From extends keyof Tables, Row>(
  query: SelectQueryBuilder<Tables, From, Row>,
) => SelectQueryBuilder<Tables, From, Row> {
  return (query) => (kind === 'postgres' ? query.forUpdate() : query);
}

/** As `forUpdate`, leaving out what others hold. */
export function skipLocked({
  kind,
}: Pick<StoreDatabase, 'kind'>): <From extends keyof Tables, Row>(
  query: SelectQueryBuilder<Tables, From, Row>,
) => SelectQueryBuilder<Tables, From, Row> {
  return (query) => (kind === 'postgres' ? query.forUpdate().skipLocked() : query);
}
