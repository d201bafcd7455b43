/** Small facts by name, such as the end of a pause. Not the configuration, which is a file. */
import type { Database } from './database.ts';

export interface SettingStore {
  get(key: string): string | undefined;
  /** Undefined removes it. */
  set(key: string, value: string | undefined): void;
  all(): ReadonlyMap<string, string>;
}

/** @param changed called with every change before it takes effect */
export function createSettingStore(
  db: Database,
  changed: (key: string, value: string | null) => void,
): SettingStore {
  const select = db.prepare<[string], string>('SELECT value FROM settings WHERE key = ?');
  select.pluck();
  const all = db.prepare<[], { readonly key: string; readonly value: string }>(
    'SELECT key, value FROM settings ORDER BY key',
  );
  const put = db.prepare<[string, string]>('INSERT OR REPLACE INTO settings VALUES (?, ?)');
  const remove = db.prepare<[string]>('DELETE FROM settings WHERE key = ?');
  /** Cache of all values; undefined after one was set in a transaction, which may be rolled back. */
  let known: Map<string, string> | undefined;
  const readAll = (): Map<string, string> => new Map(all.all().map(({ key, value }) => [key, value]));
  const write = db.transaction((key: string, value: string | undefined): void => {
    if (select.get(key) === value) return;
    if (value === undefined) remove.run(key);
    else put.run(key, value);
    changed(key, value ?? null);
  });
  return {
    get(key) {
      // A transaction may be rolled back, so its results are not cached.
      if (db.inTransaction) return select.get(key);
      known ??= readAll();
      return known.get(key);
    },
    set(key, value) {
      if (db.inTransaction) {
        known = undefined;
        write(key, value);
        return;
      }
      write(key, value);
      // Reading all of them again after each of many changes would take time with their square.
      if (value === undefined) known?.delete(key);
      else known?.set(key, value);
    },
    all: readAll,
  };
}
