/** Opens SQLite files. The only file that imports the package. */
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import Sqlite from 'better-sqlite3';
import { accessProblem, makePrivateDirectory, type AccessProblem } from '../base/private-files.ts';
import { causeText } from '../base/errno-words.ts';
import { StateError, errnoOf } from '../base/errors.ts';

export type Database = Sqlite.Database;
export type Statement<Values extends unknown[], Row> = Sqlite.Statement<Values, Row>;

const BUSY_MS = 5_000;
/** Milliseconds to wait for a lock on a database that is kept open, as everything else waits meanwhile. */
const SHARED_BUSY_MS = 50;

/**
 * Opens the database at `path`, or makes it: accessible to this user only (0600 in a 0700 directory), with a
 * write-ahead log, every commit on the disk before it returns. `busyMs`: how long to wait for another process that has
 * it locked. `alone`: other processes are locked out while it is open, unless one has it open already.
 * @throws {StateError} STATE_NOT_PRIVATE, READ_ERROR; damage is thrown as SQLite reports it, see `isDamage`
 */
export function openDatabase(
  path: string,
  { busyMs = BUSY_MS, alone = false }: { readonly busyMs?: number; readonly alone?: boolean } = {},
): Database {
  makePrivate(path);
  const database = (alone ? connectAlone(path) : undefined) ?? connect(path, busyMs);
  try {
    database.pragma('journal_mode = WAL');
    database.pragma('synchronous = FULL');
    database.pragma('foreign_keys = ON');
    database.pragma('trusted_schema = OFF');
    // Includes indexes: one that lost an entry would hide a job.
    const found = database.pragma('integrity_check(1)', { simple: true });
    if (found !== 'ok') throw damage(String(found));
    return database;
  } catch (error) {
    database.close();
    if (isDamage(error) || !(error instanceof Sqlite.SqliteError)) throw error;
    throw cannotOpen(path, error);
  }
}

function connect(path: string, busyMs: number): Database {
  try {
    return new Sqlite(path, { timeout: busyMs });
  } catch (error) {
    if (isDamage(error)) throw error;
    throw cannotOpen(path, error);
  }
}

export function cannotOpen(path: string, cause: unknown): StateError {
  const code = errnoOf(cause) ?? 'unknown error';
  return new StateError('READ_ERROR', `The state database ${path} cannot be opened (${code})`, {
    hint: isHeld(cause)
      ? 'Another program is using it (a database browser, an SQLite shell, something that copies or scans files): close that program first.'
      : 'Check that the state directory is writable and that the disk has space.',
    cause,
  });
}

/**
 * A connection with an exclusive lock until it is closed, so that no other program can make this one wait. Undefined
 * when another one has the database open already.
 */
function connectAlone(path: string): Database | undefined {
  const database = connect(path, SHARED_BUSY_MS);
  try {
    database.pragma('locking_mode = EXCLUSIVE');
    database.pragma('journal_mode = WAL');
    database.exec('BEGIN EXCLUSIVE; COMMIT');
    return database;
  } catch (error) {
    database.close();
    if (isHeld(error)) return undefined;
    throw error;
  }
}

/** From now on locks of others are hardly waited for, as everything else would wait, too. */
export function waitNoLonger(database: Database): void {
  database.pragma(`busy_timeout = ${SHARED_BUSY_MS}`);
}

/** Whether another connection has the database locked. */
export function isHeld(error: unknown): boolean {
  return error instanceof Sqlite.SqliteError && /^SQLITE_(?:BUSY|LOCKED|PROTOCOL)/.test(error.code);
}

/** An error for which `isDamage` holds. */
export function damage(what: string): Error {
  return new Sqlite.SqliteError(what, 'SQLITE_CORRUPT');
}

/** Whether SQLite found the file damaged, or to be no database at all. */
export function isDamage(error: unknown): boolean {
  return error instanceof Sqlite.SqliteError && /^SQLITE_(?:CORRUPT|NOTADB)/.test(error.code);
}

/** Whether the disk has no space for what was to be written, or for the index of the log, which can only grow. */
export function isFull(error: unknown): boolean {
  if (error instanceof StateError) return isFull(error.cause);
  if (error instanceof Sqlite.SqliteError) return /^SQLITE_(?:FULL|IOERR_SHMSIZE)$/.test(error.code);
  return ['ENOSPC', 'EDQUOT'].includes(errnoOf(error) ?? '');
}

/** Whether a table or column is missing that every version of the schema has. */
export function isBrokenSchema(error: unknown): boolean {
  return error instanceof Sqlite.SqliteError && /^(?:no such (?:table|column)|malformed)/.test(error.message);
}

/** Whether SQLite could not execute a query: the disk is full, or the file cannot be used. */
export function isFailedQuery(error: unknown): boolean {
  return error instanceof Sqlite.SqliteError;
}

/** SQLite creates its log and the log's index with the mode of the database, so that has to be right before it opens. */
function makePrivate(path: string): void {
  const directory = dirname(path);
  makePrivateDirectory(directory);
  const { uid, mode } = statSync(directory);
  if (!isOurs(uid)) throw notOurs(directory, uid);
  if (process.platform !== 'win32' && (mode & 0o022) !== 0) throw loose(directory, mode, 700);
  const above = accessProblem(directory, 'directory');
  if (above !== undefined && above.kind !== 'read') throw looseOnWindows(directory, above);
  let file: number;
  try {
    file = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
  } catch (cause) {
    throw new StateError('READ_ERROR', `The state database ${path} cannot be opened: ${causeText(cause)}`, {
      hint:
        errnoOf(cause) === 'ELOOP'
          ? 'It is a symbolic link. Replace it with the file itself.'
          : 'Check that the state directory is writable and that the disk has space.',
      cause,
    });
  }
  try {
    const stats = fstatSync(file);
    if (!isOurs(stats.uid)) throw notOurs(path, stats.uid);
    if (process.platform !== 'win32' && (stats.mode & 0o077) !== 0) throw loose(path, stats.mode, 600);
    const open = accessProblem(path, 'file', file);
    if (open !== undefined) throw looseOnWindows(path, open);
  } finally {
    closeSync(file);
  }
}

function isOurs(uid: number): boolean {
  return process.geteuid === undefined || uid === process.geteuid();
}

function notOurs(path: string, uid: number): StateError {
  return new StateError('STATE_NOT_PRIVATE', `${path} belongs to another user (uid ${uid})`, {
    hint: 'Run Holdfast as that user, or set HOLDFAST_STATE_DIR to another directory.',
  });
}

function loose(path: string, mode: number, wanted: number): StateError {
  const shown = (mode & 0o7777).toString(8);
  return new StateError('STATE_NOT_PRIVATE', `${path} is open to other users (mode ${shown})`, {
    hint: `If you did not intend that, assume that others know its contents. Then run: chmod ${wanted} ${path}`,
  });
}

function looseOnWindows(path: string, { text, command }: AccessProblem): StateError {
  return new StateError('STATE_NOT_PRIVATE', `${path} ${text}`, {
    hint: `If you did not intend that, assume that others know its contents. Then run: ${command}`,
  });
}

/** Writes a complete copy of the database to `path`, replacing a file there, while others go on using the database. */
export function saveCopy(database: Database, path: string): void {
  const temporary = `${path}.tmp`;
  rmSync(temporary, { force: true });
  database.prepare('VACUUM INTO ?').run(temporary);
  chmodSync(temporary, 0o600);
  const file = openSync(temporary, 'r+');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
}

/**
 * Runs work whose commits need not be on the disk when they return. A power cut may undo the last of them, but never
 * changes their order or damages the database. Inside a transaction the work is as durable as the transaction.
 */
export function relaxed<T>(database: Database, work: () => T): T {
  if (database.inTransaction) return work();
  database.pragma('synchronous = NORMAL');
  try {
    return work();
  } finally {
    database.pragma('synchronous = FULL');
  }
}
