/** Opens the SQLite file of the catalog. No other file in the catalog imports the package. */
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { causeText } from '../../base/errno-words.ts';
import { StateError, errnoOf } from '../../base/errors.ts';
import { CATALOG_VERSION, SCHEMA } from './schema.ts';

export type CatalogDatabase = Sqlite.Database;

/** Milliseconds to wait for the other connection, which only the setup and checkpoints ever block. */
const BUSY_MS = 10_000;
/** KiB of pages in memory: the inner pages of the indexes of a million files, and room for what is being written. */
const WRITER_CACHE = 131_072;
const READER_CACHE = 65_536;
/** Bytes of the write-ahead log that stay on the disk once it is not needed. */
const LOG_KEPT = 67_108_864;
/** Pages of that log that are moved into the file together. The more there are, the more often one page covers many changes. */
const LOG_PAGES = 16_384;
/** Bytes of the file that are mapped into memory, so that reads do not copy them. */
const MAPPED = 1_073_741_824;

export function catalogPath(stateDirectory: string, repositoryId: string): string {
  return join(stateDirectory, 'catalog', `${repositoryId}.db`);
}

/**
 * Makes sure that there is a catalog. One of another version is deleted and a damaged one set aside, and an empty
 * catalog is made instead. No connection may have it open.
 * @throws {StateError} READ_ERROR
 */
export function prepareCatalog(path: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    (usable(path) ?? created(path)).close();
  } catch (cause) {
    throw cannotOpen(path, cause);
  }
}

/**
 * Opens an existing catalog for writing.
 * @throws {StateError} READ_ERROR; see `isDamagedCatalog`
 */
export function openForWriting(path: string): CatalogDatabase {
  try {
    const database = new Sqlite(path, { fileMustExist: true, timeout: BUSY_MS });
    prepare(database);
    return database;
  } catch (cause) {
    throw cannotOpen(path, cause);
  }
}

/** Opens a second connection, which the writer never blocks. The catalog must exist. */
export function openForReading(path: string): CatalogDatabase {
  try {
    const database = new Sqlite(path, { readonly: true, fileMustExist: true, timeout: BUSY_MS });
    database.pragma(`cache_size = -${READER_CACHE}`);
    database.pragma(`mmap_size = ${MAPPED}`);
    return database;
  } catch (cause) {
    throw cannotOpen(path, cause);
  }
}

/** Moves the content of the write-ahead log into the file. While other connections read, part of it stays in the log. */
export function emptyLog(database: CatalogDatabase): void {
  database.pragma('wal_checkpoint(TRUNCATE)');
}

/** Renames a damaged catalog, so that it can be examined. The next damaged one replaces it. */
export function setCatalogAside(path: string): void {
  try {
    renameSync(path, `${path}.damaged`);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
  deleteCatalog(path);
}

function deleteCatalog(path: string): void {
  for (const suffix of ['-wal', '-shm', '-journal', '']) rmSync(path + suffix, { force: true });
}

/** Whether SQLite found the file damaged, or to be no catalog at all. */
export function isDamagedCatalog(error: unknown): boolean {
  if (error instanceof StateError) return error.code === 'CATALOG_DAMAGED' || isDamagedCatalog(error.cause);
  if (!(error instanceof Sqlite.SqliteError)) return false;
  return /^SQLITE_(?:CORRUPT|NOTADB)/.test(error.code) || /^no such (?:table|column)/.test(error.message);
}

/** Opens an existing catalog; undefined when it has to be made anew. */
function usable(path: string): CatalogDatabase | undefined {
  let database: CatalogDatabase | undefined;
  try {
    database = new Sqlite(path, { timeout: BUSY_MS });
    chmodSync(path, 0o600);
    prepare(database);
    const version: unknown = database.pragma('user_version', { simple: true });
    if (version === CATALOG_VERSION) return database;
  } catch (error) {
    database?.close();
    if (!isDamagedCatalog(error)) throw error;
    setCatalogAside(path);
    return undefined;
  }
  database.close();
  return undefined;
}

function created(path: string): CatalogDatabase {
  deleteCatalog(path);
  const database = new Sqlite(path, { timeout: BUSY_MS });
  try {
    chmodSync(path, 0o600);
    prepare(database);
    database.transaction(() => {
      database.exec(SCHEMA);
      // Cursors name the epoch, so that those of an earlier catalog are not accepted.
      database.prepare(`INSERT INTO meta VALUES ('epoch', ?)`).run(randomBytes(6).toString('base64url'));
      database.pragma(`user_version = ${CATALOG_VERSION}`);
    })();
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function prepare(database: CatalogDatabase): void {
  database.pragma('journal_mode = WAL');
  // After a power failure the last transactions may be lost. The next sync takes their content in again.
  database.pragma('synchronous = NORMAL');
  database.pragma(`journal_size_limit = ${LOG_KEPT}`);
  database.pragma(`wal_autocheckpoint = ${LOG_PAGES}`);
  database.pragma('trusted_schema = OFF');
  database.pragma(`cache_size = -${WRITER_CACHE}`);
  database.pragma('temp_store = MEMORY');
}

function cannotOpen(path: string, cause: unknown): StateError {
  return new StateError('READ_ERROR', `Cannot open the catalog ${path}: ${causeText(cause)}`, {
    hint: 'Check that the state directory is writable and that the disk has space. You can delete the catalog; Holdfast rebuilds it.',
    cause,
  });
}
