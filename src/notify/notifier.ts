/** Hands notices to all senders. No error in here reaches the caller. */
import type { Clock } from '../base/clock.ts';
import { redactText } from '../base/redact.ts';
import { type Attention, createAttention, type ToldBook } from './attention.ts';
import {
  defaultRetryPolicy,
  readWaiting,
  type RetryPolicy,
  type Waiting,
  type WaitingBook,
  waitingText,
} from './delivery.ts';
import { Gathering, partsOf } from './gathering.ts';
import { Holding } from './holding.ts';
import { Lane, type NoticeLog, type SenderStatus, wordsOf } from './lane.ts';
import { createNotice, type Notice } from './notice.ts';
import { DeliveryError, type Sender } from './sender.ts';

/** Milliseconds that pending notices may take when the notifier is closed. */
const FLUSH_MS = 5000;

export interface NotifierOptions {
  readonly clock: Clock;
  readonly log: NoticeLog;
  /** Name of the machine, for test messages. */
  readonly host: string;
  /** Stores what people were told; kept in memory only when missing. */
  readonly told?: ToldBook;
  /** Stores what could not be delivered yet; kept in memory only when missing. */
  readonly waiting?: WaitingBook;
  /** The end (`HH:MM`) of the quiet hours that apply now; null when none do. */
  readonly quietUntil?: () => string | null;
  /** Stores what is held during the quiet hours; kept in memory only when missing. */
  readonly held?: WaitingBook;
  readonly policy?: RetryPolicy;
  readonly flushMs?: number;
  /** Removes secrets from texts. */
  readonly redact?: (text: string) => string;
}

/** Notices that wait for the end (`HH:MM`) of the quiet hours. */
export interface HeldNotices {
  readonly count: number;
  readonly until: string;
}

const NOTHING_WAITS: Waiting = { failedAt: null, error: null, notices: [] };

export type TestResult = { readonly ok: true } | { readonly ok: false; readonly message: string };

export class Notifier {
  readonly #options: NotifierOptions;
  /** By sender name. */
  readonly #attention = new Map<string, Attention>();
  /** By sender name. */
  readonly #gatherings = new Map<string, Gathering>();
  /** By sender name. */
  readonly #holdings = new Map<string, Holding>();
  /** Lanes of earlier settings that are still finishing a delivery. */
  readonly #retired = new Set<Promise<void>>();
  #lanes: readonly Lane[];
  #closed = false;

  constructor(senders: readonly Sender[], options: NotifierOptions) {
    this.#options = options;
    this.#lanes = this.#lanesOf(senders, ({ name }) => readWaiting(options.waiting?.read(name)));
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
    for (const lane of this.#lanes) {
      if (lane.sender.everything) lane.push(shown);
      else if (this.#attentionOf(lane.sender).admits(shown) && !this.#holdingOf(lane.sender).takes(shown))
        this.#gatheringOf(lane.sender).take(shown);
    }
  }

  /** Sends what was held if the quiet hours are over. To be called every minute. */
  look(): void {
    if (this.#closed) return;
    for (const { sender } of this.#lanes) if (!sender.everything) this.#holdingOf(sender).release();
  }

  /** What is held now, each notice once for all its receivers; null when nothing is. */
  held(): HeldNotices | null {
    const people = this.#lanes.filter(({ sender }) => !sender.everything);
    const ids = new Set(people.flatMap(({ sender }) => this.#holdingOf(sender).held.map(({ id }) => id)));
    const until = this.#options.quietUntil?.() ?? null;
    return ids.size === 0 || until === null ? null : { count: ids.size, until };
  }

  /** Uses these senders from now on, also for what the old ones have not delivered. */
  replace(senders: readonly Sender[]): void {
    if (this.#closed) return;
    const before = this.#lanes;
    this.#lanes = this.#lanesOf(senders, () => NOTHING_WAITS);
    for (const lane of before) this.#retire(lane);
    for (const name of this.#holdings.keys()) if (this.#laneOf(name) === undefined) this.#forget(name);
    this.look();
  }

  /** The receiver of that name has just accepted something, so waiting notices are tried at once. */
  wake(name: string): void {
    this.#laneOf(name)?.wake();
  }

  status(): readonly SenderStatus[] {
    return this.#lanes.map((lane) => lane.status());
  }

  /** Sends a test message by the sender of that name, with a single try. */
  async test(name: string, signal: AbortSignal): Promise<TestResult> {
    const lane = this.#laneOf(name);
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

  /** Gives pending notices a few seconds. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const gathering of this.#gatherings.values()) gathering.end();
    await Promise.all(this.#retired);
    await Promise.all(this.#lanes.map(async (lane) => await lane.close(this.#flushMs())));
    this.#lanes = [];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #retire(lane: Lane): void {
    const leaving = this.#handOver(lane).finally(() => this.#retired.delete(leaving));
    this.#retired.add(leaving);
  }

  async #handOver(lane: Lane): Promise<void> {
    const { name } = lane.sender;
    const left = await lane.leave(this.#flushMs());
    const next = this.#laneOf(name);
    if (next !== undefined) next.take(left);
    else {
      this.#options.waiting?.write(name, undefined);
      for (const notice of left.notices) this.#giveUp(name, notice, 'its receiver is no longer set up');
    }
  }

  #lanesOf(senders: readonly Sender[], before: (sender: Sender) => Waiting): readonly Lane[] {
    const { clock, log, policy = defaultRetryPolicy, waiting } = this.#options;
    return senders.map((sender) => {
      const parts = {
        clock,
        policy,
        log,
        missed: (notice: Notice, error: unknown): void => {
          const isPartial = error instanceof DeliveryError && error.reachedSome;
          if (sender.everything || isPartial) return;
          for (const part of partsOf(notice)) this.#attentionOf(sender).missed(part);
        },
        keep: (left: Waiting): void => waiting?.write(sender.name, waitingText(left)),
      };
      return new Lane(sender, parts, before(sender));
    });
  }

  #laneOf(name: string): Lane | undefined {
    return this.#lanes.find(({ sender }) => sender.name === name);
  }

  #attentionOf({ name }: Sender): Attention {
    const { told } = this.#options;
    const known = this.#attention.get(name);
    if (known !== undefined) return known;
    const attention = createAttention(told === undefined ? undefined : toldBy(name, told));
    this.#attention.set(name, attention);
    return attention;
  }

  #gatheringOf({ name }: Sender): Gathering {
    const known = this.#gatherings.get(name);
    if (known !== undefined) return known;
    const send = (notice: Notice): void => this.#laneOf(name)?.push(notice);
    const gathering = new Gathering({ clock: this.#options.clock, send });
    this.#gatherings.set(name, gathering);
    return gathering;
  }

  #holdingOf({ name }: Sender): Holding {
    const known = this.#holdings.get(name);
    if (known !== undefined) return known;
    const { clock, held, quietUntil = () => null } = this.#options;
    const parts = {
      clock,
      isQuiet: () => quietUntil() !== null,
      send: (notice: Notice): void => this.#laneOf(name)?.push(notice),
      givenUp: (notice: Notice): void => this.#giveUp(name, notice, 'too many are held'),
      keep: (text: string | undefined): void => held?.write(name, text),
    };
    const holding = new Holding(parts, held?.read(name));
    this.#holdings.set(name, holding);
    return holding;
  }

  /** Nobody is there any more to whom what is held could be sent. */
  #forget(name: string): void {
    for (const notice of this.#holdings.get(name)?.held ?? [])
      this.#giveUp(name, notice, 'its receiver is no longer set up');
    this.#holdings.delete(name);
    this.#options.held?.write(name, undefined);
  }

  #giveUp(sender: string, { kind }: Notice, why: string): void {
    this.#options.log({ level: 'warn', sender, text: `gave up on ${kind}: ${why}`, error: undefined });
  }

  #flushMs(): number {
    return this.#options.flushMs ?? FLUSH_MS;
  }
}

/** The part of the book for one receiver. */
function toldBy(sender: string, book: ToldBook): ToldBook {
  return {
    read: () => {
      const told = readAll(book.read());
      // An earlier version stored one list for all receivers.
      if (Array.isArray(told)) return JSON.stringify(told);
      const own = told[sender];
      return own === undefined ? undefined : JSON.stringify(own);
    },
    write(text) {
      const told = readAll(book.read());
      const others = Array.isArray(told)
        ? {}
        : Object.fromEntries(Object.entries(told).filter(([name]) => name !== sender));
      const all = text === undefined ? others : { ...others, [sender]: JSON.parse(text) as unknown };
      book.write(Object.keys(all).length === 0 ? undefined : JSON.stringify(all));
    },
  };
}

function readAll(text: string | undefined): unknown[] | Readonly<Record<string, unknown>> {
  return text === undefined ? {} : (JSON.parse(text) as unknown[] | Readonly<Record<string, unknown>>);
}
