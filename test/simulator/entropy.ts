/** What crypto draws from: a function of the seed and of how often it was asked, so that a cloned machine draws the same. */
import { seededRandom, type SeededRandom } from '../support/seeded-random.ts';

/** Any odd number: neighbouring calls begin far from each other. */
const SPREAD = 0x9e37_79b1;

export class Entropy {
  readonly #seed: number;
  #calls: number;

  constructor(seed: number, calls = 0) {
    this.#seed = seed;
    this.#calls = calls;
  }

  bytes(length: number): Buffer {
    return Buffer.from(this.#draw().bytes(length));
  }

  below(limit: number): number {
    return this.#draw().below(limit);
  }

  next(): number {
    return this.#draw().next();
  }

  /** Goes on with what this one would draw. */
  copy(): Entropy {
    return new Entropy(this.#seed, this.#calls);
  }

  #draw(): SeededRandom {
    this.#calls += 1;
    return seededRandom(this.#seed * 0x1_0000 + this.#calls * SPREAD);
  }
}
