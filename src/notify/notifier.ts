/** Hands notices to all senders. Nothing that goes wrong here reaches the one who has something to say. */
import type { Clock } from '../base/clock.ts';
import { redactText } from '../base/redact.ts';
import { createAttention, type Attention, type ToldBook } from './attention.ts';
import { defaultRetryPolicy, type RetryPolicy } from './delivery.ts';
import { Lane, wordsOf, type NoticeLog, type SenderStatus } from './lane.ts';
import { createNotice, type Notice } from './notice.ts';
import type { Sender } from './sender.ts';

/** How long notices may take that are under way at the end. */
const FLUSH_MS = 5000;

export interface NotifierOptions {
  readonly clock: Clock;
  readonly log: NoticeLog;
  /** Name of the machine, for test messages. */
  readonly host: string;
  /** Where it is kept what people were told; in memory alone when left out. */
  readonly told?: ToldBook;
  readonly policy?: RetryPolicy;
  readonly flushMs?: number;
  /** Takes the secrets out of what is said. */
  readonly redact?: (text: string) => string;
}

export type TestResult = { readonly ok: true } | { readonly ok: false; readonly message: string };

export class Notifier {
  readonly #options: NotifierOptions;
  readonly #attention: Attention;
  /** Lanes of earlier settings that still deliver what they had. */
  readonly #retired = new Set<Promise<void>>();
  #lanes: readonly Lane[];
  #closed = false;

  constructor(senders: readonly Sender[], options: NotifierOptions) {
    this.#options = options;
    this.#attention = createAttention(options.told);
    this.#lanes = this.#lanesOf(senders);
  }

  /** Returns at once and never throws. */
  notify(notice: Notice): void {
    if (this.#closed) return;
    const { redact = redactText } = this.#options;
    const { text, log, stillFailing } = notice;
    const shown = {
      ...notice,
      text: redact(text),
      log: log.map(redact),
      stillFailing: stillFailing.map(redact),
    };
    const forPeople = this.#attention.admits(notice);
    for (const lane of this.#lanes) {
      if (lane.sender.everything || forPeople) lane.push(shown);
    }
  }

  /** From now on by these. What the old ones have is tried once more. */
  replace(senders: readonly Sender[]): void {
    if (this.#closed) return;
    for (const lane of this.#lanes) this.#retire(lane);
    this.#lanes = this.#lanesOf(senders);
  }

  status(): readonly SenderStatus[] {
    return this.#lanes.map((lane) => lane.status());
  }

  /** Sends a test message by the sender of that name, once. */
  async test(name: string, signal: AbortSignal): Promise<TestResult> {
    const lane = this.#lanes.find(({ sender }) => sender.name === name);
    if (lane === undefined) return { ok: false, message: `Nothing is set up under the name ${name}.` };
    const { clock, host } = this.#options;
    const text = `This is a test message of Holdfast on ${host}. Notices arrive here.`;
    try {
      await lane.test(createNotice({ kind: 'test', host, text }, clock), signal);
      return { ok: true };
    } catch (error) {
      signal.throwIfAborted();
      return { ok: false, message: wordsOf(error) };
    }
  }

  /** Gives notices under way a few seconds. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const lane of this.#lanes) this.#retire(lane);
    this.#lanes = [];
    await Promise.all(this.#retired);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #retire(lane: Lane): void {
    const closing = lane
      .close(this.#options.flushMs ?? FLUSH_MS)
      .finally(() => this.#retired.delete(closing));
    this.#retired.add(closing);
  }

  #lanesOf(senders: readonly Sender[]): readonly Lane[] {
    const { clock, log, policy = defaultRetryPolicy } = this.#options;
    return senders.map((sender) => new Lane(sender, clock, policy, log));
  }
}
