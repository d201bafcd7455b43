/**
 * Dumb object storage: what a repository needs of the place it lives in, and nothing else.
 *
 * Contract, the same for every kind of destination and tested by one suite:
 * - A key is `/`-separated, each part of `[a-z0-9._-]`, never empty, never `.` or `..`.
 * - `put` is all or nothing: after it resolves the object is durable (survives power loss where the storage can
 *   promise it) and complete; when it rejects or the process dies, the key either does not exist or holds the
 *   whole object. Nothing partial is ever visible to `get`, `stat` or `list`.
 * - `put` never replaces: an existing key rejects with kind `exists`, whatever its content. Where
 *   `properties.conditionalCreate` is true exactly one of several racing writers wins.
 * - After `put` resolves, `get`, `stat` and `list` see the object at once (read after write).
 * - `get` with a range returns exactly the bytes asked for, or rejects with `corrupt-reply`; a range beyond the
 *   end rejects with `corrupt-reply`. A missing key rejects with `not-found`.
 * - `list` yields every object whose key starts with `prefix`, in no particular order, in pages; an error in the
 *   middle rejects the iteration, so a list that ends is complete. A prefix that nothing matches yields nothing.
 * - `delete` of a missing key resolves.
 * - Times are the storage's own clock, in milliseconds since 1970; compare them with each other only.
 * - An aborted signal rejects with the signal's reason, promptly, and leaves nothing partial visible.
 * - Every failure is a `DestinationError`; nobody above reads errno or HTTP status.
 */
export interface Destination {
  readonly properties: DestinationProperties;
  /** Stores `body` under a new key. Rejects with kind `exists` when the key is taken. */
  put(key: string, body: Uint8Array, signal: AbortSignal): Promise<ObjectStat>;
  /** The whole object, or `length` bytes from `offset`; a negative offset counts from the end. */
  get(key: string, range: ByteRange | undefined, signal: AbortSignal): Promise<Buffer>;
  stat(key: string, signal: AbortSignal): Promise<ObjectStat>;
  /** Pages of at most 1,000 objects. */
  list(prefix: string, signal: AbortSignal): AsyncIterable<readonly ListedObject[]>;
  delete(key: string, signal: AbortSignal): Promise<void>;
  /**
   * Restarts the object's time of protection: for the configured time, counted from now, nobody can remove or replace
   * it. Present only where the storage protects what is put; `put` itself starts that time as well.
   */
  retain?(key: string, signal: AbortSignal): Promise<void>;
  /**
   * Removes what interrupted puts left behind, once it is a day old by the storage's clock. It never removes what a put
   * may still be using, and nothing where these credentials may not delete. Resolves with how much was removed. Present
   * only where puts can leave something behind.
   */
  removeLeftovers?(signal: AbortSignal): Promise<Leftovers>;
  /**
   * Makes objects durable that a list shows but whose put may not have resolved: its process may have died after the
   * object got its name and before that name was made durable. Keys that no longer exist are ignored. Present only
   * where put does these in two steps.
   */
  makeDurable?(keys: readonly string[], signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** Temporary files and the like that were removed. */
export interface Leftovers {
  readonly files: number;
  readonly bytes: number;
}

export interface ByteRange {
  /** From the start of the object, or, when negative, from its end. */
  readonly offset: number;
  readonly length: number;
}

export interface ObjectStat {
  /** Bytes. */
  readonly size: number;
  /** The storage's clock, milliseconds since 1970. */
  readonly modifiedMs: number;
}

export interface ListedObject extends ObjectStat {
  readonly key: string;
}

/** What differs between stores, as data. */
export interface DestinationProperties {
  /** For people and logs: a URL without user info, query or secret. */
  readonly url: string;
  /** Exactly one of several racing creators of a key wins. */
  readonly conditionalCreate: boolean;
  /** Objects can be removed; false for append-only credentials. */
  readonly canDelete: boolean;
  /** How many concurrent calls still speed things up. */
  readonly maxParallel: number;
  /** True when a call costs a network round trip: readers then coalesce and prefetch. */
  readonly remote: boolean;
  /** For how many days `put` and `retain` protect an object; undefined where nothing is protected. */
  readonly retainDays?: number;
  /**
   * Set once an answer to a delete shows that the storage keeps deleted objects: `hidden` as versions that are no
   * longer current, `refused` when it does not delete them for a time.
   */
  readonly keepsDeleted?: 'hidden' | 'refused';
  /** A list takes one request for each 1,000 objects and comes in the order of keys; elsewhere it takes one for each folder. */
  readonly flatLists?: boolean;
}
