/** The store in one SQLite file, for a service of one machine. */
import { SqliteDialect, SqliteDriver, CompiledQuery, type DatabaseConnection, type Driver } from 'kysely';
import type { SqliteDatabase, SqliteDialectConfig, SqliteStatement } from 'kysely';
import { openDatabase } from '../../db/database.ts';

/** Statements that are kept compiled. There are about a hundred different ones; lists of ids come in many lengths. */
const MOST_STATEMENTS = 300;
/** Waiting inside SQLite stops the whole process, so that it is hardly done; `write` asks again. */
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
        // Settings take effect while they are compiled.
        if (sql.startsWith('PRAGMA')) return database.prepare(sql);
        const known = statements.get(sql);
        const statement = known ?? database.prepare(sql);
        // The one used longest ago is first.
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

/** A transaction that first reads and then writes could not go on when another process wrote in between. */
class ImmediateDriver extends SqliteDriver {
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }
}
