/** One simulation: its time, its machines, and the loop that lets one thing happen after the other. */
import { EventQueue } from './event-queue.ts';
import type { Machine } from './machine.ts';

/** Taken before anything replaces it. */
const { setImmediate } = globalThis;
/** Node's own: runs what was put off with `nextTick` and every promise that can go on, until there is none left. */
const tick = tickOf(process);

export class World {
  readonly events = new EventQueue();
  /** Milliseconds since the simulation began. */
  nowMs = 0;
  /** Whose program runs at this moment: its clock, randomness and disk are what a program asks for. */
  current: Machine | undefined;
  /** What happened, for people; kept where somebody wants to read it. */
  readonly trace: string[] | undefined;
  /** How often each kind of fault came about. */
  readonly fired = new Map<string, number>();
  #pids = 1_000;

  constructor(options: { readonly traced: boolean }) {
    this.trace = options.traced ? [] : undefined;
  }

  tell(who: string, what: string, fault?: string): void {
    if (fault !== undefined) this.fired.set(fault, (this.fired.get(fault) ?? 0) + 1);
    this.trace?.push(`${clockText(this.nowMs)} ${who.padEnd(8)} ${what}`);
  }

  /** No two processes of a simulation have one number. */
  nextPid(): number {
    this.#pids += 1;
    return this.#pids;
  }

  /**
   * Lets events happen until `done` says so, there are none left, or the time is up. All within one turn of Node's loop: one
   * for each event took a fifth of the time.
   * @param after called after each event; waits for nothing but what goes on by itself
   */
  async run(
    done: () => boolean,
    limitMs: number,
    after: () => Promise<void>,
  ): Promise<'done' | 'idle' | 'late'> {
    return await new Promise((resolve, reject) => {
      // Outside of all promises: from within one the others do not go on.
      setImmediate(() => {
        try {
          resolve(this.#runNow(done, limitMs, after));
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  #runNow(done: () => boolean, limitMs: number, after: () => Promise<void>): 'done' | 'idle' | 'late' {
    while (!done()) {
      const event = this.events.take();
      if (event === undefined) return 'idle';
      if (event.atMs > limitMs) return 'late';
      this.nowMs = event.atMs;
      event.run();
      goOn();
      settle(after);
    }
    return 'done';
  }
}

function tickOf(node: object): () => void {
  if ('_tickCallback' in node && typeof node._tickCallback === 'function')
    return node._tickCallback as () => void;
  throw new Error(
    'this Node.js has no process._tickCallback: the simulator cannot tell when nothing is left to do',
  );
}

/** Everything that can go on without a further event goes on. */
function goOn(): void {
  tick.call(process);
}

/** @throws what it rejects with */
function settle(work: () => Promise<void>): void {
  let outcome: { readonly error?: unknown } | undefined;
  work().then(
    () => (outcome = {}),
    (error: unknown) => (outcome = { error }),
  );
  goOn();
  if (outcome === undefined) throw new Error('what judges waits for something that does not come by itself');
  if ('error' in outcome) throw (outcome as { readonly error: unknown }).error;
}

/** `2d 03:04:05.678`. */
function clockText(ms: number): string {
  const text = new Date(ms % 86_400_000).toISOString().slice(11, 23);
  return `${Math.floor(ms / 86_400_000)}d ${text}`;
}
