/** Structure-aware changes of encoded values, and how the answer of a parser is judged. */
import { isDeepStrictEqual } from 'node:util';
import { decode, encode, rfc8949EncodeOptions } from 'cborg';
import type { SeededRandom } from '../support/seeded-random.ts';
import type { Verdict } from './target.ts';
import { CBOR_LEAVES, JSON_LEAVES, changeOften } from './value-change.ts';

type Change = (input: Buffer, random: SeededRandom) => Buffer;

/** The same bytes where they are no CBOR, or became something that CBOR has not. */
export const changeCbor: Change = (input, random) => {
  try {
    const value: unknown = decode(input);
    return Buffer.from(encode(changeOften(value, random, CBOR_LEAVES), rfc8949EncodeOptions));
  } catch {
    return input;
  }
};

/** The same bytes where they are no JSON. */
export const changeJson: Change = (input, random) => {
  let value: unknown;
  try {
    value = JSON.parse(input.toString('utf8'));
  } catch {
    return input;
  }
  return Buffer.from(JSON.stringify(changeOften(value, random, JSON_LEAVES)) ?? 'null');
};

/** What a parser made of an input: its value, or that it refused it. */
export type Parsed<T> = { readonly value: T } | 'refused';

/** @throws what is not the parser's own error */
export function parsed<T>(parse: () => T, isRefusal: (error: unknown) => boolean): Parsed<T> {
  try {
    return { value: parse() };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return 'refused';
  }
}

/** The value is looked at outside of the parser, so that no error of the look is taken for a refusal. */
export function judged<T>(result: Parsed<T>, look: (value: T) => void = () => undefined): Verdict {
  if (result === 'refused') return 'refused';
  look(result.value);
  return 'taken';
}

export function requireEqual(found: unknown, expected: unknown, what: string): void {
  const same =
    found instanceof Uint8Array && expected instanceof Uint8Array
      ? Buffer.compare(found, expected) === 0
      : isDeepStrictEqual(found, expected);
  if (!same) throw new Error(`${what} differs`);
}

export function need(condition: boolean, what: string): void {
  if (!condition) throw new Error(what);
}

/** Strings as the parser gets them: one UTF-16 unit for each that the bytes stand for. */
export function textOf(input: Buffer): string {
  return input.toString('utf8');
}
