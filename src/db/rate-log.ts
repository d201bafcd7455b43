/**
 * Rate limits by a sliding log: a request is accepted when fewer than `limit` requests were accepted in the window that ends with
 * it. The times of accepted requests are counted in memory and stored on the disk, so that a restart does not reset the limit.
 * To avoid a write for every request, several places at a time are reserved on the disk before they are used. If the
 * process is killed before it writes their times, reserved places count as used when the log is opened again. Then, for
 * up to one window, a hundredth of the limit may be refused needlessly, or a quarter with windows of a minute or less,
 * but never is too much accepted. While nothing can be written, only memory counts, as a full disk must not keep
 * anybody from asking what is wrong.
 */
import { isDamage, isFailedQuery, relaxed, type Database } from './database.ts';

export interface RateVerdict {
  readonly accepted: boolean;
  /** Number of further requests that would be accepted right now. */
  readonly remaining: number;
  /** When the next place becomes free; the current time when all are free. Milliseconds since 1970. */
  readonly resetAtMs: number;
  /** Milliseconds until a request would be accepted; 0 when this one was. */
  readonly retryAfterMs: number;
}

export interface RateLog {
  /** Accepts and records a request, or refuses it, which records nothing. */
  tryAccept(bucket: string, limit: number, windowMs: number, nowMs: number): RateVerdict;
  /**
   * Returns what `tryAccept` would return as `accepted` and `retryAfterMs`, and how many places are left, without
   * recording a request.
   */
  look(bucket: string, limit: number, windowMs: number, nowMs: number): RateVerdict;
  /** Forgets requests that are outside of a window of `windowMs`. */
  prune(windowMs: number, nowMs: number): void;
  /** Writes the times that are only in memory, and releases reserved places. To be called before the end. */
  flush(): void;
}

interface Bucket {
  /** Ascending; those before `first` have left the window. */
  readonly times: number[];
  first: number;
  /** Number of times at the end that are not on the disk. */
  unwritten: number;
  /** Places that are reserved on the disk but not used. */
  reserved: number;
  /** Times on the disk differ: places were reserved before, or times were ahead of the clock. */
  moved: boolean;
}

/** Share of a limit that is reserved at once. */
const RESERVED_SHARE = 0.01;
/** The same share for limits with short windows: it makes fewer writes, each of which delays all other requests. */
const RESERVED_SHARE_OF_SHORT = 0.25;
const SHORT_WINDOW_MS = 60_000;
/** The most buckets in memory, as there may be one for each address, and for each key that somebody tries. */
const MOST_BUCKETS = 1_000;
/** Times that have left the window are dropped from memory in batches of this size. */
const DROPPED_AT_ONCE = 256;

/**
 * @param openedAtMs the current time
 * @param mostBuckets the most buckets in memory
 */
export function createRateLog(db: Database, openedAtMs: number, mostBuckets = MOST_BUCKETS): RateLog {
  const store = createTimeStore(db);
  const buckets = new Map<string, Bucket>();

  /** `more`: times of requests that are accepted with this write. */
  const keep = (name: string, bucket: Bucket, reserve: number, more: readonly number[]): void => {
    store.write(name, bucket, reserve, more);
    bucket.times.push(...more);
    bucket.unwritten = 0;
    bucket.reserved = reserve;
    bucket.moved = false;
  };
  /** Returns false when writing failed. */
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
    // An earlier process reserved these places, so they were used before the log was opened, if at all.
    const taken = Array.from({ length: reserved }, () => openedAtMs);
    const times = [...written, ...taken].sort((a, b) => a - b);
    const bucket = { times, first: 0, unwritten: 0, reserved: 0, moved: reserved > 0 };
    buckets.set(name, bucket);
    return bucket;
  };
  const look = (name: string, limit: number, windowMs: number, nowMs: number): RateVerdict => {
    const bucket = open(name);
    refill(bucket, nowMs);
    const { times } = bucket;
    const first = firstAfter(bucket, nowMs - windowMs);
    const used = times.length - first;
    const accepted = used < limit;
    // After the limit was lowered, the window may contain more requests than the limit: all but `limit - 1` have to leave it.
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
 * A clock that was set back leaves times in the future. They count as accepted just now, which accepts nothing extra,
 * and ends after one window, even if the clock had been years ahead.
 */
function refill(bucket: Bucket, nowMs: number): void {
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

/** Drops requests that were accepted until `untilMs`. */
function leave(bucket: Bucket, untilMs: number): void {
  const { times } = bucket;
  bucket.first = firstAfter(bucket, untilMs);
  bucket.unwritten = Math.min(bucket.unwritten, times.length - bucket.first);
  if (bucket.first < DROPPED_AT_ONCE) return;
  times.splice(0, bucket.first);
  bucket.first = 0;
}

/** The buckets on the disk. Writes are not waited for, as that would delay all other requests. */
interface TimeStore {
  /** Times in any order, some of them long past, and the number of reserved places. */
  read(name: string): { readonly times: readonly number[]; readonly reserved: number };
  /** Stores the times of a bucket and `more`, and reserves `reserve` places in addition. */
  write(name: string, bucket: Bucket, reserve: number, more: readonly number[]): void;
  /** Forgets requests that were accepted until then. */
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
