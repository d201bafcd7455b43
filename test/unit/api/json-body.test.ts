import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseJsonBody } from '../../../src/api/wire/json-body.ts';

const limits = { bodyDepth: 8, bodyValues: 200 };
const parse = (text: string): unknown => parseJsonBody(Buffer.from(text), limits);

describe('a JSON body', () => {
  test('of any modest value is that value', () => {
    const names = fc.string().filter((name) => name !== '__proto__');
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 3, withCrossShrink: true },
        fc.string({ unit: 'grapheme' }),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(names, tie('value'), { maxKeys: 4 }),
      ),
    }));
    fc.assert(
      fc.property(value, fc.constantFrom(0, 2), (any, indent) => {
        const text = JSON.stringify(any, null, indent);
        expect(parse(text)).toEqual(JSON.parse(text));
      }),
      { numRuns: 500 },
    );
  });

  test('of any bytes is a value, or refused with a code', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        try {
          parseJsonBody(bytes, limits);
        } catch (error) {
          expect(error).toMatchObject({ name: 'ApiError', statusCode: 400 });
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test('may name a field again in another object, not in the same', () => {
    expect(parse('{"a":{"a":[{"a":1},{"a":2}]},"b":"a"}')).toEqual({
      a: { a: [{ a: 1 }, { a: 2 }] },
      b: 'a',
    });
    for (const text of [
      '{"a":1,"a":1}',
      '[{"b":{"a":1,"c":{},"a":2}}]',
      String.raw`{"a\"":1,"\u0061\"":2}`,
    ]) {
      expect(() => parse(text), text).toThrow(/twice/);
    }
  });

  test('is neither deeper nor made of more values than any route takes', () => {
    expect(parse('[[[[[[[[]]]]]]]]')).toBeDefined();
    expect(() => parse('[[[[[[[[[]]]]]]]]]')).toThrow(/levels deep/);
    expect(() => parse('['.repeat(1_000_000))).toThrow(/levels deep/);
    expect(parse(JSON.stringify(Array(200).fill(0)))).toHaveLength(200);
    expect(() => parse(JSON.stringify(Array(201).fill(0)))).toThrow(/more than 200 values/);
  });

  test('is not quoted when it is refused', () => {
    try {
      parse('{"secret": hfs_very_secret}');
      expect.fail('it was taken');
    } catch (error) {
      expect(String(error)).not.toContain('hfs_very');
    }
  });
});

describe('half of a character', () => {
  test.each(['{"path":"/a/\\ud83d"}', '{"a":["\\uDE00x"]}', '{"\\uD83D":1}', '"\\ud83d\\ud83d"'])(
    '%s is refused',
    (text) => {
      expect(() => parse(text)).toThrow('contains half of a character');
    },
  );

  test('and its other half are one, also escaped, and an escaped backslash is none', () => {
    expect(parse(String.raw`{"a":"\ud83d\ude00"}`)).toEqual({ a: '\u{1F600}' });
    expect(parse(String.raw`{"a":"\\ud83d"}`)).toEqual({ a: String.raw`\ud83d` });
  });
});
