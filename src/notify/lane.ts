/** The notices of one sender, delivered in the order in which they came: a start before its end. */
import type { Clock } from '../base/clock.ts';
import { isAbort, HoldfastError } from '../base/errors.ts';
import { deliver, type RetryPolicy } from './delivery.ts';
import type { Notice } from './notice.ts';
import type { Sender } from './sender.ts';

/** How a sender is doing. Times are milliseconds since 1970. */
export interface SenderStatus {
  readonly name: string;
  readonly state: 'unused' | 'ok' | 'failing';
  readonly lastDeliveredAt: number | null;
  readonly lastFailedAt: number | null;
  /** Of the last failure, with what to do; null once a notice has been delivered since. */
  readonly lastError: string | null;
  /** Notices not delivered yet. */
  readonly waiting: number;
}

/** Told of what goes wrong; `error` never names a secret. */
export type NoticeLog = (line: {
  readonly level: 'warn' | 'error';
  readonly sender: string;
  readonly text: string;
  readonly error: unknown;
}) => void;

/** Notices that wait while a receiver is down; older ones are given up. */
const LONGEST_QUEUE = 100;

export class Lane {
  readonly sender: Sender;
  readonly #clock: Clock;
  readonly #policy: RetryPolicy;
  readonly #log: NoticeLog;
  readonly #hurry = new AbortController();
  readonly #stop = new AbortController();
  readonly #queue: Notice[] = [];
  #worker: Promise<void> | undefined;
  #delivering = false;
  #lastDeliveredAt: number | null = null;
  #lastFailedAt: number | null = null;
  #lastError: string | null = null;

  constructor(sender: Sender, clock: Clock, policy: RetryPolicy, log: NoticeLog) {
    this.sender = sender;
    this.#clock = clock;
    this.#policy = policy;
    this.#log = log;
  }

  push(notice: Notice): void {
    this.#queue.push(notice);
    if (this.#queue.length > LONGEST_QUEUE) {
      const dropped = this.#queue.shift();
      this.#report('warn', `gave up on ${dropped?.kind ?? 'a notice'}: too many wait`, undefined);
    }
    this.#worker ??= this.#work();
  }

  /** One try, past the queue. @throws {DeliveryError} */
  async test(notice: Notice, signal: AbortSignal): Promise<void> {
    try {
      await this.sender.send(notice, signal);
    } catch (error) {
      if (!signal.aborted) this.#failed(error);
      throw error;
    }
    this.#delivered();
  }

  status(): SenderStatus {
    return {
      name: this.sender.name,
      state: this.#lastError !== null ? 'failing' : this.#lastDeliveredAt === null ? 'unused' : 'ok',
      lastDeliveredAt: this.#lastDeliveredAt,
      lastFailedAt: this.#lastFailedAt,
      lastError: this.#lastError,
      waiting: this.#queue.length + (this.#delivering ? 1 : 0),
    };
  }

  /** Gives what waits up to `ms` milliseconds, without pauses between tries; then gives up. */
  async close(ms: number): Promise<void> {
    this.#hurry.abort();
    const enough = new AbortController();
    const deadline = this.#clock.sleep(ms, enough.signal).then(
      () => this.#stop.abort(),
      (error: unknown) => {
        if (!isAbort(error)) throw error;
      },
    );
    await this.#worker;
    enough.abort();
    await deadline;
    this.sender.close();
  }

  async #work(): Promise<void> {
    this.#delivering = true;
    for (let notice = this.#queue.shift(); notice !== undefined; notice = this.#queue.shift()) {
      try {
        const context = {
          clock: this.#clock,
          policy: this.#policy,
          hurry: this.#hurry.signal,
          waits: (error: unknown) => this.#failed(error),
        };
        await deliver(this.sender, notice, context, this.#stop.signal);
        this.#delivered();
      } catch (error) {
        this.#failed(error);
        this.#report('error', `could not deliver ${notice.kind}`, error);
      }
    }
    this.#delivering = false;
    this.#worker = undefined;
  }

  #delivered(): void {
    this.#lastDeliveredAt = this.#clock.now();
    this.#lastError = null;
  }

  #failed(error: unknown): void {
    this.#lastFailedAt = this.#clock.now();
    this.#lastError = wordsOf(error);
  }

  #report(level: 'warn' | 'error', text: string, error: unknown): void {
    this.#log({ level, sender: this.sender.name, text, error });
  }
}

export function wordsOf(error: unknown): string {
  if (error instanceof HoldfastError)
    return error.hint === '' ? error.message : `${error.message}. ${error.hint}`;
  if (isAbort(error)) return 'Stopped before it was delivered';
  return error instanceof Error ? error.message : 'unknown error';
}
