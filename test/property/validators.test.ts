/** The validators that a build writes as modules give the same answers as the schemas they were made from. */
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import type { ValidateFunction } from 'ajv';
import { describe, expect, test } from 'vitest';
import type { TSchema } from '../../src/base/schema-type.ts';
import { ConfigSchema } from '../../src/config/schema.ts';
import { createCompiler, type SchemaName } from '../../src/config/schema-compiler.ts';
import { PartnerConfigSchema } from '../../src/partner/settings.ts';

const load = createRequire(import.meta.url);

const example: unknown = JSON.parse(
  readFileSync(new URL('../../config.example.json', import.meta.url), 'utf8'),
);

const SCHEMAS: readonly { readonly name: SchemaName; readonly schema: TSchema; readonly valid: unknown }[] = [
  { name: 'agent-settings', schema: ConfigSchema, valid: example },
  {
    name: 'partner-settings',
    schema: PartnerConfigSchema,
    valid: { version: 1, listen: { host: '127.0.0.1', port: 7391 }, trustedProxies: ['10.0.0.0/8'] },
  },
];

/** One value somewhere in it is another, is gone, or has a neighbour that nobody asked for. */
function changed(value: unknown): fc.Arbitrary<unknown> {
  const places = placesIn(value);
  const other = fc.oneof(
    fc.constantFrom<unknown>(
      null,
      true,
      '',
      ' ',
      'daily at 25:00',
      '5 parsecs',
      -1,
      0,
      1e9,
      0.5,
      [],
      {},
      ['x'],
      { file: 'x' },
    ),
    fc.string({ maxLength: 20 }),
  );
  return fc
    .tuple(fc.nat({ max: places.length - 1 }), fc.constantFrom('set', 'remove', 'add'), other)
    .map(([index, how, put]) => {
      const copy: unknown = structuredClone(value);
      const path = places[index] ?? [];
      const last = path.at(-1);
      const parent = path.slice(0, -1).reduce<unknown>((at, key) => Reflect.get(Object(at), key), copy);
      if (last === undefined) return how === 'set' ? put : copy;
      if (how === 'remove') Reflect.deleteProperty(Object(parent), last);
      else Reflect.set(Object(parent), how === 'add' && !Array.isArray(parent) ? `${last}x` : last, put);
      return copy;
    });
}

type Key = string | number;

function placesIn(value: unknown): readonly (readonly Key[])[] {
  if (typeof value !== 'object' || value === null) return [[]];
  const keys: readonly Key[] = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  return [[], ...keys.flatMap((key) => placesIn(Reflect.get(value, key)).map((rest) => [key, ...rest]))];
}

function answer(validate: ValidateFunction, value: unknown): unknown {
  const filled: unknown = structuredClone(value);
  const fits = validate(filled);
  return { fits, filled, errors: fits ? [] : validate.errors };
}

describe.each(SCHEMAS)('the built validator of $name', ({ name, schema, valid }) => {
  const compiled = createCompiler().compile(schema);
  const built = load(`../../dist/validators/${name}.cjs`) as ValidateFunction;

  test('takes what is right, with the same defaults', () => {
    expect(answer(built, valid)).toEqual(answer(compiled, valid));
    expect(answer(built, valid)).toMatchObject({ fits: true });
  });

  test('finds the same faults in what is wrong, with the schemas they are told from', () => {
    let wrong = 0;
    fc.assert(
      fc.property(changed(valid), (value) => {
        const expected = answer(compiled, value);
        expect(answer(built, value)).toEqual(expected);
        if (!(expected as { readonly fits: boolean }).fits) wrong += 1;
      }),
      { numRuns: 400 },
    );
    expect(wrong).toBeGreaterThan(100);
  });
});
