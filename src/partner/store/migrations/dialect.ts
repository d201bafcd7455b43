/** The differences between the two databases in migrations. */
export interface MigrationDialect {
  /**
   * The type of text that is compared byte by byte. SQLite always compares that way; PostgreSQL uses the language of
   * the database by default.
   */
  readonly text: string;
  /** Statements that make a table append-only: rows can be added, but not changed or removed. */
  readonly appendOnly: (table: string) => readonly string[];
}

export const SQLITE_DIALECT: MigrationDialect = {
  text: 'text',
  appendOnly: (table) =>
    ['UPDATE', 'DELETE'].map(
      (change) => `CREATE TRIGGER ${table}_no_${change.toLowerCase()} BEFORE ${change} ON ${table}
        BEGIN SELECT RAISE(ABORT, '${table} is append-only'); END`,
    ),
};

export const POSTGRES_DIALECT: MigrationDialect = {
  text: 'text COLLATE "C"',
  appendOnly: (table) => [
    `CREATE FUNCTION ${table}_kept() RETURNS trigger LANGUAGE plpgsql
      AS $$ BEGIN RAISE EXCEPTION '${table} is append-only'; END $$`,
    `CREATE TRIGGER ${table}_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON ${table}
      FOR EACH STATEMENT EXECUTE FUNCTION ${table}_kept()`,
  ],
};
