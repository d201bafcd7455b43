/**
 * Rate limits by a sliding log: a request is accepted when fewer than `limit` were accepted in the window that ends
 * with it. The times of the accepted ones are counted in memory and kept on disk, so that a restart forgives nothing.
 *
 * So as not to write at every request, places are reserved on disk some at a time before they are given out. Reserved
 * places whose times were not written, because the process was killed, count as taken when the log is opened again:
 * then for up to one window a hundredth of the limit is refused that could have been accepted, a quarter where windows are
 * a minute or shorter, and never anything accepted too much. While nothing can be written, memory alone counts: whoever
 * asks what is wrong with a disk that is full must not be turned away for that.
 */
import { isDamage, isFailedQuery, relaxed, type Database } from './database.ts';

export interface RateVerdict {
  readonly accepted: boolean;
  /** How many more would be accepted right now. */
  readonly remaining: number;
  /** When the next slot becomes free; now when all are. Milliseconds since 1970. */
  readonly resetAtMs: number;
  /** Until a request is accepted; 0 when this one was. */
  readonly retryAfterMs: number;
}

export interface RateLog {
  /** Accepts and records a request, or refuses it, which records nothing. */
  tryAccept(bucket: string, limit: number, windowMs: number, nowMs: number): RateVerdict;
  /** What `tryAccept` would say of `accepted` and `retryAfterMs`, and what is left, recording nothing. */
  look(bucket: string, limit: number, windowMs: number, nowMs: number): RateVerdict;
  /** Forgets what no window of `windowMs` holds any more. */
  prune(windowMs: number, nowMs: number): void;
  /** Writes the times that are in memory alone, and gives reserved places back: to be called before the end. */
  flush(): void;
}

interface Bucket {
  /** Rising; those before `first` have left the window. */
  readonly times: number[];
  first: number;
  /** How many of the last ones are not on the disk. */
  unwritten: number;
  /** Places that are reserved on the disk and not taken. */
  reserved: number;
  /** The disk has other times: places that were reserved before, or times that were ahead of the clock. */
  moved: boolean;
}

/** Part of a limit that is reserved at once. */
const RESERVED_SHARE = 0.01;
/** The same of limits whose windows are soon over: fewer writes, each of which holds up every other request. */
const RESERVED_SHARE_OF_SHORT = 0.25;
const SHORT_WINDOW_MS = 60_000;
/** In memory: there may be as many as addresses, and keys that somebody tries. */
const MOST_BUCKETS = 1_000;
/** Times that have left the window are dropped from memory so many at once. */
const DROPPED_AT_ONCE = 256;

/** `openedAtMs`: now. `mostBuckets`: that are kept in memory. */
export function createRateLog(db: Database, openedAtMs: number, mostBuckets = MOST_BUCKETS): RateLog {
  const store = createTimeStore(db);
  const buckets = new Map<string, Bucket>();

  /** `more`: times that are accepted with this. */
  const keep = (name: string, bucket: Bucket, reserve: number, more: readonly number[]): void => {
    store.write(name, bucket, reserve, more);
    bucket.times.push(...more);
    bucket.unwritten = 0;
    bucket.reserved = reserve;
    bucket.moved = false;
  };
  /** False when it could not be written. */
  const tryToKeep: (...what: Parameters<typeof keep>) => boolean = (...what) => {
    try {
      keep(...what);
      return true;
    } catch (error) {
      if (!isFailedQuery(error) || isDamage(error)) throw error;
      return false;
    }
  };
  const settle = (name: string, bucket: Bucket): void => {
    if (bucket.unwritten > 0 || bucket.reserved > 0 || bucket.moved) keep(name, bucket, 0, []);
  };
  const open = (name: string): Bucket => {
    const known = buckets.get(name);
    if (known !== undefined) return known;
    for (const [other, bucket] of buckets) {
      if (buckets.size < mostBuckets) break;
      settle(other, bucket);
      buckets.delete(other);
    }
    const { times: written, reserved } = store.read(name);
    // Somebody else reserved them: they were taken before the log was opened, if they were.
    const taken = Array.from({ length: reserved }, () => openedAtMs);
    const times = [...written, ...taken].sort((a, b) => a - b);
    const bucket = { times, first: 0, unwritten: 0, reserved: 0, moved: reserved > 0 };
    buckets.set(name, bucket);
    return bucket;
  };
  const look = (name: string, limit: number, windowMs: number, nowMs: number): RateVerdict => {
    const bucket = open(name);
    mend(bucket, nowMs);
    const { times } = bucket;
    const first = firstAfter(bucket, nowMs - windowMs);
    const used = times.length - first;
    const accepted = used < limit;
    // More than the limit are in the window after the limit was lowered: all but `limit - 1` have to leave it.
    const leaving = limit <= 0 ? undefined : times[accepted ? first : first + used - limit];
    const resetAtMs = leaving === undefined ? nowMs + (accepted ? 0 : windowMs) : leaving + windowMs;
    return {
      accepted,
      remaining: Math.max(0, limit - used),
      resetAtMs,
      retryAfterMs: accepted ? 0 : resetAtMs - nowMs,
    };
  };

  return {
    tryAccept(name, limit, windowMs, nowMs) {
      const verdict = look(name, limit, windowMs, nowMs);
      if (!verdict.accepted) return verdict;
      const bucket = open(name);
      leave(bucket, nowMs - windowMs);
      const places = Math.min(verdict.remaining, placesAtOnce(limit, windowMs));
      if (bucket.reserved > 0 || !tryToKeep(name, bucket, places - 1, [nowMs])) {
        bucket.reserved = Math.max(0, bucket.reserved - 1);
        bucket.unwritten += 1;
        bucket.times.push(nowMs);
      }
      const resetAtMs = verdict.resetAtMs === nowMs ? nowMs + windowMs : verdict.resetAtMs;
      return { ...verdict, remaining: verdict.remaining - 1, resetAtMs };
    },
    look,
    prune(windowMs, nowMs) {
      for (const [name, bucket] of buckets) {
        leave(bucket, nowMs - windowMs);
        if (bucket.first < bucket.times.length) continue;
        settle(name, bucket);
        buckets.delete(name);
      }
      store.forgetAll(nowMs - windowMs);
    },
    flush() {
      for (const [name, bucket] of buckets) settle(name, bucket);
    },
  };
}

function placesAtOnce(limit: number, windowMs: number): number {
  const share = windowMs <= SHORT_WINDOW_MS ? RESERVED_SHARE_OF_SHORT : RESERVED_SHARE;
  return Math.max(1, Math.floor(limit * share));
}

/**
 * A clock that was set back leaves times ahead of it. They count as accepted just now: that lets nothing more through,
 * and ends after one window even when the clock had been years ahead.
 */
function mend(bucket: Bucket, nowMs: number): void {
  const { times } = bucket;
  for (let index = times.length - 1; index >= bucket.first && (times[index] ?? 0) > nowMs; index -= 1) {
    times[index] = nowMs;
    bucket.moved = true;
  }
}

/** Index of the first time in the window. */
function firstAfter({ times, first }: Bucket, untilMs: number): number {
  let index = first;
  while (index < times.length && (times[index] ?? 0) <= untilMs) index += 1;
  return index;
}

/** Leaves out what was accepted until `untilMs`. */
function leave(bucket: Bucket, untilMs: number): void {
  const { times } = bucket;
  bucket.first = firstAfter(bucket, untilMs);
  bucket.unwritten = Math.min(bucket.unwritten, times.length - bucket.first);
  if (bucket.first < DROPPED_AT_ONCE) return;
  times.splice(0, bucket.first);
  bucket.first = 0;
}

/** What the disk has of the buckets. Nothing here waits for it: that would hold up all other requests. */
interface TimeStore {
  /** In any order, some of them long past, and the number of places that are reserved. */
  read(name: string): { readonly times: readonly number[]; readonly reserved: number };
  /** Makes the disk know the times of a bucket and `more`, and `reserve` places beside them. */
  write(name: string, bucket: Bucket, reserve: number, more: readonly number[]): void;
  /** Forgets what was accepted until then. */
  forgetAll(untilMs: number): void;
}

function createTimeStore(db: Database): TimeStore {
  const select = db.prepare<[string], { readonly times: string; readonly reserved: number }>(
    'SELECT times, reserved FROM rate_times WHERE bucket = ?',
  );
  const insert = db.prepare<[string, number | null, string, number]>(
    'INSERT INTO rate_times (bucket, newest, times, reserved) VALUES (?, ?, ?, ?)',
  );
  const release = db.prepare<[string]>('DELETE FROM rate_times WHERE bucket = ? AND newest IS NULL');
  const forget = db.prepare<[string, number]>('DELETE FROM rate_times WHERE bucket = ? AND newest < ?');
  const forgetAll = db.prepare<[number]>('DELETE FROM rate_times WHERE newest <= ?');
  const clear = db.prepare<[string]>('DELETE FROM rate_times WHERE bucket = ?');

  const write = db.transaction(
    (name: string, { times, first, unwritten, moved }: Bucket, reserve: number, more: readonly number[]) => {
      const oldest = times[first];
      if (moved || oldest === undefined) clear.run(name);
      else {
        release.run(name);
        forget.run(name, oldest);
      }
      const added = [...times.slice(moved ? first : times.length - unwritten), ...more];
      const newest = added.at(-1);
      if (newest !== undefined) insert.run(name, newest, JSON.stringify(added), 0);
      if (reserve > 0) insert.run(name, null, '[]', reserve);
    },
  );
  return {
    read(name) {
      const rows = select.all(name);
      return {
        times: rows.flatMap(({ times }): number[] => JSON.parse(times)),
        reserved: rows.reduce((sum, row) => sum + row.reserved, 0),
      };
    },
    write: (name, bucket, reserve, more) => {
      relaxed(db, () => write(name, bucket, reserve, more));
    },
    forgetAll: (untilMs) => {
      relaxed(db, () => forgetAll.run(untilMs));
    },
  };
}
