/** The metadata cache as a file: encrypted, bounded in size, and deleted if anything is wrong with it. */
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import Sqlite from 'better-sqlite3';
import { makeDirectoriesSync } from '../base/make-directories.ts';
import type { Clock } from '../base/clock.ts';
import type { MetadataCache } from '../repository/metadata-cache.ts';
import type { ProtectionMemory } from '../repository/metadata-cache.ts';

/** Trees of a million files take 35 MB, and each change adds to that. */
export const DEFAULT_CACHE_BYTES = 512 * 1024 * 1024;

/** Entries are written in one transaction once this much is waiting. */
const WAITING_BYTES = 4 * 1024 * 1024;
const NONCE = 12;
const TAG = 16;
const DAY_MS = 86_400_000;
const SCHEMA = 1;

export interface MetadataDatabaseOptions {
  readonly path: string;
  /** 32 bytes known only to those who can open the repository: to others the file reveals only sizes. */
  readonly key: Buffer;
  readonly limitBytes: number;
  readonly clock: Clock;
}

interface Row {
  readonly bytes: Buffer;
  readonly used: number;
}

/**
 * Any number of processes may share one file. Nothing here throws: after the first error it behaves as an empty cache
 * that keeps nothing, and the next process starts a new file.
 */
export class MetadataDatabase implements MetadataCache {
  readonly #options: MetadataDatabaseOptions;
  #database: Sqlite.Database | undefined;
  readonly #waiting = new Map<string, Buffer>();
  #waitingBytes = 0;
  readonly #touched = new Set<string>();
  /** Object keys are stored as digests, so that the file does not name what is at the destination. */
  readonly protection: ProtectionMemory = {
    untilMs: (key) =>
      this.#attempt(
        (database) =>
          database
            .prepare<[Buffer], { readonly until: number }>('SELECT until FROM protected WHERE key = ?')
            .get(this.#digestOf(key))?.until,
      ),
    note: (untilMs) => {
      this.#attempt((database) => {
        const put = database.prepare('INSERT OR REPLACE INTO protected (key, until) VALUES (?, ?)');
        database.transaction(() => {
          for (const [key, until] of untilMs) put.run(this.#digestOf(key), until);
        })();
      });
    },
  };

  constructor(options: MetadataDatabaseOptions) {
    this.#options = options;
    try {
      this.#database = open(options.path);
    } catch {
      this.#giveUp();
    }
  }

  read(name: string): Buffer | undefined {
    const waiting = this.#waiting.get(name);
    if (waiting !== undefined) return this.#unseal(name, waiting);
    return this.#attempt((database) => {
      const row = database.prepare<[string], Row>('SELECT bytes, used FROM kept WHERE name = ?').get(name);
      if (row === undefined) return undefined;
      if (row.used < this.#today()) this.#touched.add(name);
      return this.#unseal(name, row.bytes);
    });
  }

  keep(name: string, bytes: Uint8Array): void {
    if (this.#database === undefined || this.#waiting.has(name)) return;
    const sealed = this.#seal(name, bytes);
    this.#waiting.set(name, sealed);
    this.#waitingBytes += sealed.length;
    if (this.#waitingBytes >= WAITING_BYTES) this.write();
  }

  /** Writes what is waiting, and drops the least recently used entries down to the limit. */
  close(): void {
    this.write();
    this.#attempt((database) => {
      // Objects whose protection has ended are forgotten: they are gone, or will be protected again.
      database.prepare('DELETE FROM protected WHERE until < ?').run(this.#options.clock.now());
      shrink(database, this.#options.limitBytes);
      database.close();
    });
    this.#database = undefined;
  }

  write(): void {
    this.#attempt((database) => {
      const day = this.#today();
      const insert = database.prepare('INSERT OR IGNORE INTO kept (name, bytes, used) VALUES (?, ?, ?)');
      const touch = database.prepare('UPDATE kept SET used = ? WHERE name = ?');
      database.transaction(() => {
        for (const [name, bytes] of this.#waiting) insert.run(name, bytes, day);
        for (const name of this.#touched) touch.run(day, name);
      })();
    });
    this.#waiting.clear();
    this.#waitingBytes = 0;
    this.#touched.clear();
  }

  #today(): number {
    return Math.floor(this.#options.clock.now() / DAY_MS);
  }

  #digestOf(key: string): Buffer {
    return createHmac('sha256', this.#options.key).update(key).digest().subarray(0, 16);
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
    this.#waiting.clear();
    try {
      database?.close();
      for (const end of ['', '-wal', '-shm']) rmSync(`${this.#options.path}${end}`, { force: true });
    } catch {
      // Another process has it open, or the directory is not writable: the next process tries again.
    }
  }

  #seal(name: string, bytes: Uint8Array): Buffer {
    const nonce = randomBytes(NONCE);
    const cipher = createCipheriv('aes-256-gcm', this.#options.key, nonce);
    cipher.setAAD(Buffer.from(name));
    const body = [cipher.update(bytes), cipher.final()];
    return Buffer.concat([nonce, ...body, cipher.getAuthTag()]);
  }

  /** Undefined when it was sealed with another key, or has changed since. */
  #unseal(name: string, sealed: Buffer): Buffer | undefined {
    if (sealed.length < NONCE + TAG) return undefined;
    const decipher = createDecipheriv('aes-256-gcm', this.#options.key, sealed.subarray(0, NONCE));
    decipher.setAAD(Buffer.from(name));
    decipher.setAuthTag(sealed.subarray(sealed.length - TAG));
    try {
      return Buffer.concat([decipher.update(sealed.subarray(NONCE, sealed.length - TAG)), decipher.final()]);
    } catch {
      return undefined;
    }
  }
}

function open(path: string): Sqlite.Database {
  makeDirectoriesSync(dirname(path));
  const database = new Sqlite(path, { timeout: 2_000 });
  try {
    database.pragma('auto_vacuum = INCREMENTAL');
    database.pragma('journal_mode = WAL');
    // Losing it in a power failure costs requests, nothing else.
    database.pragma('synchronous = OFF');
    const version = Number(database.pragma('user_version', { simple: true }));
    if (version !== SCHEMA) {
      database.exec(
        `DROP TABLE IF EXISTS kept;
         CREATE TABLE kept (name TEXT PRIMARY KEY, bytes BLOB NOT NULL, used INTEGER NOT NULL);
         PRAGMA user_version = ${SCHEMA};`,
      );
    }
    database.exec(
      'CREATE TABLE IF NOT EXISTS protected (key BLOB PRIMARY KEY, until INTEGER NOT NULL) WITHOUT ROWID',
    );
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function shrink(database: Sqlite.Database, limitBytes: number): void {
  const page = Number(database.pragma('page_size', { simple: true }));
  const size = (): number =>
    page *
    (Number(database.pragma('page_count', { simple: true })) -
      Number(database.pragma('freelist_count', { simple: true })));
  const drop = database.prepare(
    `DELETE FROM kept WHERE rowid IN
       (SELECT rowid FROM kept ORDER BY used, rowid LIMIT max(1, (SELECT count(*) FROM kept) / 10))`,
  );
  while (size() > limitBytes && drop.run().changes > 0);
  database.pragma('incremental_vacuum');
}
