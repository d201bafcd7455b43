/** Adapts how many calls run at once to what a destination can bear. */
import { systemClock } from '../../base/clock.ts';
import { DestinationError } from '../../base/errors.ts';
import type { Destination, ListedObject } from '../destination.ts';
import { leftoversOf } from '../leftovers.ts';
import { hasNoAnswer, SILENT_MS } from '../retry.ts';
import { STALL_MS } from '../stall.ts';

/** The number of concurrent calls to begin with. */
const FIRST = 4;
/**
 * A number of concurrent calls that was too many is tried again only after this many times as many successful calls as
 * usual.
 */
const PROOF = 10;

/**
 * `destination` with at most `properties.maxParallel` concurrent calls, and fewer where that is too many. One more is
 * allowed after as many successful calls as are allowed at present. Their number is halved after a call that was
 * refused as one too many, or that the store left unanswered. A number that was too many is tried again only after ten
 * times as many successful calls: on a slow line each such trial costs all that was under way.
 *
 * When nobody has answered for about three minutes, the calls that still wait for their turn fail as well. Each would
 * otherwise find out by itself, one after another, as fewer run at once where a store does not answer.
 */
export function withAdaptiveParallelism(destination: Destination): Destination {
  const turns = new Turns(destination.properties.maxParallel);

  async function counted<T>(signal: AbortSignal, call: () => Promise<T>): Promise<T> {
    const turn = await turns.take(signal);
    try {
      const result = await call();
      turns.answered();
      turns.more();
      return result;
    } catch (error) {
      if (tellsTooMany(error)) turns.fewer(turn);
      if (error instanceof DestinationError) {
        if (hasNoAnswer(error)) turns.unanswered(turn, error);
        else turns.answered();
      }
      throw error;
    } finally {
      turns.give(turn);
    }
  }

  async function* list(prefix: string, signal: AbortSignal): AsyncGenerator<readonly ListedObject[]> {
    const pages = destination.list(prefix, signal)[Symbol.asyncIterator]();
    try {
      for (;;) {
        // Each page takes a turn of its own, as the consumer of the pages may need turns itself.
        const step = await counted(signal, async () => await pages.next());
        if (step.done === true) return;
        yield step.value;
      }
    } finally {
      await pages.return?.();
    }
  }

  return {
    // Read anew each time: the wrapped destination may compute its properties.
    get properties() {
      return destination.properties;
    },
    put: (key, body, signal) => counted(signal, () => destination.put(key, body, signal)),
    get: (key, range, signal) => counted(signal, () => destination.get(key, range, signal)),
    stat: (key, signal) => counted(signal, () => destination.stat(key, signal)),
    list,
    delete: (key, signal) => counted(signal, () => destination.delete(key, signal)),
    ...(destination.retain === undefined
      ? {}
      : { retain: (key, signal) => counted(signal, async () => await destination.retain?.(key, signal)) }),
    ...leftoversOf(destination, counted),
    ...(destination.makeDurable === undefined
      ? {}
      : {
          makeDurable: (keys, signal) =>
            counted(signal, async () => await destination.makeDurable?.(keys, signal)),
        }),
    close: () => destination.close(),
  };
}

function tellsTooMany(error: unknown): boolean {
  if (!(error instanceof DestinationError)) return false;
  return error.details['throttled'] === true || error.details['stalled'] === true;
}

/** A call under way. */
interface Turn {
  /** How often the number of calls had been halved when it began. */
  readonly generation: number;
  /** By the monotonic clock, in milliseconds. */
  readonly sinceMs: number;
}

interface Waiting {
  readonly wake: () => void;
  readonly fail: (error: DestinationError) => void;
}

/** A call without an answer for longer than a stall has moved meanwhile, or it would have failed. */
const MOVING_MS = STALL_MS + 5_000;

class Turns {
  readonly #most: number;
  readonly #waiting: Waiting[] = [];
  readonly #underWay = new Set<Turn>();
  #answeredMs = systemClock.monotonic();
  #allowed: number;
  #good = 0;
  /** Increases with every halving: a call that began before it says nothing about the new number. */
  #generation = 0;
  /** The last number of concurrent calls that was too many, until it has been tried again. */
  #tooMany = Infinity;

  constructor(most: number) {
    this.#most = most;
    this.#allowed = Math.min(FIRST, most);
  }

  async take(signal: AbortSignal): Promise<Turn> {
    signal.throwIfAborted();
    while (this.#underWay.size >= this.#allowed) await this.#next(signal);
    const turn = { generation: this.#generation, sinceMs: systemClock.monotonic() };
    this.#underWay.add(turn);
    return turn;
  }

  give(turn: Turn): void {
    this.#underWay.delete(turn);
    if (this.#underWay.size < this.#allowed) this.#waiting.shift()?.wake();
  }

  /** The store has answered, if only that it cannot. */
  answered(): void {
    this.#answeredMs = systemClock.monotonic();
  }

  unanswered(turn: Turn, error: DestinationError): void {
    const now = systemClock.monotonic();
    if (now - this.#answeredMs < SILENT_MS) return;
    for (const other of this.#underWay) if (other !== turn && now - other.sinceMs > MOVING_MS) return;
    for (const { fail } of this.#waiting.splice(0)) fail(error);
  }

  more(): void {
    this.#good += 1;
    const next = this.#allowed + 1;
    const wanted = this.#allowed * (next >= this.#tooMany ? PROOF : 1);
    if (this.#good < wanted || next > this.#most) return;
    this.#good = 0;
    this.#allowed = next;
    if (next >= this.#tooMany) this.#tooMany = Infinity;
    this.#waiting.shift()?.wake();
  }

  fewer({ generation }: Turn): void {
    if (generation !== this.#generation) return;
    this.#generation += 1;
    this.#good = 0;
    this.#tooMany = Math.max(2, this.#allowed);
    this.#allowed = Math.max(1, Math.floor(this.#allowed / 2));
  }

  async #next(signal: AbortSignal): Promise<void> {
    const turn = Promise.withResolvers<void>();
    const waiting = { wake: () => turn.resolve(), fail: turn.reject };
    const onAbort = (): void => {
      const index = this.#waiting.indexOf(waiting);
      if (index !== -1) this.#waiting.splice(index, 1);
      // The call was woken and aborted at once, so its turn goes to the next one.
      else this.#waiting.shift()?.wake();
      turn.reject(signal.reason);
    };
    this.#waiting.push(waiting);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      await turn.promise;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }
}
