/** Copies the store to one file, for backups, because the store itself is written to all the time. */
import { RequestError } from '../../base/errors.ts';
import { holdfast } from '../../base/holdfast-command.ts';
import { openDatabase, saveCopy } from '../../db/database.ts';
import { parseStoreAddress } from './address.ts';

/**
 * Writes a copy of an SQLite store to `file`, replacing an older one, while the service runs.
 * @throws {RequestError} UNSUPPORTED for PostgreSQL; {StateError} as `openDatabase`
 */
export function copyStore(address: string, file: string): void {
  const store = parseStoreAddress(address);
  if (store.kind === 'postgres') {
    throw new RequestError(
      'UNSUPPORTED',
      'The store is a PostgreSQL database, which has a program for that',
      {
        hint: `Use pg_dump: ${holdfast`backup --stdin-command "pg_dump -Fc DATABASE" --stdin-name partner.dump`}`,
      },
    );
  }
  const database = openDatabase(store.path);
  try {
    saveCopy(database, file);
  } finally {
    database.close();
  }
}
