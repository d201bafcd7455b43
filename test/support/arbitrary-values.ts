/** Values made from the schemas of an OpenAPI document: right ones, nearly right ones, and anything. */
import * as fc from 'fast-check';
import type { OpenApiSchema } from './openapi-documents.ts';

/** How well values keep to their schema: always, or but for one in eight. */
export type Care = 'strict' | 'loose';

/** What the values of one document are like. */
export interface ValueStyle {
  dereference(schema: OpenApiSchema): OpenApiSchema;
  /** Texts that mean something there. */
  readonly texts: fc.Arbitrary<string>;
  /** Of fields of which the document does not say all, by their name. */
  readonly fields?: Readonly<Record<string, (values: ArbitraryValues) => fc.Arbitrary<unknown>>>;
}

export type ArbitraryValues = (schema: OpenApiSchema, care?: Care) => fc.Arbitrary<unknown>;

/** Stands for something that was there before, as a test fills it in: the number says which. */
export function known(kind: string): fc.Arbitrary<string> {
  return fc.nat(40).map((index) => `known-${kind}-${index}`);
}

const ODD_NUMBERS = fc.constantFrom(
  0,
  -1,
  -0,
  0.5,
  1e21,
  -1e308,
  5e-324,
  2 ** 31,
  2 ** 53,
  Number.MAX_VALUE,
  Number.MAX_SAFE_INTEGER,
);
const ODD_TEXTS = fc.constantFrom(
  '',
  ' ',
  '\0',
  '/',
  '//',
  '.',
  '..',
  '../../etc/passwd',
  '/home/ana/\ud83d\udcbe',
  '\ud800',
  '\u202e\u001b[31m',
  'é'.normalize('NFD'),
  '__proto__',
  'constructor',
  'toString',
  'null',
  'true',
  'NaN',
  "'; DROP TABLE jobs; --",
  '%s%n%d',
  '${7*7}',
  '*'.repeat(300),
  '['.repeat(300),
  '\\',
  '(a+)+$',
  'x'.repeat(5_000),
  '😀'.repeat(2_000),
);
const TIMES = fc.oneof(
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  fc.constantFrom(
    '2026-02-30T00:00:00Z',
    '0000-01-01T00:00:00Z',
    '9999-12-31T23:59:60Z',
    '2026-11-21',
    'now',
  ),
);

export function arbitraryValues({ dereference, texts, fields: special = {} }: ValueStyle): ArbitraryValues {
  function valueOf(given: OpenApiSchema, care: Care = 'loose'): fc.Arbitrary<unknown> {
    const right = rightValue(dereference(given), care);
    if (care === 'strict') return right;
    return fc.oneof(
      { weight: 7, arbitrary: right },
      { weight: 1, arbitrary: fc.oneof(fc.jsonValue(), ODD_NUMBERS, ODD_TEXTS) },
    );
  }

  function rightValue(schema: OpenApiSchema, care: Care): fc.Arbitrary<unknown> {
    const members = (schema['oneOf'] ?? schema['anyOf']) as readonly OpenApiSchema[] | undefined;
    if (members !== undefined)
      return fc.oneof(...members.map((member) => rightValue(dereference(member), care)));
    if (schema['enum'] !== undefined) return fc.constantFrom(...(schema['enum'] as readonly unknown[]));
    const [type, other] = [schema['type']].flat();
    const value = ofType(schema, type, care);
    return other === 'null' ? fc.option(value) : value;
  }

  function ofType(schema: OpenApiSchema, type: unknown, care: Care): fc.Arbitrary<unknown> {
    switch (type) {
      case 'string':
        if (schema['format'] === 'date-time') return TIMES;
        if (care === 'strict') return texts;
        return fc.oneof(fc.string({ unit: 'binary' }), texts, ODD_TEXTS, TIMES, known('backup'));
      case 'integer':
      case 'number': {
        const { minimum: min = -1, maximum: max = 200 } = schema as { minimum?: number; maximum?: number };
        const within = type === 'integer' ? fc.integer({ min, max }) : fc.double({ min, max, noNaN: true });
        return care === 'strict' ? within : fc.oneof(within, ODD_NUMBERS);
      }
      case 'boolean':
        return fc.boolean();
      case 'array':
        return fc.array(valueOf(schema['items'] as OpenApiSchema, care), { maxLength: 5 });
      default:
        return objectOf(schema, care);
    }
  }

  function objectOf(schema: OpenApiSchema, care: Care): fc.Arbitrary<unknown> {
    const properties = (schema['properties'] ?? {}) as Readonly<Record<string, OpenApiSchema>>;
    const fields = Object.fromEntries(
      Object.entries(properties).map(([name, part]) => [
        name,
        special[name]?.(valueOf) ?? valueOf(part, care),
      ]),
    );
    const whole = fc.record(fields, { requiredKeys: (schema['required'] ?? []) as string[] });
    const [pattern] = Object.values(
      (schema['patternProperties'] ?? {}) as Readonly<Record<string, OpenApiSchema>>,
    );
    if (pattern !== undefined) {
      const names = fc.constantFrom(
        'nas',
        'usb',
        'default',
        ...(care === 'strict' ? [] : ['1', '__proto__']),
      );
      return fc.dictionary(names, valueOf(pattern, care), { maxKeys: 2 });
    }
    if (care === 'strict') return whole;
    const unknown = fc.dictionary(fc.oneof(fc.string(), ODD_TEXTS), fc.jsonValue(), { maxKeys: 1 });
    return fc
      .tuple(whole, fc.record(fields, { requiredKeys: [] }), unknown, fc.nat(7))
      .map(([right, part, more, dice]) => (dice === 0 ? { ...right, ...more } : dice < 3 ? part : right));
  }

  return valueOf;
}
