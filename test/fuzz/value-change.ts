/** Changes of structured values: what comes out is well-formed, and wrong in a place that only the parser knows. */
import type { SeededRandom } from '../support/seeded-random.ts';

export type Leaf = (random: SeededRandom) => unknown;

const LENGTHS = [0, 1, 8, 12, 16, 24, 31, 32, 33, 64, 80, 300, 5_000];

const NUMBERS = [
  0,
  1,
  -1,
  2,
  3,
  7,
  64,
  65,
  127,
  128,
  255,
  256,
  4_095,
  4_096,
  65_535,
  65_536,
  1_048_577,
  2 ** 31,
  2 ** 32 - 1,
  2 ** 32,
  -(2 ** 31),
  8.64e15,
  8.64e15 + 1,
  2 ** 53 - 1,
  2 ** 53,
  -(2 ** 53),
  1e300,
  0.5,
];

function someText(random: SeededRandom): string {
  const length = LENGTHS[random.below(LENGTHS.length)] ?? 0;
  const texts = ['a', '\0', '/', '..', '\u{1f600}', '\ud800', '__proto__', 'current', '0'];
  return (texts[random.below(texts.length)] ?? '').repeat(length);
}

/** What JSON has. */
export const JSON_LEAVES: readonly Leaf[] = [
  () => null,
  (random) => random.below(2) === 0,
  (random) => NUMBERS[random.below(NUMBERS.length)] ?? 0,
  (random) => random.below(100) - 50,
  someText,
  () => ({}),
  () => [],
  (random) => deep(random.below(80)),
  (random) => Array.from({ length: random.below(300) }, (_, index) => index),
];

/** What CBOR has beside that. */
export const CBOR_LEAVES: readonly Leaf[] = [
  ...JSON_LEAVES,
  (random) => random.bytes(LENGTHS[random.below(LENGTHS.length)] ?? 0),
  () => 2n ** 64n - 1n,
  () => -(2n ** 64n),
  () => Number.NaN,
];

function deep(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

/** A copy that differs in one place: another value, one left out, one twice, one of another place. */
export function changeValue(value: unknown, random: SeededRandom, leaves: readonly Leaf[]): unknown {
  const leaf = (): unknown => leaves[random.below(leaves.length)]?.(random);
  const isList = Array.isArray(value);
  const isMap = isPlainObject(value);
  if (!isList && !isMap) return changedLeaf(value, random, leaf);
  const entries: [string, unknown][] = Object.entries(value);
  const chosen = random.below(entries.length + 1);
  const entry = entries[chosen];
  if (entry === undefined || random.below(24) === 0) entries.push([`f${random.below(4)}`, leaf()]);
  else {
    switch (random.below(8)) {
      case 0:
        entries.splice(chosen, 1);
        break;
      case 1:
        entry[1] = leaf();
        break;
      case 2:
        entries.splice(chosen, 0, [isMap ? `${entry[0]}2` : entry[0], entry[1]]);
        break;
      case 3:
        entry[1] = entries[random.below(entries.length)]?.[1];
        break;
      default:
        entry[1] = changeValue(entry[1], random, leaves);
    }
  }
  return isList ? entries.map(([, one]) => one) : Object.fromEntries(entries);
}

function changedLeaf(value: unknown, random: SeededRandom, leaf: () => unknown): unknown {
  if (typeof value === 'number' && random.below(2) === 0) return value + random.below(3) - 1;
  if (typeof value === 'string' && random.below(2) === 0) {
    const at = random.below(value.length + 1);
    return value.slice(0, at) + someText(random).slice(0, 3) + value.slice(at + random.below(3));
  }
  if (value instanceof Uint8Array && random.below(2) === 0) {
    const bytes = Buffer.from(value);
    if (random.below(3) === 0) return bytes.subarray(0, random.below(bytes.length + 1));
    if (bytes.length > 0) bytes[random.below(bytes.length)] = random.below(256);
    return bytes;
  }
  return leaf();
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !(value instanceof Uint8Array);
}

/** `changeValue` one to four times. */
export function changeOften(value: unknown, random: SeededRandom, leaves: readonly Leaf[]): unknown {
  let changed = value;
  for (let step = random.below(4); step >= 0; step -= 1) changed = changeValue(changed, random, leaves);
  return changed;
}
