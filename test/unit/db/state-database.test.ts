import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  readFileSync,
  readdirSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase, relaxed } from '../../../src/db/database.ts';
import { MIGRATIONS } from '../../../src/db/migrate.ts';
import { stateFailureOf } from '../../../src/db/state-failure.ts';
import { returnSpareMemory } from '../../../src/system/spare-memory.ts';
import { databaseSite, type DatabaseSite } from './open-database.ts';

let site: DatabaseSite;

beforeEach(() => {
  site = databaseSite();
});
afterEach(() => {
  site.remove();
});

const modeOf = (path: string): number => statSync(path).mode & 0o777;

/** Another program that looks into the database, and may keep others from writing. */
function holder(path: string) {
  const other = new Sqlite(path, { timeout: 0 });
  return {
    read: () => void other.prepare('SELECT count(*) FROM jobs').all(),
    lock: () => void other.exec('BEGIN IMMEDIATE'),
    unlock: () => void other.exec('ROLLBACK'),
    [Symbol.dispose]: () => void other.close(),
  };
}

describe('the state database', () => {
  it('writes every commit to the disk before it returns, but for what may be lost', () => {
    const database = openDatabase(site.path);
    try {
      const now = (name: string): unknown => database.pragma(name, { simple: true });
      const FULL = 2;
      const NORMAL = 1;
      expect([now('journal_mode'), now('synchronous')]).toEqual(['wal', FULL]);
      expect(relaxed(database, () => now('synchronous'))).toBe(NORMAL);
      expect(now('synchronous')).toBe(FULL);
      // Inside of what has to last, nothing is relaxed.
      const within = database.transaction(() => relaxed(database, () => now('synchronous')));
      expect(within()).toBe(FULL);
    } finally {
      database.close();
    }
  });

  it.runIf(process.platform === 'linux')(
    'holds little memory while it rests, and all is there afterwards',
    () => {
      const database = site.reopen();
      const value = 'x'.repeat(20_000);
      const names = Array.from({ length: 1_500 }, (_, index) => `setting ${index}`);
      database.transaction(() => {
        for (const name of names) database.settings.set(name, value);
      });
      const readAll = (): boolean => names.every((name) => database.settings.get(name) === value);
      const residentKiB = (): number =>
        Number(/^Rss: +(\d+)/m.exec(readFileSync('/proc/self/smaps_rollup', 'latin1'))?.[1]);
      expect(readAll()).toBe(true);
      returnSpareMemory();
      const before = residentKiB();
      database.rest();
      returnSpareMemory();
      expect(residentKiB()).toBeLessThan(before - 8_000);
      expect(readAll()).toBe(true);
    },
  );

  it('is for its owner alone, with everything beside it', () => {
    site.reopen().settings.set('a', 'b');
    const files = readdirSync(site.directory);
    expect(files.sort()).toEqual(['state.db', 'state.db-wal']);
    for (const file of files) expect(modeOf(join(site.directory, file))).toBe(0o600);
  });

  it('keeps other programs from taking a lock that it would have to wait for', () => {
    const { settings } = site.reopen();
    using other = holder(site.path);
    expect(() => other.lock()).toThrow('locked');
    settings.set('a', 'b');
    expect(settings.get('a')).toBe('b');
  });

  it('that another program has open already waits for it no longer than a moment, and says what it is', () => {
    site.reopen().close();
    using other = holder(site.path);
    other.read();
    const { settings } = site.reopen();
    settings.set('a', 'b');
    other.lock();
    const begun = performance.now();
    const failed = (() => {
      try {
        settings.set('a', 'c');
        return undefined;
      } catch (error) {
        return stateFailureOf(error);
      }
    })();
    expect(performance.now() - begun).toBeLessThan(1_000);
    expect([failed, settings.get('a')]).toEqual(['held', 'b']);
    other.unlock();
    settings.set('a', 'c');
    expect(settings.get('a')).toBe('c');
  });

  it('is refused when others can read it, with what to do', () => {
    site.reopen();
    chmodSync(site.path, 0o644);
    expect(() => site.reopen()).toThrow(
      expect.objectContaining({ code: 'STATE_NOT_PRIVATE', hint: expect.stringContaining('chmod 600') }),
    );
    chmodSync(site.path, 0o600);
    chmodSync(site.directory, 0o777);
    expect(() => site.reopen()).toThrow(expect.objectContaining({ code: 'STATE_NOT_PRIVATE' }));
    chmodSync(site.directory, 0o700);
  });

  it('is refused when it is a link', () => {
    site.reopen();
    site.reopen().close();
    renameSync(site.path, join(site.directory, 'elsewhere.db'));
    symlinkSync('elsewhere.db', site.path);
    expect(() => site.reopen()).toThrow(
      expect.objectContaining({ code: 'READ_ERROR', hint: expect.stringContaining('symbolic link') }),
    );
  });

  it.each([
    [
      'overwritten',
      (path: string) => writeFileSync(path, 'not a database, but long enough to be looked at'.repeat(99)),
    ],
    ['cut short', (path: string) => truncateSync(path, 10_000)],
    [
      'changed in the middle',
      (path: string) => {
        const bytes = readFileSync(path);
        bytes.fill(0xff, 4_096, bytes.length);
        writeFileSync(path, bytes);
      },
    ],
  ])('is set aside when it was %s', (_how, damage) => {
    const database = site.reopen();
    database.settings.set('a', 'b');
    database.close();
    damage(site.path);
    const next = site.reopen();
    expect(next.setAside).toMatch(/state\.db\.damaged-2023-11-14T22-13-20-000Z$/);
    expect(existsSync(next.setAside ?? '')).toBe(true);
    expect(next.fresh).toBe(true);
    expect(next.settings.get('a')).toBeUndefined();
    next.settings.set('a', 'c');
    expect(site.reopen()).toMatchObject({ setAside: null, fresh: false });
  });

  it('undoes a transaction that fails', () => {
    const database = site.reopen();
    expect(() =>
      database.transaction(() => {
        database.settings.set('a', 'b');
        throw new Error('no');
      }),
    ).toThrow('no');
    expect(database.settings.get('a')).toBeUndefined();
  });

  it('forgets what is past keeping', () => {
    const database = site.reopen();
    database.events.append({ kind: 'status', jobId: null, at: 0, data: {} });
    database.prune();
    expect(database.events.after(0, undefined, 1)).toEqual([]);
  });
});

describe('migrations', () => {
  const more = [...MIGRATIONS, "INSERT INTO settings VALUES ('second', 'yes')"];

  it('are never changed once they were released', () => {
    const hashes = MIGRATIONS.map((sql) => createHash('sha256').update(sql).digest('hex').slice(0, 16));
    expect(hashes).toEqual([
      '1e98bec4dfb681b8',
      '96843f1a46719f46',
      '785558fc7660bf5e',
      '5640adc8287fc15b',
      '390935d29b79e391',
      'aeb0c592693a2fed',
    ]);
  });

  it('take along how much of each rate limit is taken', () => {
    const [first = '', second = ''] = MIGRATIONS;
    const database = openDatabase(site.path);
    for (const sql of [first, second]) database.exec(sql);
    database.pragma('user_version = 2');
    database.exec(`INSERT INTO rate_log (bucket, at) VALUES ('a', 100), ('a', 300), ('b', 200),
      ('a', 9007199254740991), ('a', 9007199254740991)`);
    database.close();
    const { rateLog } = site.reopen();
    // 100 and 300, and the two places that somebody had reserved; 200.
    const remaining = (name: string): number =>
      rateLog.look(name, 10, site.clock.now(), site.clock.now()).remaining;
    expect(remaining('a')).toBe(6);
    expect(remaining('b')).toBe(9);
  });

  it('take jobs along that were made before there were passes', () => {
    const first = MIGRATIONS.slice(0, 1);
    const database = openDatabase(site.path);
    for (const sql of first) database.exec(sql);
    database.pragma('user_version = 1');
    database
      .prepare(
        `INSERT INTO jobs (id, type, status, source, destination, created_at, detail, bookkeeping)
         VALUES ('bkp_1', 'backup', 'queued', '/a', 'nas', 1, '{"attempt":2}', '{"deaths":1}')`,
      )
      .run();
    database.close();
    const { jobs } = site.reopen();
    expect(jobs.record('bkp_1')).toMatchObject({
      job: { attempt: 2 },
      bookkeeping: { deaths: 1, pass: null, readsItself: false },
    });
  });

  it('bring an existing database up to date, after a copy of it was made', () => {
    site.reopen().settings.set('mine', '1');
    const database = site.reopen(more);
    expect(database.settings.get('second')).toBe('yes');
    expect(database.settings.get('mine')).toBe('1');
    database.close();
    const copy = `${site.path}.before-${more.length}`;
    expect(modeOf(copy)).toBe(0o600);
    // The older program refuses, changes nothing, and names the copy as the way back.
    expect(() => site.reopen()).toThrow(
      expect.objectContaining({ code: 'NEWER_STATE', hint: expect.stringContaining(copy) }),
    );
    renameSync(copy, site.path);
    const before = site.reopen();
    expect(before.settings.get('mine')).toBe('1');
    expect(before.settings.get('second')).toBeUndefined();
  });

  it('copy nothing when there was nothing', () => {
    site.reopen(more);
    expect(readdirSync(site.directory).filter((name) => name.includes('before'))).toEqual([]);
  });

  it('leave everything as it was when one fails, and run again', () => {
    site.reopen().settings.set('mine', '1');
    const broken = [...more, "INSERT INTO settings VALUES ('third', 'x'); INSERT INTO nowhere VALUES (1)"];
    expect(() => site.reopen(broken)).toThrow(expect.objectContaining({ code: 'MIGRATION_FAILED' }));
    const database = site.reopen([...more, "INSERT INTO settings VALUES ('third', 'y')"]);
    expect(database.settings.get('third')).toBe('y');
    expect(database.settings.get('mine')).toBe('1');
  });

  it('of a newer program are refused', () => {
    site.reopen(more);
    expect(() => site.reopen()).toThrow(
      expect.objectContaining({ code: 'NEWER_STATE', hint: expect.stringContaining('Install the newer') }),
    );
    expect(site.reopen(more).setAside).toBeNull();
  });
});
