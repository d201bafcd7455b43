/** Types that are made of an OpenAPI document, for the client. */
import { describe, expect, test } from 'vitest';
import { apiTypes } from '../../../service/build/api-types.js';

const OPTIONS = { routes: 'Routes', webhooks: undefined };

/** The type of the data of a reply. */
function typeOf(schema: object, schemas: object = {}): string {
  const content = { 'application/json': { schema: { properties: { data: schema } } } };
  const operation = { responses: { 200: { content }, 404: { content: {} } } };
  const text: string = apiTypes({ paths: { '/a': { get: operation } }, components: { schemas } }, OPTIONS);
  return /^ {4}data: ([\s\S]*?);\n {2}\};\n\}/m.exec(text)?.[1] ?? text;
}

describe('the type of a schema', () => {
  test.each([
    [{ type: 'integer', minimum: 1 }, 'number'],
    [{ type: ['string', 'null'] }, 'string | null'],
    [{ type: 'string', enum: ['a', 'b'] }, '"a" | "b"'],
    [{ const: true }, 'true'],
    [{ type: 'array', items: { type: ['string', 'null'] } }, '(string | null)[]'],
    [{ oneOf: [{ type: 'string' }, { type: 'null' }] }, 'string | null'],
    [{ type: 'object' }, 'Record<string, unknown>'],
    [{ type: 'object', additionalProperties: { type: 'number' } }, 'Record<string, number>'],
    [{ type: 'object', additionalProperties: false }, 'Record<string, never>'],
    [{}, 'unknown'],
  ])('%j is %s', (schema, expected) => {
    expect(typeOf(schema)).toBe(expected);
  });

  test('says of each field what it is for, and whether it may be missing', () => {
    const schema = {
      type: 'object',
      required: ['a'],
      properties: { a: { type: 'string', description: 'Ends */ here.' }, 'b-c': { type: 'number' } },
    };
    expect(typeOf(schema)).toBe(
      '{\n      /** Ends *\\/ here. */\n      a: string;\n      "b-c"?: number | undefined;\n    }',
    );
  });

  test('leaves rules between fields to the service', () => {
    const rules = {
      allOf: [
        { oneOf: [{ required: ['a'] }, { required: ['b'] }] },
        { anyOf: [{ properties: { a: false } }] },
      ],
    };
    expect(typeOf({ type: 'object', properties: { a: { type: 'string' } }, ...rules })).toContain(
      'a?: string',
    );
    expect(typeOf({ allOf: [{ type: 'string' }, { type: 'number' }] })).toBe('string & number');
  });

  test('stands once under its name, and only where it is used', () => {
    const schemas = { A: { $ref: '#/components/schemas/B' }, B: { type: 'string' }, C: { type: 'number' } };
    const content = {
      'application/json': { schema: { properties: { data: { $ref: '#/components/schemas/A' } } } },
    };
    const text: string = apiTypes(
      { paths: { '/a': { get: { responses: { 200: { content } } } } }, components: { schemas } },
      OPTIONS,
    );
    expect(text).toContain('data: A;');
    expect(text).toContain('export type A = B;\n\nexport type B = string;\n');
    expect(text).not.toContain('type C');
  });

  test('is none for a keyword that nobody has thought of', () => {
    expect(() => typeOf({ type: 'array', prefixItems: [] })).toThrow('prefixItems');
  });
});
