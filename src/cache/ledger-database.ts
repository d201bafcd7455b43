/** The ledger of a write-only key as a file: disposable, as every cache. */
import { mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import Sqlite from 'better-sqlite3';
import type { Clock } from '../base/clock.ts';
import type { Ledger, NotedContent, NotedPack } from '../repository/ledger.ts';

const SCHEMA = 1;
const DAY_MS = 86_400_000;
/** Notes of files that were not asked for in so many days go: the files are gone, or no source any more. */
const KEPT_DAYS = 30;
/** Written in one go. */
const WAITING_FILES = 2_000;
const HOLE = 16;

interface PackRow {
  readonly name: Buffer;
  readonly kind: number;
  readonly length: number;
  readonly ids: Buffer;
}

interface FileRow {
  readonly ids: Buffer;
  readonly holes: Buffer;
  readonly used: number;
}

/**
 * Several processes may share one file. Nothing here throws: after the first thing that goes wrong it is an empty ledger
 * that notes nothing, and the next process starts a new file.
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
      database.prepare<[], PackRow>('SELECT name, kind, length, ids FROM packs').all(),
    );
    return (rows ?? []).map(({ name, kind, length, ids }) => ({
      name: name.toString('hex'),
      kind: kind === 1 ? 'data' : 'tree',
      length,
      ids,
    }));
  }

  notePack({ name, kind, length, ids }: NotedPack): void {
    this.#attempt((database) => {
      database
        .prepare('INSERT OR REPLACE INTO packs (name, kind, length, ids) VALUES (?, ?, ?, ?)')
        .run(Buffer.from(name, 'hex'), kind === 'data' ? 1 : 2, length, ids);
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
        .prepare<[Buffer], FileRow>('SELECT ids, holes, used FROM files WHERE file = ?')
        .get(file);
      if (row === undefined) return undefined;
      if (row.used < this.#today()) this.#touched.push(Buffer.from(file));
      return { ids: row.ids, holes: decodeHoles(row.holes) };
    });
  }

  noteContent(file: Buffer, { ids, holes }: NotedContent): void {
    if (this.#database === undefined) return;
    // Copied: what a reader gives is part of memory that it shares with others.
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
        'INSERT OR REPLACE INTO files (file, ids, holes, used) VALUES (?, ?, ?, ?)',
      );
      const touch = database.prepare('UPDATE files SET used = ? WHERE file = ?');
      database.transaction(() => {
        for (const [file, { ids, holes }] of this.#waiting)
          note.run(Buffer.from(file, 'hex'), ids, encodeHoles(holes), today);
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

  /** What is damaged, or cannot be written, is worth less than finding out why. */
  #giveUp(): void {
    const database = this.#database;
    this.#database = undefined;
    try {
      database?.close();
      for (const end of ['', '-wal', '-shm']) rmSync(`${this.#path}${end}`, { force: true });
    } catch {
      // Another process has it open, or the directory cannot be written: the next one tries again.
    }
  }
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
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const database = new Sqlite(path, { timeout: 2_000 });
  try {
    database.pragma('journal_mode = WAL');
    // Losing it in a power failure costs a full backup, nothing else.
    database.pragma('synchronous = OFF');
    if (Number(database.pragma('user_version', { simple: true })) !== SCHEMA) {
      database.exec(
        `DROP TABLE IF EXISTS packs;
         DROP TABLE IF EXISTS files;
         CREATE TABLE packs (name BLOB PRIMARY KEY, kind INTEGER NOT NULL, length INTEGER NOT NULL, ids BLOB NOT NULL)
           WITHOUT ROWID;
         CREATE TABLE files (file BLOB PRIMARY KEY, ids BLOB NOT NULL, holes BLOB NOT NULL, used INTEGER NOT NULL)
           WITHOUT ROWID;
         PRAGMA user_version = ${SCHEMA};`,
      );
    }
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
