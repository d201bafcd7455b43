/** Repeatable pseudo-random numbers for test data: the same seed gives the same tree on every machine. */

export interface SeededRandom {
  /** A number in [0, 1) with 32 random bits. */
  readonly next: () => number;
  /** A whole number in [0, limit). */
  readonly below: (limit: number) => number;
  /** A normally distributed number, mean 0, deviation 1. */
  readonly normal: () => number;
  /** Incompressible bytes. */
  readonly bytes: (length: number) => Buffer;
}

/** sfc32 (Chris Doty-Humphrey's "small fast counting" generator), seeded with one number. */
export function seededRandom(seed: number): SeededRandom {
  let [a, b, c, counter] = [seed | 0, Math.trunc(seed / 0x1_0000_0000) | 0, 0x9e3779b9 | 0, 1];
  const word = (): number => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  };
  for (let step = 0; step < 12; step += 1) word();
  const next = (): number => word() / 0x1_0000_0000;
  return {
    next,
    below: (limit) => Math.floor(next() * limit),
    normal: () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next()),
    bytes: (length) => {
      const words = new Uint32Array(Math.ceil(length / 4));
      for (let index = 0; index < words.length; index += 1) words[index] = word();
      return Buffer.from(words.buffer, 0, length);
    },
  };
}
