/**
 * Migrates the store in numbered steps from any earlier schema to the present one, the same for both databases. A
 * released step is never changed. The table `schema_version` has the number of applied steps. Kysely's own migrator is
 * not used: it identifies steps by name and reports a newer schema as corrupt, whereas an older program among several
 * instances must be told to stop.
 */
import { sql } from 'kysely';
import { StateError } from '../../base/errors.ts';
import type { StoreDatabase, StoreTransaction } from './database.ts';
import { firstTables } from './migrations/001-first-tables.ts';
import {
  deletedEndpoints,
  effects,
  endpointsAskedForSilence,
  filteredLists,
  heardSince,
  oneTrial,
  ordersAndHeads,
  serviceKey,
  signInLog,
} from './migrations/002-and-later.ts';
import { type MigrationDialect, POSTGRES_DIALECT, SQLITE_DIALECT } from './migrations/dialect.ts';

/** Statements of one step. */
export type Migration = (dialect: MigrationDialect) => readonly string[];

export const MIGRATIONS: readonly Migration[] = [
  firstTables,
  ordersAndHeads,
  signInLog,
  effects,
  filteredLists,
  serviceKey,
  heardSince,
  deletedEndpoints,
  endpointsAskedForSilence,
  oneTrial,
];

/** Advisory lock of migrations; any number that nothing else uses. */
const MIGRATION_LOCK = 0x48_46_4d;

/**
 * Migrates the store to the present schema, with all steps in one transaction. One instance does it while others that
 * start wait.
 * @throws {StateError} NEWER_STATE; errors of the database when a step fails, which leaves everything unchanged
 */
export async function migrate(
  db: StoreDatabase,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<void> {
  await db.write(async (trx) => {
    if (db.kind === 'postgres') {
      // A step may take longer than other statements, and so may waiting for another instance's steps.
      await sql`SET LOCAL statement_timeout = 0`.execute(trx);
      await sql`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`.execute(trx);
    }
    const version = await versionOf(trx);
    if (version > migrations.length) {
      throw new StateError(
        'NEWER_STATE',
        'The database of the service was written by a newer version of Holdfast',
        {
          hint: 'Install a newer Holdfast, or name another database.',
          details: { version, known: migrations.length },
        },
      );
    }
    if (version === migrations.length) return;
    const dialect = db.kind === 'postgres' ? POSTGRES_DIALECT : SQLITE_DIALECT;
    for (const migration of migrations.slice(version))
      for (const statement of migration(dialect)) await sql.raw(statement).execute(trx);
    await trx.updateTable('schema_version').set({ version: migrations.length }).execute();
  });
}

async function versionOf(trx: StoreTransaction): Promise<number> {
  await sql`CREATE TABLE IF NOT EXISTS schema_version (version bigint NOT NULL)`.execute(trx);
  const row = await trx.selectFrom('schema_version').select('version').executeTakeFirst();
  if (row !== undefined) return row.version;
  await trx.insertInto('schema_version').values({ version: 0 }).execute();
  return 0;
}
