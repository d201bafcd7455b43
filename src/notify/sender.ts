/** What carries notices out, and how it fails. */
import { HoldfastError, type ErrorFacts } from '../base/errors.ts';
import type { Notice } from './notice.ts';

/** A password or token that shows itself only when asked to. */
export interface Secret {
  reveal(): string;
}

export interface Sender {
  /** `healthchecks`, `ntfy`, `webhook` or `email`. */
  readonly name: string;
  /** Whether each job is reported. Otherwise only what a person has to know: see attention.ts. */
  readonly everything: boolean;
  /** Whether a notice is worth something hours and days later. */
  readonly keeps: boolean;
  /**
   * Delivers once, or throws. A repeated call with the same notice may deliver it twice.
   * @throws {DeliveryError}
   */
  send(notice: Notice, signal: AbortSignal): Promise<void>;
  close(): void;
}

interface DeliveryFacts extends ErrorFacts {
  readonly silenceMs?: number | null;
  readonly reachedSome?: boolean;
  readonly mayHaveArrived?: boolean;
}

/** A notice could not be delivered. The message names no address, token or password. */
export class DeliveryError extends HoldfastError {
  override readonly name = 'DeliveryError';
  readonly side = 'destination';
  /** The receiver wants to hear nothing for so many milliseconds; null when it did not say so. */
  readonly silenceMs: number | null;
  /** Some of those who were to have it have it. */
  readonly reachedSome: boolean;
  /** The receiver may have it all the same: trying for days would tell it hundreds of times. */
  readonly mayHaveArrived: boolean;

  constructor(message: string, facts: DeliveryFacts = {}) {
    super('NOTICE_NOT_DELIVERED', message, facts);
    this.silenceMs = facts.silenceMs ?? null;
    this.reachedSome = facts.reachedSome ?? false;
    this.mayHaveArrived = facts.mayHaveArrived ?? false;
  }
}
