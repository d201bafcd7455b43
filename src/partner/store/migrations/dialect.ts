/** Where the two databases differ in what migrations say. */
export interface MigrationDialect {
  /**
   * Text that is compared byte by byte: SQLite does that by itself, PostgreSQL by the language of the database unless it
   * is told.
   */
  readonly text: string;
  /** Statements after which rows of that table can be added, and neither changed nor removed. */
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
