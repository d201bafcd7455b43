/** Keeps up with the keyrings that are stored. */
import { openRing } from '../../src/repository/slots/key-slots.ts';
import type { Repository } from '../../src/repository/repository.ts';
import type { Storage } from './storage.ts';

const { signal } = new AbortController();

export class JudgedKeys {
  readonly #storage: Storage;
  readonly #repository: Repository;
  /** What the ring in force was read from. */
  #ring: Buffer | undefined;

  constructor(storage: Storage, repository: Repository) {
    this.#storage = storage;
    this.#repository = repository;
  }

  /** Power loss takes a ring that its writer was not yet told of, and the number is given again to other keys. */
  async follow(): Promise<void> {
    const repository = this.#repository;
    await repository.followRing(signal);
    let n = repository.ringNumber;
    if (this.#ring !== undefined && this.#body(n)?.equals(this.#ring) !== true) {
      while (this.#body(n) === undefined && n > 1) n -= 1;
      const body = this.#body(n);
      if (body !== undefined) await repository.adoptRing(openRing(body, n, repository.slot), n, signal);
    }
    this.#ring = this.#body(n);
  }

  #body(n: number): Buffer | undefined {
    return this.#storage.get(`keys/ring-${n}`)?.body;
  }
}
