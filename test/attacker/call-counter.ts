/** Counts what a deed asks of the storage, and stops one that asks for more than what is stored explains. */
import { cpuUsage } from 'node:process';
import { getHeapStatistics } from 'node:v8';
import type { ObjectStorage } from '../simulator/storage.ts';
import { Broken } from './promises.ts';
import type { CallWatch, NetworkFault } from './storage-view.ts';

/** Calls for each object that is stored, and beside them: an honest deed without an attack takes a tenth. */
const CALLS = { each: 12, more: 1_200 };
/** Read by one deed: all that is stored comes to less than half a megabyte. */
const BYTES = 50_000_000;
/** Bytes of heap after a call, what has not been collected of calls before it included. */
const HEAP = 900_000_000;
/** Of processor time, of which a deed takes 10 ms. */
const MOST_MS = 30_000;

export interface CallParts {
  readonly fault: () => NetworkFault | undefined;
  readonly meanwhile: (call: number) => void;
  readonly stored: (key: string) => void;
}

export class CallCounter implements CallWatch {
  /** What was found when a call could not throw it. */
  broken: Broken | undefined;
  readonly #storage: ObjectStorage;
  readonly #parts: CallParts;
  #what = '';
  #calls = 0;
  #bytes = 0;
  #since = cpuUsage();

  constructor(storage: ObjectStorage, parts: CallParts) {
    this.#storage = storage;
    this.#parts = parts;
  }

  begin(what: string): void {
    this.#what = what;
    this.#calls = 0;
    this.#bytes = 0;
    this.#since = cpuUsage();
  }

  /** @throws {Broken} */
  end(): void {
    const { user, system } = cpuUsage(this.#since);
    const ms = (user + system) / 1_000;
    const heap = getHeapStatistics().used_heap_size;
    if (ms > MOST_MS) throw new Broken('bounded', `${this.#what} took ${Math.round(ms)} ms`);
    if (heap > HEAP) throw new Broken('bounded', `${this.#what} took ${heap} bytes of memory`);
  }

  called(host: string, method: string, key: string): NetworkFault | undefined {
    this.#calls += 1;
    this.#parts.meanwhile(this.#calls);
    const objects = this.#storage.size;
    if (this.#calls > objects * CALLS.each + CALLS.more)
      this.#fail(
        `${this.#what} of ${host} makes more than ${this.#calls} calls with ${objects} objects (${method} ${key})`,
      );
    return this.#parts.fault();
  }

  stored(_: string, key: string): void {
    this.#parts.stored(key);
  }

  deleted(): void {}

  read(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > BYTES) this.#fail(`${this.#what} reads more than ${this.#bytes} bytes`);
  }

  #fail(what: string): never {
    this.broken ??= new Broken('bounded', what);
    throw this.broken;
  }
}
