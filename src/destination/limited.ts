/** How fast a destination may store: for links that others want to use too. */
import type { Clock } from '../base/clock.ts';

/** Asked by a destination before each piece of what it stores: a put with a limit is a trickle, not one burst. */
export interface UploadPace {
  /**
   * Waits until some bytes of that object may be sent, and gives how many: at least one, `wanted` at most. Rejects
   * with the signal's reason.
   */
  next(key: string, wanted: number, signal: AbortSignal): Promise<number>;
  /** Whether there is a limit now: what was sent must then be on its way before more is asked for. */
  readonly limited: boolean;
}

/** Unused allowance is kept for so long: small objects then pass without a wait. */
const KEPT_MS = 1_000;
/** Between two looks at the limit, which may change while somebody waits. */
const LOOK_MS = 100;
/** A piece is what the limit allows in this time, */
const PIECE_MS = 100;
/** but no less than this: every piece costs the storage a call. */
const SMALLEST_PIECE = 16_384;

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
  #passed = 0;

  constructor(clock: Clock, bytesPerSecond: number | undefined) {
    this.#clock = clock;
    this.#rate = bytesPerSecond;
    this.#held = (bytesPerSecond ?? 0) * (KEPT_MS / 1000);
    this.#filledAt = clock.monotonic();
  }

  get limited(): boolean {
    return this.#rate !== undefined;
  }

  /** Bytes that were let through so far. */
  get passed(): number {
    return this.#passed;
  }

  /** Bytes to ask for at once: all when there is no limit. */
  piece(wanted: number): number {
    if (this.#rate === undefined) return wanted;
    const usual = Math.max(SMALLEST_PIECE, Math.floor((this.#rate * PIECE_MS) / 1000));
    return Math.min(wanted, usual);
  }

  /** Holds from now on, for those who wait already too. */
  set(bytesPerSecond: number | undefined): void {
    this.#fill(0);
    this.#rate = bytesPerSecond;
  }

  /** Takes bytes that cannot wait: those that come after make up for them. */
  spend(bytes: number): void {
    this.#fill(0);
    this.#passed += bytes;
    if (this.#rate !== undefined) this.#held -= bytes;
  }

  /** Resolves when so many bytes may be stored; rejects with the signal's reason. */
  async take(bytes: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#rate !== undefined) {
      const before = this.#turn;
      const mine = (async (): Promise<void> => {
        await Promise.allSettled([before]);
        await this.#wait(bytes, signal);
      })();
      this.#turn = mine;
      await mine;
    }
    this.#passed += bytes;
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
 * The pace of a destination under `limit`. Where `waits` says no, a put goes on at once and those that come after make
 * up for it: what tells others that one is alive must not queue behind data.
 */
export function paceOf(limit: UploadLimit, waits: (key: string) => boolean): UploadPace {
  return {
    async next(key, wanted, signal) {
      if (!waits(key)) {
        limit.spend(wanted);
        return wanted;
      }
      const piece = limit.piece(wanted);
      await limit.take(piece, signal);
      return piece;
    },
    get limited() {
      return limit.limited;
    },
  };
}
