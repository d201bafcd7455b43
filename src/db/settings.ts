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
  /** Cache of all values, until one is set. */
  let known: ReadonlyMap<string, string> | undefined;
  const readAll = (): ReadonlyMap<string, string> => new Map(all.all().map(({ key, value }) => [key, value]));
  return {
    get(key) {
      // A transaction may be rolled back, so its results are not cached.
      if (db.inTransaction) return select.get(key);
      known ??= readAll();
      return known.get(key);
    },
    set: db.transaction((key: string, value: string | undefined): void => {
      known = undefined;
      if (select.get(key) === value) return;
      if (value === undefined) remove.run(key);
      else put.run(key, value);
      changed(key, value ?? null);
    }),
    all: readAll,
  };
}
