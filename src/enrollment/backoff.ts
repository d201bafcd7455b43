/**
 * Decides when a failed request is tried again: after growing waits, at random times so that devices do not come back
 * together, and not before the time that the service asks for.
 */
import { randomInt } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { PartnerError } from './ask-partner.ts';

/** Milliseconds. */
const LIMITS = Object.freeze({
  first: 5_000,
  longest: 15 * 60_000,
  /**
   * When the service does not know the device. A person may have to act, but the service may also have been restored to
   * an older state.
   */
  unknownDevice: 3_600_000,
});

export class Backoff {
  readonly #clock: Pick<Clock, 'monotonic'>;
  #failures = 0;
  /** By the monotonic clock. */
  #notBefore = 0;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Failures in a row. */
  get failures(): number {
    return this.#failures;
  }

  /** Milliseconds until the next try. */
  get waitMs(): number {
    return Math.max(0, this.#notBefore - this.#clock.monotonic());
  }

  succeeded(): void {
    this.#failures = 0;
    this.#notBefore = 0;
  }

  failed(error: unknown): void {
    this.#failures += 1;
    const longest = isUnknownDevice(error)
      ? LIMITS.unknownDevice
      : Math.min(LIMITS.longest, LIMITS.first * 2 ** Math.min(20, this.#failures - 1));
    const asked = error instanceof PartnerError ? (error.retryAfterMs ?? 0) : 0;
    // Between half and all of the wait, or up to a tenth more than was asked for, so that devices which failed together
    // do not come back together.
    const waitMs = Math.max(spread(longest / 2, longest), asked > 0 ? spread(asked, asked * 1.1) : 0);
    this.#notBefore = this.#clock.monotonic() + waitMs;
  }
}

export function isUnknownDevice(error: unknown): boolean {
  return error instanceof PartnerError && error.status === 401;
}

/** A random number of whole milliseconds, at least `from`. */
export function spread(from: number, to: number): number {
  return Math.ceil(from + ((to - from) * randomInt(1001)) / 1000);
}
