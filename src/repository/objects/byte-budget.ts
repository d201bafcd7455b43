/** Limits how many bytes concurrent work holds in memory. */
export class ByteBudget {
  readonly #limit: number;
  readonly #waiting: { readonly bytes: number; readonly start: () => void }[] = [];
  #used = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Waits for its turn, then runs `work`, which holds `bytes` in memory. Work larger than the limit runs alone. */
  async run<T>(bytes: number, work: () => Promise<T>): Promise<T> {
    await new Promise<void>((start) => {
      this.#waiting.push({ bytes, start });
      this.#admit();
    });
    try {
      return await work();
    } finally {
      this.#used -= bytes;
      this.#admit();
    }
  }

  #admit(): void {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      if (this.#used > 0 && this.#used + next.bytes > this.#limit) return;
      this.#waiting.shift();
      this.#used += next.bytes;
      next.start();
    }
  }
}
