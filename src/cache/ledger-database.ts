/** The ledger of a write-only key as a file. Like every cache it can be deleted at any time. */
import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import Sqlite from 'better-sqlite3';
import { makeDirectoriesSync } from '../base/make-directories.ts';
import type { Clock } from '../base/clock.ts';
import type { Ledger, NotedContent, NotedPack } from '../repository/ledger.ts';

const SCHEMA = 2;
const DAY_MS = 86_400_000;
/** Notes of files that were not asked for in this many days are dropped: the files are gone, or are not backed up any more. */
const KEPT_DAYS = 30;
/** Notes of files written in one transaction. */
const WAITING_FILES = 2_000;
const HOLE = 16;

interface PackRow {
  readonly name: Buffer;
  readonly kind: number;
  readonly length: number;
  readonly ids: Buffer;
  readonly digest: Buffer;
}

interface FileRow {
  readonly ids: Buffer;
  readonly holes: Buffer;
  readonly used: number;
  readonly digest: Buffer;
}

/**
 * Several processes may share one file. Nothing here throws: after the first error it behaves as an empty ledger that
 * notes nothing, and the next process starts a new file.
 */
export class LedgerDatabase implements Ledger {
  readonly #path: string;
  readonly #clock: Clock;
  #database: Sqlite.Database | undefined;
  #waiting = new Map<string, NotedContent>();
  #touched: Buffer[] = [];

  constructor(path: string, clock: Clock) {
    this.#path = path;
    this.#clock = clock;
    try {
      this.#database = open(path);
    } catch {
      this.#giveUp();
    }
  }

  packs(): NotedPack[] {
    const rows = this.#attempt((database) =>
      database
        .prepare<[], PackRow>('SELECT name, kind, length, ids, digest FROM packs')
        .all()
        .map((row) => sound(row, digestOfPack(row))),
    );
    return (rows ?? []).map(({ name, kind, length, ids }) => ({
      name: name.toString('hex'),
      kind: kind === 1 ? 'data' : 'tree',
      length,
      ids,
    }));
  }

  notePack({ name, kind, length, ids }: NotedPack): void {
    const row = { name: Buffer.from(name, 'hex'), kind: kind === 'data' ? 1 : 2, length, ids };
    this.#attempt((database) => {
      database
        .prepare('INSERT OR REPLACE INTO packs (name, kind, length, ids, digest) VALUES (?, ?, ?, ?, ?)')
        .run(row.name, row.kind, length, ids, digestOfPack(row));
    });
  }

  dropPacks(names: readonly string[]): void {
    if (names.length === 0) return;
    this.#attempt((database) => {
      const drop = database.prepare('DELETE FROM packs WHERE name = ?');
      database.transaction(() => {
        for (const name of names) drop.run(Buffer.from(name, 'hex'));
      })();
    });
  }

  content(file: Buffer): NotedContent | undefined {
    return this.#attempt((database) => {
      const row = database
        .prepare<[Buffer], FileRow>('SELECT ids, holes, used, digest FROM files WHERE file = ?')
        .get(file);
      if (row === undefined) return undefined;
      sound(row, digestOfFile(file, row));
      if (row.used < this.#today()) this.#touched.push(Buffer.from(file));
      return { ids: row.ids, holes: decodeHoles(row.holes) };
    });
  }

  noteContent(file: Buffer, { ids, holes }: NotedContent): void {
    if (this.#database === undefined) return;
    // Copied, because what a reader gives is part of memory shared with others.
    this.#waiting.set(file.toString('hex'), { ids: Buffer.from(ids), holes });
    if (this.#waiting.size >= WAITING_FILES) this.#write();
  }

  finishRun(): void {
    this.#write();
    this.#attempt((database) => {
      database.prepare('DELETE FROM files WHERE used < ?').run(this.#today() - KEPT_DAYS);
    });
  }

  close(): void {
    this.#write();
    this.#attempt((database) => database.close());
    this.#database = undefined;
  }

  #write(): void {
    const today = this.#today();
    this.#attempt((database) => {
      const note = database.prepare(
        'INSERT OR REPLACE INTO files (file, ids, holes, used, digest) VALUES (?, ?, ?, ?, ?)',
      );
      const touch = database.prepare('UPDATE files SET used = ? WHERE file = ?');
      database.transaction(() => {
        for (const [name, { ids, holes }] of this.#waiting) {
          const file = Buffer.from(name, 'hex');
          const row = { ids, holes: encodeHoles(holes) };
          note.run(file, ids, row.holes, today, digestOfFile(file, row));
        }
        for (const file of this.#touched) touch.run(today, file);
      })();
    });
    this.#waiting = new Map();
    this.#touched = [];
  }

  #today(): number {
    return Math.floor(this.#clock.now() / DAY_MS);
  }

  #attempt<T>(work: (database: Sqlite.Database) => T): T | undefined {
    if (this.#database === undefined) return undefined;
    try {
      return work(this.#database);
    } catch {
      this.#giveUp();
      return undefined;
    }
  }

  /** Removes the file after any error: it is not worth finding out the cause. */
  #giveUp(): void {
    const database = this.#database;
    this.#database = undefined;
    try {
      database?.close();
      for (const end of ['', '-wal', '-shm']) rmSync(`${this.#path}${end}`, { force: true });
    } catch {
      // Another process has it open, or the directory is not writable: the next process tries again.
    }
  }
}

/**
 * SQLite does not notice a page that was only half written or that the disk returns wrong, and notes go into snapshots
 * without reading the files.
 * @throws {Error} when a row is not what was stored
 */
function sound<R extends { readonly digest: Buffer }>(row: R, digest: Buffer): R {
  if (!digest.equals(row.digest)) throw new Error('a row of the ledger is damaged');
  return row;
}

function digestOfPack({ name, kind, length, ids }: Omit<PackRow, 'digest'>): Buffer {
  return digestOf(name, Buffer.from(`${kind}/${length}`), ids);
}

function digestOfFile(file: Buffer, { ids, holes }: Pick<FileRow, 'ids' | 'holes'>): Buffer {
  return digestOf(file, ids, holes);
}

/** 16 bytes: against chance only, since anyone who can write this file can also use the key. */
function digestOf(...parts: readonly Buffer[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return hash.digest().subarray(0, 16);
}

function encodeHoles(holes: NotedContent['holes']): Buffer {
  const bytes = Buffer.alloc(holes.length * HOLE);
  for (const [i, { offset, length }] of holes.entries()) {
    bytes.writeBigUInt64BE(BigInt(offset), i * HOLE);
    bytes.writeBigUInt64BE(BigInt(length), i * HOLE + 8);
  }
  return bytes;
}

function decodeHoles(bytes: Buffer): NotedContent['holes'] {
  const holes: { offset: number; length: number }[] = [];
  for (let at = 0; at < bytes.length; at += HOLE) {
    holes.push({
      offset: Number(bytes.readBigUInt64BE(at)),
      length: Number(bytes.readBigUInt64BE(at + 8)),
    });
  }
  return holes;
}

function open(path: string): Sqlite.Database {
  makeDirectoriesSync(dirname(path));
  const database = new Sqlite(path, { timeout: 2_000 });
  try {
    database.pragma('journal_mode = WAL');
    // Losing it in a power failure costs a full backup, nothing else. A half-written state is noticed.
    database.pragma('synchronous = OFF');
    if (Number(database.pragma('user_version', { simple: true })) !== SCHEMA) {
      database.exec(
        `DROP TABLE IF EXISTS packs;
         DROP TABLE IF EXISTS files;
         CREATE TABLE packs (name BLOB PRIMARY KEY, kind INTEGER NOT NULL, length INTEGER NOT NULL, ids BLOB NOT NULL,
           digest BLOB NOT NULL) WITHOUT ROWID;
         CREATE TABLE files (file BLOB PRIMARY KEY, ids BLOB NOT NULL, holes BLOB NOT NULL, used INTEGER NOT NULL,
           digest BLOB NOT NULL) WITHOUT ROWID;
         PRAGMA user_version = ${SCHEMA};`,
      );
    }
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
