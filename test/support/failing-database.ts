/** SQLite that fails one chosen call, whatever it is: statements, transactions and pragmas of every connection here. */
import Sqlite from 'better-sqlite3';

/** What SQLite answers when the disk or another process is the matter. */
export const DATABASE_FAILURES = [
  'SQLITE_FULL',
  'SQLITE_IOERR_WRITE',
  'SQLITE_IOERR_FSYNC',
  'SQLITE_IOERR_READ',
  'SQLITE_BUSY',
  'SQLITE_READONLY',
  'SQLITE_CANTOPEN',
  'SQLITE_NOMEM',
] as const;
export type DatabaseFailure = (typeof DATABASE_FAILURES)[number];

export interface FailingDatabase extends Disposable {
  /** The n-th call from now on fails, counted from 1. */
  arm(nth: number, code: DatabaseFailure): void;
  /** As on a full disk: whatever is to be written from now on finds no room, or what these statements write. */
  fill(statements?: RegExp): void;
  /** No call fails any more. Returns what has failed, or undefined when it never came to that. */
  disarm(): string | undefined;
  /** How often there was no room so far. */
  readonly refusals: number;
}

const WRITES = /^ ?(?:INSERT|UPDATE|DELETE)/;

type AnyFunction = (this: unknown, ...args: unknown[]) => unknown;

/** Calls to better-sqlite3 in this process go through it until it is disposed. */
export function failingDatabase(): FailingDatabase {
  let armed: { readonly nth: number; readonly code: DatabaseFailure } | undefined;
  let calls = 0;
  let full: RegExp | undefined;
  let hit: string | undefined;
  let refusals = 0;
  const undo: (() => void)[] = [];

  const hook = (prototype: object, name: string): void => {
    const original = Reflect.get(prototype, name) as AnyFunction;
    const hooked: AnyFunction = function (...args) {
      if (name === 'run' && full?.test(sqlOf(this, [])) === true) {
        refusals += 1;
        throw new Sqlite.SqliteError('database or disk is full', 'SQLITE_FULL');
      }
      if (armed !== undefined) {
        calls += 1;
        if (calls === armed.nth) {
          hit = `${name} ${sqlOf(this, args)}`;
          throw new Sqlite.SqliteError(`planned: ${hit}`, armed.code);
        }
      }
      return Reflect.apply(original, this, args);
    };
    Reflect.set(prototype, name, hooked);
    undo.push(() => Reflect.set(prototype, name, original));
  };

  const probe = new Sqlite(':memory:');
  const statements: object = Object.getPrototypeOf(probe.prepare('SELECT 1'));
  probe.close();
  for (const name of ['run', 'get', 'all', 'iterate']) hook(statements, name);
  for (const name of ['prepare', 'exec', 'pragma']) hook(Sqlite.prototype, name);

  return {
    arm(nth, code) {
      armed = { nth, code };
      calls = 0;
      hit = undefined;
    },
    fill(statements = WRITES) {
      full = statements;
    },
    disarm() {
      armed = undefined;
      full = undefined;
      return hit;
    },
    get refusals() {
      return refusals;
    },
    [Symbol.dispose]() {
      for (const step of undo) step();
    },
  };
}

function sqlOf(self: unknown, [first]: readonly unknown[]): string {
  const source: unknown =
    typeof first === 'string' || typeof self !== 'object' || self === null
      ? first
      : Reflect.get(self, 'source');
  return String(source).replaceAll(/\s+/g, ' ').slice(0, 80);
}
