/** Delivers the notices of one sender in the order in which they came, so that a start comes before its end. */
import type { Clock } from '../base/clock.ts';
import { placedCauseText } from '../base/errno-words.ts';
import { HoldfastError, isAbort } from '../base/errors.ts';
import { delayAfter, KEPT_MS, type RetryPolicy, silenceOf, type Waiting } from './delivery.ts';
import type { Notice } from './notice.ts';
import { DeliveryError, type Sender } from './sender.ts';

/** The state of a sender. Times are milliseconds since 1970. */
export interface SenderStatus {
  readonly name: string;
  readonly state: 'unused' | 'ok' | 'failing';
  readonly lastDeliveredAt: number | null;
  readonly lastFailedAt: number | null;
  /** The last failure, with what to do; null when a notice was delivered since. */
  readonly lastError: string | null;
  /** Notices not delivered yet. */
  readonly waiting: number;
}

/** Receives problems; `error` never contains a secret. */
export type NoticeLog = (line: {
  readonly level: 'warn' | 'error';
  readonly sender: string;
  readonly text: string;
  readonly error: unknown;
}) => void;

export interface LaneParts {
  readonly clock: Clock;
  readonly policy: RetryPolicy;
  readonly log: NoticeLog;
  /** Called with each notice that will not be delivered by this lane. */
  readonly missed: (notice: Notice, error: unknown) => void;
  /** Stores the waiting notices, so that they survive the agent. Never throws. */
  readonly keep: (waiting: Waiting) => void;
}

/** The most notices that wait while a receiver is down; older ones are given up. */
const LONGEST_QUEUE = 100;

const DAY_MS = 24 * 3_600_000;

interface Item {
  readonly notice: Notice;
  /** Since when it waits, in milliseconds since 1970. */
  readonly since: number;
  tries: number;
  isReported: boolean;
}

export class Lane {
  readonly sender: Sender;
  readonly #parts: LaneParts;
  /** Aborted when there is no more time for pauses. */
  readonly #hurry = new AbortController();
  readonly #stop = new AbortController();
  #queue: Item[];
  #current: Item | undefined;
  #worker: Promise<void> | undefined;
  /** Another lane takes over the waiting notices. */
  #isLeft = false;
  /** Aborted when there is a reason to try again at once. */
  #pause = new AbortController();
  /** Notices that have had their turn: in the tries at long intervals, and in the last tries. */
  readonly #turns = new Set<Item>();
  readonly #last = new Set<Item>();
  #lastDeliveredAt: number | null = null;
  #lastFailedAt: number | null;
  #lastError: string | null;

  /** @param before the notices that were waiting when the agent ended, or when the settings changed */
  constructor(sender: Sender, parts: LaneParts, before: Waiting) {
    this.sender = sender;
    this.#parts = parts;
    this.#queue = before.notices.map((notice) => this.#itemOf(notice, notice.at));
    this.#lastFailedAt = before.failedAt;
    this.#lastError = before.error;
    if (this.#queue.length > 0) this.#worker = this.#work();
  }

  push(notice: Notice): void {
    this.#queue.push(this.#itemOf(notice, this.#parts.clock.now()));
    if (this.#queue.length > LONGEST_QUEUE + (this.#current === undefined ? 0 : 1)) {
      const oldest = this.#queue.find((item) => item !== this.#current);
      if (oldest !== undefined) this.#giveUp(oldest, undefined, 'warn', 'too many wait');
    }
    if (this.#worker === undefined) this.#worker = this.#work();
    else this.wake();
    this.#keep();
  }

  /** Takes over the notices of an earlier lane for the same receiver; they are older than its own. */
  take({ notices, failedAt, error }: Waiting): void {
    if (notices.length === 0) return;
    this.#queue = [...notices.map((notice) => this.#itemOf(notice, notice.at)), ...this.#queue];
    this.#lastFailedAt ??= failedAt;
    if (this.#lastDeliveredAt === null) this.#lastError ??= error;
    this.#worker ??= this.#work();
    this.#keep();
  }

  /** To be called when the receiver may be reachable again. */
  wake(): void {
    this.#pause.abort();
  }

  /** Tries once, ahead of the queue. @throws {DeliveryError} */
  async test(notice: Notice, signal: AbortSignal): Promise<void> {
    try {
      await this.sender.send(notice, signal);
    } catch (error) {
      if (!signal.aborted) this.#failed(error);
      throw error;
    }
    this.#delivered();
    this.wake();
  }

  status(): SenderStatus {
    return {
      name: this.sender.name,
      state: this.#lastError !== null ? 'failing' : this.#lastDeliveredAt === null ? 'unused' : 'ok',
      lastDeliveredAt: this.#lastDeliveredAt,
      lastFailedAt: this.#lastFailedAt,
      lastError: this.#lastError,
      waiting: this.#queue.length,
    };
  }

  /** Tries to deliver waiting notices for up to `ms` milliseconds, without pauses. The rest is stored for the next start. */
  async close(ms: number): Promise<void> {
    await this.#end(ms);
    for (const item of this.#queue.filter(({ notice }) => !this.#isKept(notice)))
      this.#giveUp(item, undefined, 'error', 'stopped before it was delivered');
    const { length } = this.#queue;
    if (length > 0)
      this.#report('warn', `${length} not delivered yet: tried again at the next start`, undefined);
    this.#keep(true);
  }

  /** Waits up to `ms` milliseconds for the current try, and returns the remaining notices for the lane that takes over. */
  async leave(ms: number): Promise<Waiting> {
    this.#isLeft = true;
    await this.#end(ms);
    return {
      failedAt: this.#lastFailedAt,
      error: this.#lastError,
      notices: this.#queue.map(({ notice }) => notice),
    };
  }

  async #end(ms: number): Promise<void> {
    this.#hurry.abort();
    const enough = new AbortController();
    const deadline = this.#parts.clock.sleep(ms, enough.signal).then(
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
    while (!this.#isLeft && !this.#stop.signal.aborted) {
      const item = this.#next();
      if (item === undefined) break;
      this.#current = item;
      const waitMs = await this.#try(item);
      this.#current = undefined;
      this.#keep();
      if (waitMs > 0 && this.#queue.length > 0) await this.#wait(waitMs);
    }
    this.#worker = undefined;
  }

  /**
   * The first notice that has tries left, otherwise one after the other, so that a notice that its receiver never
   * accepts does not hold up the others. At the end each gets at most one more try.
   */
  #next(): Item | undefined {
    const { attempts } = this.#parts.policy;
    if (this.#hurry.signal.aborted) return this.#inTurn(this.#last);
    const fresh = this.#queue.find(({ tries }) => tries < attempts);
    if (fresh !== undefined) return fresh;
    const next = this.#inTurn(this.#turns);
    if (next !== undefined) return next;
    this.#turns.clear();
    return this.#inTurn(this.#turns);
  }

  #inTurn(turns: Set<Item>): Item | undefined {
    const item = this.#queue.find((one) => !turns.has(one));
    if (item !== undefined) turns.add(item);
    return item;
  }

  #itemOf(notice: Notice, sinceMs: number): Item {
    // A time in the future was stored while the clock was wrong.
    return { notice, since: Math.min(sinceMs, this.#parts.clock.now()), tries: 0, isReported: false };
  }

  /** Returns the milliseconds until the next try of any notice. */
  async #try(item: Item): Promise<number> {
    const { clock, policy } = this.#parts;
    const { signal } = this.#stop;
    try {
      await this.sender.send(item.notice, signal);
      this.#drop(item);
      this.#delivered();
      // The receiver is back: notices that have used up their tries get one more at once.
      for (const other of this.#queue) other.tries = Math.min(other.tries, policy.attempts - 1);
      return 0;
    } catch (error) {
      if (signal.aborted) return 0;
      if (!(error instanceof DeliveryError) || error.retry === 'never') {
        this.#failed(error);
        this.#giveUp(item, error, 'error', `could not deliver ${item.notice.kind}`);
        return 0;
      }
      const isOld = clock.now() - item.since >= (this.sender.keeps ? KEPT_MS : DAY_MS);
      if (error.silenceMs !== null) {
        // The receiver asked for this wait, so it does not count as a try.
        if (!error.isNobodyThere) this.#failed(error);
        if (isOld) this.#giveUp(item, error, 'error', `could not deliver ${item.notice.kind}`);
        return silenceOf(error.silenceMs);
      }
      item.tries += 1;
      if (item.tries < policy.attempts) return delayAfter(item.tries, policy);
      this.#failed(error);
      if (isOld || error.mayHaveArrived || !this.#isKept(item.notice)) {
        this.#giveUp(item, error, 'error', `could not deliver ${item.notice.kind}`);
        return 0;
      }
      if (!item.isReported)
        this.#report(
          'warn',
          `could not deliver ${item.notice.kind} yet; Holdfast keeps trying for days`,
          error,
        );
      item.isReported = true;
      return this.#queue.some(({ tries }) => tries < policy.attempts) ? 0 : delayAfter(item.tries, policy);
    }
  }

  /** A start is useless once its end is known, and a late ping would state the present condition wrongly. */
  #isKept({ kind }: Notice): boolean {
    return this.sender.keeps && kind !== 'backup.started';
  }

  async #wait(ms: number): Promise<void> {
    // When all waiting notices have used up their tries, a new one interrupts the long pause.
    const { attempts } = this.#parts.policy;
    this.#pause = new AbortController();
    const isLong = this.#queue.every(({ tries }) => tries >= attempts);
    const cut = isLong ? AbortSignal.any([this.#hurry.signal, this.#pause.signal]) : this.#hurry.signal;
    try {
      await this.#parts.clock.sleep(ms, cut);
    } catch (error) {
      if (!cut.aborted) throw error;
    }
  }

  #drop(item: Item): void {
    this.#queue = this.#queue.filter((one) => one !== item);
    this.#turns.delete(item);
  }

  #giveUp(item: Item, error: unknown, level: 'warn' | 'error', why: string): void {
    this.#drop(item);
    const text = error === undefined ? `gave up on ${item.notice.kind}: ${why}` : why;
    this.#report(level, text, error);
    this.#parts.missed(item.notice, error);
  }

  /** Notices are stored only while the receiver fails, as most are accepted at once. */
  #keep(all = false): void {
    const isFailing = all || this.#lastError !== null || this.#queue.some(({ tries }) => tries > 0);
    const notices = isFailing ? this.#queue.map(({ notice }) => notice) : [];
    this.#parts.keep({
      failedAt: this.#lastFailedAt,
      error: this.#lastError,
      notices: notices.filter((notice) => this.#isKept(notice)),
    });
  }

  #delivered(): void {
    this.#lastDeliveredAt = this.#parts.clock.now();
    this.#lastError = null;
  }

  #failed(error: unknown): void {
    this.#lastFailedAt = this.#parts.clock.now();
    this.#lastError = wordsOf(error);
  }

  #report(level: 'warn' | 'error', text: string, error: unknown): void {
    this.#parts.log({ level, sender: this.sender.name, text, error });
  }
}

export function wordsOf(error: unknown): string {
  if (error instanceof HoldfastError)
    return error.hint === '' ? error.message : `${error.message}. ${error.hint}`;
  if (isAbort(error)) return 'Stopped before it was delivered';
  return placedCauseText(error);
}
