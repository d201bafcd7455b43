/** A destination that is asked no more at once than it bears. */
import { DestinationError } from '../../base/errors.ts';
import type { Destination, ListedObject } from '../destination.ts';
import { leftoversOf } from '../leftovers.ts';

/** Calls at once when nothing is known yet. */
const FIRST = 4;
/** So many times as many calls must go well before it is tried again with as many at once as were too many. */
const PROOF = 10;

/**
 * `destination` with at most `properties.maxParallel` calls at once, and fewer where it shows to be too many: one more
 * after as many good calls as are allowed now, half of them after one that was refused for their number, or that the
 * store left unanswered. As many as were too many once are tried again only after ten times as many good calls: on a slow
 * line each trial costs what was under way.
 */
export function withAdaptiveParallelism(destination: Destination): Destination {
  const turns = new Turns(destination.properties.maxParallel);

  async function counted<T>(signal: AbortSignal, call: () => Promise<T>): Promise<T> {
    const generation = await turns.take(signal);
    try {
      const result = await call();
      turns.more();
      return result;
    } catch (error) {
      if (tellsTooMany(error)) turns.fewer(generation);
      throw error;
    } finally {
      turns.give();
    }
  }

  async function* list(prefix: string, signal: AbortSignal): AsyncGenerator<readonly ListedObject[]> {
    const pages = destination.list(prefix, signal)[Symbol.asyncIterator]();
    try {
      for (;;) {
        // A turn for each page: who takes the pages may need turns for what it does with them.
        const step = await counted(signal, async () => await pages.next());
        if (step.done === true) return;
        yield step.value;
      }
    } finally {
      await pages.return?.();
    }
  }

  return {
    // A getter may stand behind them.
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

class Turns {
  readonly #most: number;
  readonly #waiting: (() => void)[] = [];
  #allowed: number;
  #taken = 0;
  #good = 0;
  /** Rises with every halving: what began before it says nothing about the new number. */
  #generation = 0;
  /** Were too many, and have not been tried since. */
  #tooMany = Infinity;

  constructor(most: number) {
    this.#most = most;
    this.#allowed = Math.min(FIRST, most);
  }

  async take(signal: AbortSignal): Promise<number> {
    signal.throwIfAborted();
    while (this.#taken >= this.#allowed) await this.#next(signal);
    this.#taken += 1;
    return this.#generation;
  }

  give(): void {
    this.#taken -= 1;
    if (this.#taken < this.#allowed) this.#waiting.shift()?.();
  }

  more(): void {
    this.#good += 1;
    const next = this.#allowed + 1;
    const wanted = this.#allowed * (next >= this.#tooMany ? PROOF : 1);
    if (this.#good < wanted || next > this.#most) return;
    this.#good = 0;
    this.#allowed = next;
    if (next >= this.#tooMany) this.#tooMany = Infinity;
    this.#waiting.shift()?.();
  }

  fewer(generation: number): void {
    if (generation !== this.#generation) return;
    this.#generation += 1;
    this.#good = 0;
    this.#tooMany = Math.max(2, this.#allowed);
    this.#allowed = Math.max(1, Math.floor(this.#allowed / 2));
  }

  async #next(signal: AbortSignal): Promise<void> {
    const turn = Promise.withResolvers<void>();
    const wake = (): void => turn.resolve();
    const onAbort = (): void => {
      const index = this.#waiting.indexOf(wake);
      if (index !== -1) this.#waiting.splice(index, 1);
      // Woken and aborted at once: the turn is for the next one.
      else this.#waiting.shift()?.();
      turn.reject(signal.reason);
    };
    this.#waiting.push(wake);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      await turn.promise;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }
}
