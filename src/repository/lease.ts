import { randomInt } from 'node:crypto';
import { DestinationError, HoldfastError, RepositoryError } from '../base/errors.ts';
import type { LeaseRecord } from '../format/lease-record.ts';
import {
  LEASE_TIMES,
  PRUNE_PURPOSE,
  dropLease,
  leaseKey,
  listLeases,
  putLease,
  readLease,
  type StoredLease,
} from './lease-objects.ts';
import { PRUNE_PREFIX, isRight, judgeAll, judgeLease } from './prune-right.ts';
import type { Repository } from './repository.ts';

/**
 * How many epochs a heartbeat tries when objects of others are in the way: the first few in a row, then with long
 * random steps.
 */
const STEPS = 12;
export const FEW_STEPS = 4;
export const LONGEST_STEP = 2 ** 20;

/** Milliseconds. At most how long a session waits before it looks for newer keys; the grace period is usually days. */
const FOLLOW_KEYS_MS = 3_600_000;

export interface LeaseOptions {
  /** Called once, when the lease turns out to be lost; whatever relies on it must then stop. */
  readonly onLost?: (error: HoldfastError) => void;
}

/** The right to prune, or the sign that a backup is at work, kept alive by heartbeats until it is released. */
export class Lease implements AsyncDisposable {
  readonly purpose: string;
  /** Storage time of the first epoch. */
  readonly startedMs: number;
  readonly #repository: Repository;
  readonly #record: LeaseRecord;
  readonly #onLost: ((error: HoldfastError) => void) | undefined;
  readonly #stop = new AbortController();
  #epoch: number;
  #storageMs: number;
  #monotonicMs: number;
  #longestSilenceMs = 0;
  #lost: HoldfastError | undefined;
  #anchor: { readonly wall: number; readonly monotonic: number };
  #beating: Promise<unknown> = Promise.resolve();
  readonly #following: Promise<void>;
  /** The epoch that a heartbeat is about to create. */
  #creating: number | undefined;

  constructor(repository: Repository, record: LeaseRecord, first: StoredLease, options: LeaseOptions) {
    this.#repository = repository;
    this.#record = { ...record, startedMs: first.storedMs };
    this.#onLost = options.onLost;
    this.purpose = first.purpose;
    this.startedMs = first.storedMs;
    this.#epoch = first.epoch;
    this.#storageMs = first.storedMs;
    this.#anchor = this.#moment();
    this.#monotonicMs = this.#anchor.monotonic;
    void this.#keepAlive();
    this.#following = first.purpose === PRUNE_PURPOSE ? Promise.resolve() : this.#followKeys();
  }

  /** Rises with every heartbeat; the fencing number of tombstones. */
  get epoch(): number {
    return this.#epoch;
  }

  /** Storage time of the newest epoch. */
  get storageMs(): number {
    return this.#storageMs;
  }

  /** This machine's monotonic time at the moment of `storageMs`. */
  get monotonicMs(): number {
    return this.#monotonicMs;
  }

  /**
   * The longest time between two heartbeats, by the storage's clock. If it exceeds the expiry, another process could
   * have taken the lease.
   */
  get longestSilenceMs(): number {
    return this.#longestSilenceMs;
  }

  /** Why the lease is gone, when it is. */
  get lost(): HoldfastError | undefined {
    return this.#lost;
  }

  /**
   * To be called before a write that relies on the lease: renews it first when the machine was asleep or a heartbeat
   * is overdue.
   * @throws {RepositoryError} REPOSITORY_LOCKED when it is lost
   */
  async assertHeld(signal: AbortSignal): Promise<void> {
    if (this.#lost !== undefined) throw this.#lost;
    const { wall, monotonic } = this.#moment();
    const awakeMs = monotonic - this.#anchor.monotonic;
    const jumpMs = Math.abs(wall - this.#anchor.wall - awakeMs);
    if (jumpMs > LEASE_TIMES.jump || awakeMs > 2 * LEASE_TIMES.heartbeat) await this.renew(signal);
  }

  /**
   * Makes a heartbeat at once; returns the storage's present time.
   * @throws {RepositoryError} REPOSITORY_LOCKED when the lease is lost
   * @throws {DestinationError}
   */
  async renew(signal: AbortSignal): Promise<number> {
    const before = this.#beating;
    const mine = (async (): Promise<void> => {
      await Promise.allSettled([before]);
      await this.#beat(signal);
    })();
    this.#beating = mine;
    await mine;
    return this.#storageMs;
  }

  /** Ends the heartbeats and removes the lease. A lease that cannot be removed expires. */
  async release(): Promise<void> {
    this.#stop.abort();
    await Promise.allSettled([this.#beating, this.#following]);
    const { destination } = this.#repository;
    if (this.#lost !== undefined || !destination.properties.canDelete) return;
    const signal = AbortSignal.timeout(LEASE_TIMES.release);
    try {
      // An aborted heartbeat may have stored its epoch after all.
      const creating = this.#creating;
      if (creating !== undefined && (await this.#isOurs(creating, signal)))
        await dropLease(this.#repository, { purpose: this.purpose, epoch: creating }, signal);
      await dropLease(this.#repository, { purpose: this.purpose, epoch: this.#epoch }, signal);
    } catch (error) {
      if (!(error instanceof HoldfastError) && !signal.aborted) throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release();
  }

  async #keepAlive(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        await this.#repository.clock.sleep(LEASE_TIMES.heartbeat, signal);
        await this.renew(signal);
      } catch (error) {
        if (signal.aborted) return;
        const silentMs = this.#moment().monotonic - this.#anchor.monotonic;
        if (!(error instanceof DestinationError)) this.#lose(this.#gone('its heartbeat failed', error));
        else if (silentMs >= LEASE_TIMES.giveUp)
          this.#lose(this.#gone('its heartbeats could not be stored', error));
      }
    }
  }

  /** Creates the next epoch and removes the one before it. */
  async #beat(signal: AbortSignal): Promise<void> {
    if (this.#lost !== undefined) throw this.#lost;
    const lateMs = await this.#beatOnce(signal);
    // A right to prune that was stored this late counts as stale to others, so another heartbeat is made at once.
    if (this.purpose === PRUNE_PURPOSE && Math.abs(lateMs) > LEASE_TIMES.expiry) await this.#beatOnce(signal);
  }

  /**
   * Creates the next epoch and removes the one before it. Returns by how many milliseconds it was stored later than it
   * states.
   */
  async #beatOnce(signal: AbortSignal): Promise<number> {
    if (this.purpose === PRUNE_PURPOSE) await this.#requireNewest(signal);
    const before = this.#epoch;
    // The machine may sleep while it waits for the answer, so the time of the request counts.
    const asked = this.#moment();
    // What the storage's clock should show at this moment, even after a sleep.
    const seenMs = this.#storageMs + Math.max(0, asked.wall - this.#anchor.wall);
    const created = await this.#create(before + 1, seenMs, signal);
    this.#creating = undefined;
    if (created === undefined) throw this.#lose(this.#gone('another process took it over'));
    const { epoch, storedMs } = created;
    this.#epoch = epoch;
    this.#longestSilenceMs = Math.max(this.#longestSilenceMs, storedMs - this.#storageMs);
    this.#storageMs = storedMs;
    this.#anchor = asked;
    this.#monotonicMs = this.#repository.clock.monotonic();
    const { destination } = this.#repository;
    if (destination.properties.canDelete)
      await dropLease(this.#repository, { purpose: this.purpose, epoch: before }, signal);
    return storedMs - seenMs;
  }

  /**
   * Follows changes of the keyring, since a session under keys that have been old for the grace period no longer
   * counts. Runs apart from the heartbeats, which must not be delayed by what others have put among the rings.
   */
  async #followKeys(): Promise<void> {
    const { signal } = this.#stop;
    const { clock, config } = this.#repository;
    const graceMs = config.graceSeconds * 1_000;
    const everyMs = Math.max(LEASE_TIMES.heartbeat, Math.min(FOLLOW_KEYS_MS, graceMs / 4));
    while (!signal.aborted) {
      try {
        await clock.sleep(everyMs, signal);
        await this.#repository.followRing(signal);
      } catch (error) {
        if (signal.aborted) return;
        // Expected errors are ignored. If the key was removed or the ring is damaged, the commit fails, and what is
        // stored until then is protected. If the storage is unavailable, there is a next try.
        if (!(error instanceof HoldfastError))
          this.#lose(this.#gone('its keys could not be followed', error));
      }
    }
  }

  /**
   * Requires that our epoch is the newest right to prune. A holder with a higher epoch has taken over; one that has
   * taken over and finished has removed our epoch.
   */
  async #requireNewest(signal: AbortSignal): Promise<void> {
    const listed = await listLeases(this.#repository, PRUNE_PREFIX, signal);
    let isThere = listed.some(({ epoch }) => epoch === this.#epoch);
    const later = listed.filter(({ epoch }) => epoch > this.#epoch);
    for (const judged of await judgeAll(this.#repository, later, signal)) {
      // It may be our own heartbeat, stored without the confirmation reaching us.
      const isOurs = judged.nonce === this.#record.nonce;
      if (isOurs) isThere = true;
      else if (isRight(this.#repository, judged)) isThere = false;
      if (!isOurs && !isThere) break;
    }
    if (!isThere) throw this.#lose(this.#gone('another process took it over'));
  }

  /**
   * Creates the next epoch and returns it with its storage time; undefined when somebody else has the right. Epochs
   * under which others have put objects, as anyone who may add some can, are skipped.
   */
  async #create(
    first: number,
    seenMs: number,
    signal: AbortSignal,
  ): Promise<{ readonly epoch: number; readonly storedMs: number } | undefined> {
    const repository = this.#repository;
    const { purpose } = this;
    let epoch = first;
    for (let tries = 1; tries <= STEPS; tries += 1) {
      this.#creating = epoch;
      try {
        const storedMs = await putLease(repository, purpose, epoch, this.#record, signal, seenMs);
        return { epoch, storedMs };
      } catch (error) {
        if (!(error instanceof DestinationError) || error.kind !== 'exists') throw error;
      }
      const stat = await repository.destination.stat(leaseKey(purpose, epoch), signal);
      const other = { purpose, epoch, storedMs: stat.modifiedMs };
      if (await this.#isOurs(epoch, signal)) return other;
      const mayBeTaken = purpose === PRUNE_PURPOSE;
      if (mayBeTaken && isRight(repository, await judgeLease(repository, other, signal))) return undefined;
      epoch += tries < FEW_STEPS ? 1 : randomInt(1, LONGEST_STEP);
    }
    return undefined;
  }

  async #isOurs(epoch: number, signal: AbortSignal): Promise<boolean> {
    try {
      if (this.purpose === PRUNE_PURPOSE) {
        const facts = { purpose: this.purpose, epoch, storedMs: 0 };
        const { nonce } = await judgeLease(this.#repository, facts, signal);
        return nonce === this.#record.nonce;
      }
      const { nonce, writer } = await readLease(this.#repository, this.purpose, epoch, signal);
      return nonce === this.#record.nonce && writer === this.#record.writer;
    } catch (error) {
      if (error instanceof DestinationError && error.kind === 'not-found') return false;
      if (error instanceof RepositoryError && error.code === 'CORRUPT_DATA') return false;
      throw error;
    }
  }

  #moment(): { wall: number; monotonic: number } {
    const { clock } = this.#repository;
    return { wall: clock.now(), monotonic: clock.monotonic() };
  }

  #lose(error: HoldfastError): HoldfastError {
    if (this.#lost === undefined) {
      this.#lost = error;
      this.#stop.abort();
      this.#onLost?.(error);
    }
    return this.#lost;
  }

  #gone(why: string, cause?: unknown): HoldfastError {
    if (cause instanceof RepositoryError) return cause;
    const what = this.purpose === PRUNE_PURPOSE ? 'right to prune' : 'backup session';
    return new RepositoryError('REPOSITORY_LOCKED', `The ${what} was lost: ${why}`, {
      hint: 'Nothing is damaged. Run it again.',
      retry: 'later',
      cause,
    });
  }
}
