/**
 * Builds schemas with TypeBox's interface and types but without its code. The part that is used fits on this page,
 * while the whole package would take 10 MB of the agent's memory.
 */
import type { TSchema, Type as TypeBox } from 'typebox';

export type { Static, TObjectOptions, TProperties, TSchema, TSchemaOptions, TUnsafe } from 'typebox';

type Words =
  | 'Array'
  | 'Boolean'
  | 'Enum'
  | 'Integer'
  | 'Literal'
  | 'Null'
  | 'Number'
  | 'Object'
  | 'Optional'
  | 'Record'
  | 'String'
  | 'Union'
  | 'Unknown'
  | 'Unsafe';

type Options = Readonly<Record<string, unknown>>;

/** Properties that may be left out. As in TypeBox, this mark is not part of their JSON Schema. */
const optional = new WeakSet<object>();

const words: Readonly<Record<Words, (...parts: never[]) => object>> = {
  Array: (items: TSchema, options?: Options) => ({ type: 'array', items, ...options }),
  Boolean: (options?: Options) => ({ type: 'boolean', ...options }),
  Enum: (values: readonly unknown[], options?: Options) => ({ enum: values, ...options }),
  Integer: (options?: Options) => ({ type: 'integer', ...options }),
  Literal: (value: unknown, options?: Options) => ({ type: typeof value, const: value, ...options }),
  Null: (options?: Options) => ({ type: 'null', ...options }),
  Number: (options?: Options) => ({ type: 'number', ...options }),
  Object: (properties: Readonly<Record<string, TSchema>>, options?: Options) => {
    const required = Object.entries(properties).flatMap(([name, one]) => (optional.has(one) ? [] : [name]));
    return { type: 'object', ...(required.length === 0 ? {} : { required }), properties, ...options };
  },
  Optional: (schema: TSchema) => {
    const copy = { ...schema };
    optional.add(copy);
    return copy;
  },
  /** Accepts any property names. */
  Record: (_names: TSchema, values: TSchema, options?: Options) => ({
    type: 'object',
    patternProperties: { '^.*$': values },
    ...options,
  }),
  String: (options?: Options) => ({ type: 'string', ...options }),
  Union: (anyOf: readonly TSchema[], options?: Options) => ({ anyOf, ...options }),
  Unknown: (options?: Options) => ({ ...options }),
  Unsafe: (schema: object) => ({ ...schema }),
};

export const Type = words as unknown as Pick<typeof TypeBox, Words>;
