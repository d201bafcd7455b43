/** Finds the backups that are at work, by their leases. */
import { DestinationError, RepositoryError } from '../base/errors.ts';
import { decodeHeader } from '../format/header.ts';
import type { LeaseRecord } from '../format/lease-record.ts';
import { outdatedSinceMs } from './generation-age.ts';
import { aliveOf, leaseKey, listLeases, openLease, type StoredLease } from './lease-objects.ts';
import { mapParallel } from './objects/parallel.ts';
import type { Repository } from './repository.ts';

const PREFIX = 'leases/session.';
/** How many times the leases of a session are listed when heartbeats replace them while they are read. */
const LOOKS = 3;

export interface LiveSession {
  /** 16 hex digits. */
  readonly session: string;
  /** Storage time of the first epoch; 0 when a lease cannot be read, since it may be of any age. */
  readonly startedMs: number;
  readonly lastSeenMs: number;
  readonly host: string;
  readonly pid: number;
}

/**
 * The backups at work. The holder of a write-only key can claim that one is at work until the key is removed and the
 * grace period has passed after that, since leases under older keys then expire. Anyone who may add objects can add
 * leases to a real session, so all leases of a session are read, and its earliest start is used.
 *
 * @param nowMs the storage's present time
 */
export async function liveSessions(
  repository: Repository,
  nowMs: number,
  signal: AbortSignal,
): Promise<LiveSession[]> {
  // Listed twice, since a list may miss both the old and the new object of a lease that is replaced meanwhile.
  // Heartbeats are a minute apart, so the second list shows it.
  const listed = [
    ...(await listLeases(repository, PREFIX, signal)),
    ...(await listLeases(repository, PREFIX, signal)),
  ];
  const look = new SessionLook(repository, nowMs, signal);
  await look.at(listed);
  for (let looks = 1; look.gone.size > 0 && looks < LOOKS; looks += 1)
    await look.at(
      (await listLeases(repository, PREFIX, signal)).filter(({ purpose }) => look.gone.has(purpose)),
    );
  return look.sessions();
}

/** What one lease states about its session. */
type Told = Omit<LiveSession, 'session'>;

class SessionLook {
  readonly #repository: Repository;
  readonly #nowMs: number;
  readonly #signal: AbortSignal;
  readonly #judged = new Set<string>();
  readonly #told = new Map<string, Told[]>();
  /** Since when, by the storage's clock, each key generation has been old; undefined: it is not known to be. */
  readonly #ages = new Map<number, Promise<number | undefined>>();
  /**
   * Purposes of leases that vanished after they were listed: replaced by a heartbeat, or removed at the end of the
   * session.
   */
  gone: ReadonlySet<string> = new Set();

  constructor(repository: Repository, nowMs: number, signal: AbortSignal) {
    this.#repository = repository;
    this.#nowMs = nowMs;
    this.#signal = signal;
  }

  /** Reads and judges the leases that were not judged before. */
  async at(listed: readonly StoredLease[]): Promise<void> {
    const repository = this.#repository;
    const keyOf = ({ purpose, epoch }: StoredLease): string => leaseKey(purpose, epoch);
    const fresh = new Map(listed.map((lease) => [keyOf(lease), lease]));
    for (const key of this.#judged) fresh.delete(key);
    const alive = await aliveOf(repository, [...fresh.values()], this.#nowMs, this.#signal);
    const gone = new Set<string>();
    const { maxParallel } = repository.destination.properties;
    await mapParallel(alive, maxParallel, async (lease) => {
      this.#judged.add(keyOf(lease));
      const told = await this.#judge(lease);
      if (told === 'gone') gone.add(lease.purpose);
      else if (told !== undefined)
        this.#told.set(lease.purpose, [...(this.#told.get(lease.purpose) ?? []), told]);
    });
    this.gone = gone;
  }

  sessions(): LiveSession[] {
    // A session whose leases are replaced faster than they can be read is at work; its start is unknown.
    for (const purpose of this.gone)
      if (!this.#told.has(purpose)) this.#told.set(purpose, [{ ...UNREAD, lastSeenMs: this.#nowMs }]);
    return [...this.#told].map(([purpose, told]) => {
      const [first = UNREAD] = told.toSorted((a, b) => a.startedMs - b.startedMs);
      const lastSeenMs = Math.max(...told.map((one) => one.lastSeenMs));
      return { session: purpose.slice('session.'.length), ...first, lastSeenMs };
    });
  }

  /** What a lease states; undefined when prune need not wait for it. */
  async #judge({ purpose, epoch, storedMs }: StoredLease): Promise<Told | 'gone' | undefined> {
    const repository = this.#repository;
    try {
      const bytes = await repository.destination.get(leaseKey(purpose, epoch), undefined, this.#signal);
      if (await this.#isOutdated(bytes)) return undefined;
      const open = (): LeaseRecord => openLease(repository, bytes, purpose, epoch);
      const { startedMs, host, pid } = await repository.withKeys(open, this.#signal);
      // The first lease does not know its storage time. A start later than the lease itself is not believed.
      return {
        startedMs: startedMs === 0 ? storedMs : Math.min(startedMs, storedMs),
        lastSeenMs: storedMs,
        host,
        pid,
      };
    } catch (error) {
      if (error instanceof RepositoryError) return { ...UNREAD, lastSeenMs: storedMs };
      if (error instanceof DestinationError && error.kind === 'not-found') return 'gone';
      throw error;
    }
  }

  /**
   * Whether a lease is sealed under keys that have been old for the grace period. A session that still uses them learns
   * of the newer ones before its commit, and what it relies on is not deleted before that.
   */
  async #isOutdated(bytes: Buffer): Promise<boolean> {
    try {
      const { generation } = decodeHeader(bytes, 'a lease');
      const age = this.#ages.get(generation) ?? outdatedSinceMs(this.#repository, generation, this.#signal);
      this.#ages.set(generation, age);
      const sinceMs = await age;
      return sinceMs !== undefined && sinceMs + this.#repository.config.graceSeconds * 1_000 <= this.#nowMs;
    } catch (error) {
      if (!(error instanceof RepositoryError)) throw error;
      return false;
    }
  }
}

const UNREAD: Told = { startedMs: 0, lastSeenMs: 0, host: '', pid: 0 };
