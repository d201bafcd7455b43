import type { ErrorObject } from 'ajv';
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { validationError, validatorOf, type RequestPart } from '../../../src/api/wire/validation.ts';

const schema = Type.Object(
  {
    name: Type.String({ minLength: 2 }),
    size: Type.Integer({ minimum: 1, default: 7 }),
    kind: Type.Optional(Type.Enum(['one', 'two'])),
    inner: Type.Optional(Type.Object({ 'a/b~c': Type.Boolean() }, { additionalProperties: false })),
    list: Type.Optional(Type.Array(Type.String(), { maxItems: 2 })),
    note: Type.Optional(Type.Union([Type.String({ minLength: 1 }), Type.Null()])),
    when: Type.Optional(Type.String({ format: 'date-time' })),
  },
  { additionalProperties: false },
);

function check(data: unknown, part: RequestPart = 'body') {
  const validate = validatorOf(schema, part);
  if (validate(data) === true) return undefined;
  const { code, message, details } = validationError(validate.errors as ErrorObject[], part);
  return { code, message, details };
}

describe('what is wrong with a request', () => {
  test('an unknown field comes before a missing one, that before a wrong one', () => {
    expect(check({ nmae: 'xy', size: 'x' })).toMatchObject({
      code: 'UNKNOWN_FIELD',
      details: { did_you_mean: 'name' },
    });
    expect(check({ size: 'x' })).toMatchObject({ code: 'MISSING_FIELD', details: { field: 'name' } });
    expect(check({ name: 'x', size: 0 })).toMatchObject({
      code: 'INVALID_REQUEST',
      details: {
        field: 'name',
        problems: [
          { field: 'name', message: 'must have 2 characters or more' },
          { field: 'size', message: 'must be 1 or more' },
        ],
      },
    });
  });

  test('is named by its whole path', () => {
    expect(check({ name: 'xy', inner: { x: 1 } })?.details).toEqual({ field: 'inner.x' });
    expect(check({ name: 'xy', inner: {} })?.details).toEqual({ field: 'inner.a/b~c' });
    expect(check({ name: 'xy', inner: { 'a/b~c': 1 } })?.details).toMatchObject({ field: 'inner.a/b~c' });
    expect(check({ name: 'xy', list: ['a', 1] })?.details).toMatchObject({ field: 'list.1' });
  });

  test('says which values there are', () => {
    expect(check({ name: 'xy', kind: 'three' })?.message).toContain('must be one of one, two');
    expect(check({ name: 'xy', when: 'yesterday' })?.message).toContain(
      "'when' must be a time such as 2026-01-31T18:30:00Z",
    );
  });

  test.each([
    [{ name: 5 }, "'name' must be text"],
    [{ name: 'xy', size: 1.5 }, "'size' must be a whole number"],
    [{ name: 'xy', inner: [] }, "'inner' must be an object"],
    [{ name: 'xy', inner: { 'a/b~c': 'yes' } }, "'inner.a/b~c' must be true or false"],
    [{ name: 'xy', list: ['a', 'b', 'c'] }, "'list' must have 2 entries or fewer"],
    [{ name: 'xy', note: '' }, "'note' must not be empty"],
    [{ name: 'xy', note: {} }, "'note' must be text or null"],
  ])('of %j is said in plain words', (body, message) => {
    expect(check(body)?.message).toContain(`${message}. `);
  });

  test('does not repeat a whole megabyte of a name', () => {
    const long = check({ name: 'xy', ['x'.repeat(100_000)]: 1 });
    expect(JSON.stringify(long).length).toBeLessThan(1_000);
  });

  test('of a body that is no object is just that', () => {
    for (const body of [null, [], 'x', 5]) {
      expect(check(body)).toMatchObject({
        code: 'INVALID_REQUEST',
        message: expect.stringContaining('not a JSON object'),
      });
    }
  });
});

test('defaults are filled in; text becomes numbers in queries and never in bodies', () => {
  const body = { name: 'xy' };
  expect(check(body)).toBeUndefined();
  expect(body).toEqual({ name: 'xy', size: 7 });
  expect(check({ name: 'xy', size: '5' })).toMatchObject({ code: 'INVALID_REQUEST' });
  const query = { name: 'xy', size: '5' };
  expect(check(query, 'querystring')).toBeUndefined();
  expect(query).toEqual({ name: 'xy', size: 5 });
  expect(check({ name: 5 }, 'body')).toMatchObject({ code: 'INVALID_REQUEST' });
});
