/** Simulated time: what is going to happen, in the order in which it will. */

export interface SimulatedEvent {
  /** Milliseconds of simulated time. */
  atMs: number;
  /** Tells events of one moment apart: the one that was planned first comes first. */
  readonly order: number;
  readonly run: () => void;
  cancelled: boolean;
}

/** A binary heap by time and order. */
export class EventQueue {
  readonly #heap: SimulatedEvent[] = [];
  #order = 0;

  add(atMs: number, run: () => void): SimulatedEvent {
    this.#order += 1;
    const event = { atMs, order: this.#order, run, cancelled: false };
    this.#heap.push(event);
    this.#rise(this.#heap.length - 1);
    return event;
  }

  /** The next event that was not cancelled. */
  take(): SimulatedEvent | undefined {
    for (;;) {
      const first = this.#heap[0];
      if (first === undefined) return undefined;
      const last = this.#heap.pop();
      if (last !== undefined && last !== first) {
        this.#heap[0] = last;
        this.#sink();
      }
      if (!first.cancelled) return first;
    }
  }

  #rise(from: number): void {
    const heap = this.#heap;
    for (let at = from; at > 0;) {
      const above = (at - 1) >> 1;
      if (!isBefore(heap[at], heap[above])) return;
      this.#swap(at, above);
      at = above;
    }
  }

  #sink(): void {
    const heap = this.#heap;
    for (let at = 0; ;) {
      let least = at;
      for (const child of [2 * at + 1, 2 * at + 2]) if (isBefore(heap[child], heap[least])) least = child;
      if (least === at) return;
      this.#swap(at, least);
      at = least;
    }
  }

  #swap(a: number, b: number): void {
    const heap = this.#heap;
    const [one, other] = [heap[a], heap[b]];
    if (one === undefined || other === undefined) return;
    heap[a] = other;
    heap[b] = one;
  }
}

function isBefore(a: SimulatedEvent | undefined, b: SimulatedEvent | undefined): boolean {
  if (a === undefined || b === undefined) return false;
  return a.atMs === b.atMs ? a.order < b.order : a.atMs < b.atMs;
}
