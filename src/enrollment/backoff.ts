/** When something that failed is tried again: later and later, never when others try, and as late as it was asked for. */
import { randomInt } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { PartnerError } from './partner-error.ts';

/** Milliseconds. */
const LIMITS = Object.freeze({
  first: 5_000,
  longest: 15 * 60_000,
  /** The device is not known any more: a person has to do something, but a service may also have been restored wrongly. */
  unknownDevice: 3_600_000,
});

export class Backoff {
  readonly #clock: Pick<Clock, 'monotonic'>;
  #failures = 0;
  /** On the monotonic clock. */
  #notBefore = 0;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** In a row. */
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
    // From half to all of it, or up to a tenth after what was asked for: devices that failed together do not come back together.
    const waitMs = Math.max(spread(longest / 2, longest), asked > 0 ? spread(asked, asked * 1.1) : 0);
    this.#notBefore = this.#clock.monotonic() + waitMs;
  }
}

export function isUnknownDevice(error: unknown): boolean {
  return error instanceof PartnerError && error.status === 401;
}

/** At random, at least `from`; whole milliseconds. */
export function spread(from: number, to: number): number {
  return Math.ceil(from + ((to - from) * randomInt(1001)) / 1000);
}
