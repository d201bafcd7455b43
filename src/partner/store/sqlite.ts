/** The store in a single SQLite file, for a service on one machine. */
import { SqliteDialect, SqliteDriver, CompiledQuery, type DatabaseConnection, type Driver } from 'kysely';
import type { SqliteDatabase, SqliteDialectConfig, SqliteStatement } from 'kysely';
import { openDatabase } from '../../db/database.ts';

/** Prepared statements that are cached. There are about a hundred different ones, plus lists of ids in many lengths. */
const MOST_STATEMENTS = 300;
/** Waiting inside SQLite blocks the whole process, so it waits only briefly and `write` tries again. */
const BUSY_MS = 5;

/** @throws {StateError} as `openDatabase` */
export function sqliteDialect(path: string): SqliteDialect {
  const database = openDatabase(path);
  database.pragma(`busy_timeout = ${BUSY_MS}`);
  const statements = new Map<string, SqliteStatement>();
  return new ImmediateDialect({
    database: {
      close: () => {
        statements.clear();
        database.close();
      },
      prepare: (sql) => {
        // A PRAGMA takes effect when it is prepared, so it must not come from the cache.
        if (sql.startsWith('PRAGMA')) return database.prepare(sql);
        const known = statements.get(sql);
        const statement = known ?? database.prepare(sql);
        // The map is ordered by last use, the oldest first.
        if (known !== undefined) statements.delete(sql);
        statements.set(sql, statement);
        for (const oldest of statements.keys()) {
          if (statements.size <= MOST_STATEMENTS) break;
          statements.delete(oldest);
        }
        return statement;
      },
    } satisfies SqliteDatabase,
  });
}

class ImmediateDialect extends SqliteDialect {
  readonly #config: SqliteDialectConfig;

  constructor(config: SqliteDialectConfig) {
    super(config);
    this.#config = config;
  }

  override createDriver(): Driver {
    return new ImmediateDriver(this.#config);
  }
}

/**
 * Takes the write lock at the beginning: a transaction that reads first and then writes would fail when another process
 * wrote in between.
 */
class ImmediateDriver extends SqliteDriver {
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }
}
