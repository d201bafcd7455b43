/** The amount stored in each destination, day by day. Not in the journal, as a chart without its past does no harm. */
import { relaxed, type Database } from './database.ts';

export interface StoredAmount {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly bytes: number;
}

const DAY_MS = 86_400_000;
/** Three years. */
const KEPT_DAYS = 1_096;
/** Days for which every amount is returned; before that, only the last one of each week. */
const EACH_DAYS = 92;
const WEEK_DAYS = 7;

export interface StoredAmountStore {
  /** Replaces an amount of the same day. */
  put(destination: string, amount: StoredAmount): void;
  /** The oldest first: at most one for each day, and one for each week beyond a quarter of a year. */
  of(destination: string): readonly StoredAmount[];
  prune(nowMs: number): void;
}

export function createStoredAmountStore(db: Database): StoredAmountStore {
  const put = db.prepare<[string, number, number, number]>(
    'INSERT OR REPLACE INTO stored_bytes VALUES (?, ?, ?, ?)',
  );
  const select = db.prepare<[string], Row>(
    'SELECT day, at, bytes FROM stored_bytes WHERE destination = ? ORDER BY day',
  );
  const prune = db.prepare<[number]>('DELETE FROM stored_bytes WHERE day < ?');
  /** Cached answers, until something is written. */
  const known = new Map<string, readonly StoredAmount[]>();
  return {
    put(destination, { at, bytes }) {
      known.delete(destination);
      relaxed(db, () => put.run(destination, dayOf(at), at, bytes));
    },
    of(destination) {
      const answer = known.get(destination) ?? thinned(select.all(destination));
      // A transaction may be rolled back, so its results are not cached.
      if (!db.inTransaction) known.set(destination, answer);
      return answer;
    },
    prune(nowMs) {
      known.clear();
      prune.run(dayOf(nowMs) - KEPT_DAYS);
    },
  };
}

interface Row extends StoredAmount {
  readonly day: number;
}

function thinned(rows: readonly Row[]): readonly StoredAmount[] {
  const recent = (rows.at(-1)?.day ?? 0) - EACH_DAYS;
  return rows
    .filter(({ day }, index) => {
      const next = rows[index + 1]?.day ?? Number.POSITIVE_INFINITY;
      return day > recent || weekOf(day) !== weekOf(next);
    })
    .map(({ at, bytes }) => ({ at, bytes }));
}

function dayOf(ms: number): number {
  return Math.floor(ms / DAY_MS);
}

function weekOf(day: number): number {
  return Math.floor(day / WEEK_DAYS);
}
