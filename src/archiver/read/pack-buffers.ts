/** Shared memory for packs: as many buffers as may be resident at once, taken and given back across threads. */
export interface PackBufferMemory {
  /** [0] counts buffers given back; [1 + i] is 1 while buffer i is taken; the last is 1 once the pool is closed. */
  readonly control: SharedArrayBuffer;
  readonly buffers: readonly SharedArrayBuffer[];
}

const FREE = 0;
const TAKEN = 1;

/** The run has ended early: no further pack will be stored. */
export class PoolClosed extends Error {
  override readonly name = 'PoolClosed';
}

/**
 * The pool that bounds a backup's memory. A thread that needs a buffer while all are taken blocks until a pack is
 * stored. A buffer's pages take up memory only as it is filled.
 */
export class PackBuffers {
  readonly memory: PackBufferMemory;
  readonly #control: Int32Array;

  static create(count: number, capacity: number): PackBuffers {
    return new PackBuffers({
      control: new SharedArrayBuffer(4 * (count + 2)),
      buffers: Array.from({ length: count }, () => new SharedArrayBuffer(capacity)),
    });
  }

  constructor(memory: PackBufferMemory) {
    this.memory = memory;
    this.#control = new Int32Array(memory.control);
  }

  get closed(): boolean {
    return Atomics.load(this.#control, this.#control.length - 1) === 1;
  }

  /** Wakes every thread that waits for a buffer; no buffer can be taken from now on. */
  close(): void {
    Atomics.store(this.#control, this.#control.length - 1, 1);
    Atomics.add(this.#control, 0, 1);
    Atomics.notify(this.#control, 0);
  }

  /**
   * Takes a free buffer, blocking the calling thread until there is one. Never call this on the main thread.
   * @throws {PoolClosed}
   */
  take(): { readonly number: number; readonly buffer: Buffer } {
    for (;;) {
      const seen = Atomics.load(this.#control, 0);
      if (this.closed) throw new PoolClosed();
      for (const [number, buffer] of this.memory.buffers.entries()) {
        if (Atomics.compareExchange(this.#control, 1 + number, FREE, TAKEN) === FREE) {
          return { number, buffer: Buffer.from(buffer) };
        }
      }
      Atomics.wait(this.#control, 0, seen);
    }
  }

  bytes(number: number, length: number): Buffer {
    const buffer = this.memory.buffers[number];
    if (buffer === undefined) throw new RangeError(`There is no pack buffer ${number}`);
    return Buffer.from(buffer, 0, length);
  }

  giveBack(number: number): void {
    Atomics.store(this.#control, 1 + number, FREE);
    Atomics.add(this.#control, 0, 1);
    Atomics.notify(this.#control, 0);
  }
}
