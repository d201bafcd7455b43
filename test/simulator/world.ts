/** One simulation: its time, its machines, and the loop that lets one thing happen after the other. */
import { EventQueue } from './event-queue.ts';
import type { Machine } from './machine.ts';

/** Taken before anything replaces it: ends when no promise is left that could go on by itself. */
const { setImmediate } = globalThis;

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

  /** Everything that can go on without a further event goes on. */
  async settle(): Promise<void> {
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
  }

  /**
   * Lets events happen until `done` says so, there are none left, or the time is up.
   * @param after called after each event
   */
  async run(
    done: () => boolean,
    limitMs: number,
    after: () => Promise<void>,
  ): Promise<'done' | 'idle' | 'late'> {
    await this.settle();
    while (!done()) {
      const event = this.events.take();
      if (event === undefined) return 'idle';
      if (event.atMs > limitMs) return 'late';
      this.nowMs = event.atMs;
      event.run();
      await this.settle();
      await after();
    }
    return 'done';
  }
}

/** `2d 03:04:05.678`. */
function clockText(ms: number): string {
  const text = new Date(ms % 86_400_000).toISOString().slice(11, 23);
  return `${Math.floor(ms / 86_400_000)}d ${text}`;
}
