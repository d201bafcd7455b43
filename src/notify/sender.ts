/** The interface of senders of notices, and their error. */
import { type ErrorFacts, HoldfastError } from '../base/errors.ts';
import type { Notice } from './notice.ts';

/** A password or token that is only revealed on request. */
export interface Secret {
  reveal(): string;
}

export interface Sender {
  /** `healthchecks`, `ntfy`, `webhook`, `email` or `desktop`. */
  readonly name: string;
  /** Whether it gets a notice about each job. Otherwise only those that a person has to know about: see attention.ts. */
  readonly everything: boolean;
  /** Whether a notice is still useful hours and days later. */
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
  readonly isNobodyThere?: boolean;
}

/** A notice could not be delivered. The message names no address, token or password. */
export class DeliveryError extends HoldfastError {
  override readonly name = 'DeliveryError';
  readonly side = 'destination';
  /** Milliseconds for which the receiver wants no requests; null when it did not say so. */
  readonly silenceMs: number | null;
  /** Whether some of the recipients have the notice. */
  readonly reachedSome: boolean;
  /** The receiver may have the notice all the same, so trying for days could deliver it hundreds of times. */
  readonly mayHaveArrived: boolean;
  /** Nobody is there to be told, which is no failure: it is tried again after `silenceMs`. */
  readonly isNobodyThere: boolean;

  constructor(message: string, facts: DeliveryFacts = {}) {
    super('NOTICE_NOT_DELIVERED', message, facts);
    this.silenceMs = facts.silenceMs ?? null;
    this.reachedSome = facts.reachedSome ?? false;
    this.mayHaveArrived = facts.mayHaveArrived ?? false;
    this.isNobodyThere = facts.isNobodyThere ?? false;
  }
}

/** The first `bytes` bytes of `text` in UTF-8. */
export function startOf(text: string, bytes: number): string {
  const encoded = Buffer.from(text, 'utf8');
  if (encoded.length <= bytes) return text;
  let end = bytes;
  while (end > 0 && isContinuation(encoded[end])) end -= 1;
  return encoded.toString('utf8', 0, end);
}

/** The last `bytes` bytes. */
export function endOf(text: string, bytes: number): string {
  const encoded = Buffer.from(text, 'utf8');
  if (encoded.length <= bytes) return text;
  let start = encoded.length - bytes;
  while (start < encoded.length && isContinuation(encoded[start])) start += 1;
  return encoded.toString('utf8', start);
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
