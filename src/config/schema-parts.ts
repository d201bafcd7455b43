/** Building blocks of the settings' schema. */
import {
  Type,
  type Static,
  type TObjectOptions,
  type TProperties,
  type TSchema,
  type TSchemaOptions,
  type TUnsafe,
} from '../base/schema-type.ts';
import type { TextFormat } from './text-formats.ts';

export const object = <Properties extends TProperties>(properties: Properties, options: TObjectOptions) =>
  Type.Object(properties, { additionalProperties: false, ...options });

/** An object that may be omitted; all of its settings then have their defaults. */
export const group = <Properties extends TProperties>(description: string, properties: Properties) =>
  Type.Optional(object(properties, { description, default: {} }));

export const flag = (description: string, standard: boolean) =>
  Type.Optional(Type.Boolean({ description, default: standard }));

export const count = (description: string, bounds: { default: number; minimum: number; maximum: number }) =>
  Type.Optional(Type.Integer({ description, ...bounds }));

export const text = (format: TextFormat, options: TSchemaOptions) =>
  Type.Optional(Type.String({ format, maxLength: 4_096, ...options }));

export const choice = <Values extends string[]>(
  values: readonly [...Values],
  description: string,
  standard: Values[number],
) => Type.Optional(Type.Enum(values, { type: 'string', description, default: standard }));

/** The same schema, or null. The default is `standard`. */
export function orNull<T extends TSchema>(
  schema: T,
  options: TSchemaOptions & { readonly description: string },
  standard: Static<T> | null = null,
) {
  const type: unknown = Reflect.get(schema, 'type');
  const either: TUnsafe<Static<T> | null> = Type.Unsafe<Static<T> | null>({
    ...schema,
    ...options,
    type: [type, 'null'],
    default: standard,
  });
  return Type.Optional(either);
}

export const textOrNull = (format: TextFormat, description: string, standard: string | null = null) =>
  orNull(Type.String({ format, maxLength: 4_096 }), { description }, standard);

export const list = (format: TextFormat | null, description: string, standard: readonly string[]) =>
  Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 4_096, ...(format === null ? {} : { format }) }), {
      description,
      default: standard,
      maxItems: 1_000,
    }),
  );

/** The title by which validation recognises an error in a secret reference. */
export const SECRET_TITLE = 'Secret reference';

const SecretReferenceSchema = object(
  {
    file: Type.Optional(
      Type.String({
        description: 'A file with mode 0600 that contains the secret and nothing else.',
        format: 'absolute-path',
        minLength: 1,
        maxLength: 4_096,
      }),
    ),
    env: Type.Optional(
      Type.String({
        description: 'An environment variable of the agent.',
        pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
        maxLength: 256,
      }),
    ),
    command: Type.Optional(
      Type.String({
        description: 'A command that prints the secret, run by the shell, within 30 seconds.',
        minLength: 1,
        maxLength: 4_096,
      }),
    ),
    credential: Type.Optional(
      Type.String({
        description: 'The name of a systemd credential (LoadCredential=, LoadCredentialEncrypted=).',
        pattern: '^[A-Za-z0-9_][A-Za-z0-9._-]*$',
        maxLength: 255,
      }),
    ),
  },
  { title: SECRET_TITLE, minProperties: 1, maxProperties: 1 },
);

export const secret = (description: string) => orNull(SecretReferenceSchema, { description });

export function webUrl(description: string) {
  return Type.String({ description, format: 'web-url', minLength: 1, maxLength: 2_048 });
}
