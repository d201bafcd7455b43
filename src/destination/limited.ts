/** A destination that stores no faster than it is told to: for links that others want to use too. */
import type { Clock } from '../base/clock.ts';
import type { Destination } from './destination.ts';

/** Unused allowance is kept for so long: small objects then pass without a wait. */
const KEPT_MS = 1_000;
/** Between two looks at the limit, which may change while somebody waits. */
const LOOK_MS = 100;

/**
 * A bucket that fills at the rate of the limit. Who stores something waits until the bucket holds as many bytes, one
 * after the other, so that over any stretch of time no more passes than the limit allows.
 */
export class UploadLimit {
  readonly #clock: Clock;
  /** Bytes per second; undefined without a limit. */
  #rate: number | undefined;
  #held: number;
  #filledAt: number;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(clock: Clock, bytesPerSecond: number | undefined) {
    this.#clock = clock;
    this.#rate = bytesPerSecond;
    this.#held = (bytesPerSecond ?? 0) * (KEPT_MS / 1000);
    this.#filledAt = clock.monotonic();
  }

  /** Holds from now on, for those who wait already too. */
  set(bytesPerSecond: number | undefined): void {
    this.#fill(0);
    this.#rate = bytesPerSecond;
  }

  /** Takes bytes that cannot wait: those that come after make up for them. */
  spend(bytes: number): void {
    this.#fill(0);
    if (this.#rate !== undefined) this.#held -= bytes;
  }

  /** Resolves when so many bytes may be stored; rejects with the signal's reason. */
  async take(bytes: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#rate === undefined) return;
    const before = this.#turn;
    const mine = (async (): Promise<void> => {
      await Promise.allSettled([before]);
      await this.#wait(bytes, signal);
    })();
    this.#turn = mine;
    await mine;
  }

  async #wait(bytes: number, signal: AbortSignal): Promise<void> {
    // The time before somebody waited counts for a second only.
    this.#fill(0);
    for (;;) {
      signal.throwIfAborted();
      this.#fill(bytes);
      if (this.#rate === undefined) return;
      // What is left of a byte is no reason to wait once more.
      if (this.#held > bytes - 1) {
        this.#held -= bytes;
        return;
      }
      const leftMs = ((bytes - this.#held) / this.#rate) * 1000;
      await this.#clock.sleep(Math.min(leftMs, LOOK_MS), signal);
    }
  }

  /** @param wanted what somebody waits for, which the bucket then has room for */
  #fill(wanted: number): void {
    const now = this.#clock.monotonic();
    const passedMs = now - this.#filledAt;
    this.#filledAt = now;
    if (this.#rate === undefined) {
      this.#held = 0;
      return;
    }
    const room = Math.max(wanted, (this.#rate * KEPT_MS) / 1000, this.#held);
    this.#held = Math.min(room, this.#held + (this.#rate * passedMs) / 1000);
  }
}

/**
 * `destination` with its puts held to `limit`. Where `waits` says no, a put goes on at once and those that come after
 * make up for it: what tells others that one is alive must not queue behind data.
 */
export function limitUploads(
  destination: Destination,
  limit: UploadLimit,
  waits: (key: string) => boolean,
): Destination {
  return {
    properties: destination.properties,
    put: async (key, body, signal) => {
      if (waits(key)) await limit.take(body.byteLength, signal);
      else limit.spend(body.byteLength);
      return await destination.put(key, body, signal);
    },
    get: (key, range, signal) => destination.get(key, range, signal),
    stat: (key, signal) => destination.stat(key, signal),
    list: (prefix, signal) => destination.list(prefix, signal),
    delete: (key, signal) => destination.delete(key, signal),
    close: () => destination.close(),
  };
}
