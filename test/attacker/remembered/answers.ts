/** Answers of functions of the product that depend on their arguments alone: every process of a seed reads the same objects again. */

/** A few seeds' worth. */
const MOST = 4_000;

export class Answers<T> {
  readonly #known = new Map<string, T>();

  /** What `make` throws is not kept. */
  of(question: string, make: () => T): T {
    const known = this.#known.get(question);
    if (known !== undefined) return known;
    const made = make();
    if (this.#known.size >= MOST) this.#known.clear();
    this.#known.set(question, made);
    return made;
  }
}

/** Of bytes: one character for each. */
export function textOf(bytes: Uint8Array): string {
  const buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return buffer.toString('latin1');
}
