/** Changes of bytes that know nothing of their meaning. */
import type { SeededRandom } from '../support/seeded-random.ts';

/** Numbers at which lengths, counts and signs go wrong. */
const NUMBERS: readonly bigint[] = [
  0n,
  1n,
  0x7fn,
  0x80n,
  0xffn,
  0x7fffn,
  0xffffn,
  0x1_0000n,
  0xff_ffffn,
  0x7fff_ffffn,
  0x8000_0000n,
  0xffff_ffffn,
  0x1f_ffff_ffff_ffffn,
  0x7fff_ffff_ffff_ffffn,
  0xffff_ffff_ffff_ffffn,
];

export interface Mutation {
  readonly random: SeededRandom;
  readonly maxBytes: number;
  readonly words: readonly Uint8Array[];
  /** Another input, for parts of it. */
  readonly other: () => Uint8Array;
}

/** One to eight changes, one after the other. */
export function mutate(input: Uint8Array, mutation: Mutation): Buffer {
  let bytes: Buffer = Buffer.from(input);
  const steps = 1 << mutation.random.below(4);
  for (let step = 0; step < steps; step += 1) bytes = oneChange(bytes, mutation);
  return bytes.subarray(0, mutation.maxBytes);
}

function oneChange(bytes: Buffer, mutation: Mutation): Buffer {
  const { random, words, other, maxBytes } = mutation;
  const at = random.below(bytes.length + 1);
  const length = 1 + random.below(Math.min(64, Math.max(1, bytes.length - at)));
  switch (random.below(14)) {
    case 0:
      if (at < bytes.length) bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
      return bytes;
    case 1:
      if (at < bytes.length) bytes[at] = random.below(256);
      return bytes;
    case 2:
      if (at < bytes.length) bytes[at] = (bytes[at] ?? 0) + random.below(71) - 35;
      return bytes;
    case 3:
      return writeNumber(bytes, at, random);
    case 4:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)]);
    case 5:
      return Buffer.concat([bytes.subarray(0, at), random.bytes(length), bytes.subarray(at)]);
    case 6:
      return Buffer.concat([bytes.subarray(0, at + length), bytes.subarray(at)]);
    case 7:
      return bytes.subarray(0, at);
    case 8:
    case 9: {
      const word = words[random.below(words.length)] ?? random.bytes(1);
      const over = random.below(2) * word.length;
      return Buffer.concat([bytes.subarray(0, at), word, bytes.subarray(at + over)]);
    }
    case 10: {
      const from = other();
      const start = random.below(from.length + 1);
      const part = from.subarray(start, start + 1 + random.below(128));
      return Buffer.concat([bytes.subarray(0, at), part, bytes.subarray(at + random.below(2) * part.length)]);
    }
    case 11: {
      const from = other();
      return Buffer.concat([bytes.subarray(0, at), from.subarray(Math.min(at, from.length))]);
    }
    case 12:
      return swapped(bytes, at, length, random);
    default:
      // Long inputs are slow: most are not made longer.
      if (random.below(4) > 0) return repeated(bytes, at, length, Math.min(maxBytes, bytes.length + 256));
      return repeated(bytes, at, length, Math.min(maxBytes, 1 << random.below(20)));
  }
}

/** A length or a count, blown up or off by one, in either byte order. */
function writeNumber(bytes: Buffer, at: number, random: SeededRandom): Buffer {
  const width = 1 << random.below(4);
  if (at + width > bytes.length) return bytes;
  const number = Buffer.alloc(8);
  const left = BigInt(bytes.length - at + random.below(3) - 1);
  const value = random.below(3) === 0 ? left : (NUMBERS[random.below(NUMBERS.length)] ?? 0n);
  number.writeBigInt64BE(BigInt.asIntN(64, value));
  const written = number.subarray(8 - width);
  if (random.below(4) === 0) written.reverse();
  written.copy(bytes, at);
  return bytes;
}

function swapped(bytes: Buffer, at: number, length: number, random: SeededRandom): Buffer {
  const to = random.below(bytes.length + 1);
  const part = Buffer.from(bytes.subarray(at, at + length));
  const rest = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)]);
  return Buffer.concat([rest.subarray(0, to), part, rest.subarray(to)]);
}

/** A part many times over: what takes time in proportion to the square of its input shows itself. */
function repeated(bytes: Buffer, at: number, length: number, most: number): Buffer {
  const part = bytes.subarray(at, at + length);
  if (part.length === 0 || bytes.length >= most) return bytes;
  const middle = Buffer.alloc(most - bytes.length, part);
  return Buffer.concat([bytes.subarray(0, at), middle, bytes.subarray(at)]);
}
