/** When scheduled work ran last and is due next, so that a restart neither repeats nor forgets it. */
import type { Database } from './database.ts';

export interface ScheduleState {
  /** Milliseconds since 1970; null before the first run. */
  readonly lastRun: number | null;
  /** Null while nothing is due. */
  readonly nextRun: number | null;
}

export interface ScheduleStore {
  get(key: string): ScheduleState | undefined;
  /** Stores all or none. */
  putAll(states: readonly (readonly [key: string, state: ScheduleState])[]): void;
  remove(key: string): void;
  all(): ReadonlyMap<string, ScheduleState>;
}

interface Row {
  readonly key: string;
  readonly last_run: number | null;
  readonly next_run: number | null;
}

export function createScheduleStore(db: Database): ScheduleStore {
  const select = db.prepare<[string], Row>('SELECT * FROM schedules WHERE key = ?');
  const all = db.prepare<[], Row>('SELECT * FROM schedules ORDER BY key');
  const put = db.prepare<[string, number | null, number | null]>(
    'INSERT OR REPLACE INTO schedules VALUES (?, ?, ?)',
  );
  const remove = db.prepare<[string]>('DELETE FROM schedules WHERE key = ?');
  const fromRow = (row: Row): ScheduleState => ({ lastRun: row.last_run, nextRun: row.next_run });
  return {
    get(key) {
      const row = select.get(key);
      return row === undefined ? undefined : fromRow(row);
    },
    putAll: db.transaction((states) => {
      for (const [key, { lastRun, nextRun }] of states) put.run(key, lastRun, nextRun);
    }),
    remove(key) {
      remove.run(key);
    },
    all: () => new Map(all.all().map((row) => [row.key, fromRow(row)])),
  };
}
