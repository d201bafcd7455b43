import { Type as TypeBox } from 'typebox';
import { expect, test } from 'vitest';
import { Type } from '../../../src/base/schema-type.ts';

type Words = typeof Type;

/** Every word, plain and with options, and in each other. */
function schemasOf(type: Words): readonly unknown[] {
  const options = { description: 'what it is', default: null };
  const text = type.String({ minLength: 1 });
  const object = type.Object(
    {
      text,
      maybe: type.Optional(type.Integer({ minimum: 0 })),
      either: type.Union([type.Literal('a'), type.Literal(1), type.Literal(true), type.Null()]),
      list: type.Optional(type.Array(text, { maxItems: 3 })),
    },
    { additionalProperties: false },
  );
  return [
    type.String(),
    type.String(options),
    type.Boolean(),
    type.Boolean(options),
    type.Integer(),
    type.Number(options),
    type.Number(),
    type.Null(),
    type.Null(options),
    type.Unknown(),
    type.Unknown(options),
    type.Enum(['one', 'two']),
    type.Enum(['one', 'two'], options),
    type.Array(text),
    type.Record(type.String(), text),
    type.Record(type.String(), text, options),
    type.Union([text, object], options),
    type.Unsafe({ type: 'string', format: 'time' }),
    type.Object({}),
    type.Object({ all: type.Optional(text) }),
    object,
    type.Object({ object, maybe: type.Optional(object) }),
  ];
}

test('schemas are those that TypeBox makes of the same words', () => {
  const text = (schemas: readonly unknown[]): readonly unknown[] =>
    schemas.map((schema): unknown => JSON.parse(JSON.stringify(schema)));
  expect(text(schemasOf(Type))).toEqual(text(schemasOf(TypeBox)));
});

test('what is optional in one object may be needed in another', () => {
  const text = Type.String();
  const maybe = Type.Optional(text);
  expect(Type.Object({ text, maybe })).toMatchObject({ required: ['text'] });
  expect(Type.Object({ maybe })).not.toHaveProperty('required');
});
