/** Limits how fast a destination stores, for links that others use as well. */
import type { Clock } from '../base/clock.ts';

/**
 * A destination asks it before each piece that it stores, so that a put under a limit is a steady trickle instead of
 * one burst.
 */
export interface UploadPace {
  /**
   * Waits until some bytes of the object may be sent, and resolves with how many: at least one, at most `wanted`.
   * Rejects with the signal's reason.
   */
  next(key: string, wanted: number, signal: AbortSignal): Promise<number>;
  /** Whether a limit applies at present. What was sent must then be on its way before more is asked for. */
  readonly limited: boolean;
}

/** Unused allowance is kept for this long, so that small objects pass without waiting. */
const KEPT_MS = 1_000;
/** How often a waiting put checks the limit, which may change meanwhile. */
const LOOK_MS = 100;
/** A piece is what the limit allows in this time… */
const PIECE_MS = 100;
/** …but at least this many bytes, as every piece costs the storage a call. */
const SMALLEST_PIECE = 16_384;

/**
 * A bucket that fills at the rate of the limit. Callers wait one after another until it holds as many bytes as they
 * need, so that over any stretch of time no more passes than the limit allows.
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

  /** Bytes that have passed so far. */
  get passed(): number {
    return this.#passed;
  }

  /** How many bytes to ask for at once: all of `wanted` without a limit. */
  piece(wanted: number): number {
    if (this.#rate === undefined) return wanted;
    const usual = Math.max(SMALLEST_PIECE, Math.floor((this.#rate * PIECE_MS) / 1000));
    return Math.min(wanted, usual);
  }

  /** Sets the limit, in bytes per second. It applies at once, also to callers that already wait. */
  set(bytesPerSecond: number | undefined): void {
    this.#fill(0);
    this.#rate = bytesPerSecond;
  }

  /** Takes bytes that cannot wait; later callers wait longer in return. */
  spend(bytes: number): void {
    this.#fill(0);
    this.#passed += bytes;
    if (this.#rate !== undefined) this.#held -= bytes;
  }

  /** Resolves once this many bytes may be stored; rejects with the signal's reason. */
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
    // Of the time before this caller began to wait, at most a second's allowance is kept.
    this.#fill(0);
    for (;;) {
      signal.throwIfAborted();
      this.#fill(bytes);
      if (this.#rate === undefined) return;
      // A missing fraction of a byte is no reason to wait once more.
      if (this.#held > bytes - 1) {
        this.#held -= bytes;
        return;
      }
      const leftMs = ((bytes - this.#held) / this.#rate) * 1000;
      await this.#clock.sleep(Math.min(leftMs, LOOK_MS), signal);
    }
  }

  /** @param wanted bytes that somebody waits for, for which the bucket then has room */
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
 * The pace of a destination under `limit`. A put whose key `waits` declines goes on at once, and later puts wait longer
 * in return: an object that shows others that this writer is alive must not queue behind data.
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
