/** Limits how many callers use something expensive at once. The others wait in the order of their arrival. */
export interface Turns {
  /** Waits for a turn, which ends when it is disposed. Rejects with the signal's reason if that aborts first. */
  take(signal: AbortSignal): Promise<Disposable>;
}

export function createTurns(atOnce: number): Turns {
  let free = atOnce;
  const waiting = new Set<() => void>();
  const end = (): void => {
    const [next] = waiting;
    if (next === undefined) free += 1;
    else {
      waiting.delete(next);
      next();
    }
  };
  return {
    async take(signal) {
      signal.throwIfAborted();
      if (free > 0) free -= 1;
      else await waitIn(waiting, signal);
      let isOver = false;
      return {
        [Symbol.dispose]() {
          if (isOver) return;
          isOver = true;
          end();
        },
      };
    },
  };
}

/** One turn at a time for each of several places. */
export class TurnsAt {
  readonly #places = new Map<string, { readonly turns: Turns; users: number }>();

  /** As `Turns.take`, for one place. */
  async take(place: string, signal: AbortSignal): Promise<Disposable> {
    const known = this.#places.get(place) ?? { turns: createTurns(1), users: 0 };
    this.#places.set(place, known);
    known.users += 1;
    const leave = (): void => {
      known.users -= 1;
      if (known.users === 0) this.#places.delete(place);
    };
    try {
      const turn = await known.turns.take(signal);
      return {
        [Symbol.dispose]() {
          turn[Symbol.dispose]();
          leave();
        },
      };
    } catch (error) {
      leave();
      throw error;
    }
  }
}

async function waitIn(waiting: Set<() => void>, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const leave = (): void => {
    waiting.delete(resolve);
    reject(signal.reason);
  };
  signal.addEventListener('abort', leave, { once: true });
  waiting.add(resolve);
  try {
    await promise;
  } finally {
    signal.removeEventListener('abort', leave);
  }
}
