/** What a JSON Schema demands, in one form whichever of its spellings is used: so that two schemas can be compared. */
import type { OpenApiSchema } from './openapi-documents.ts';

export interface Reading {
  /** What a reference means. */
  readonly dereference: (schema: OpenApiSchema) => OpenApiSchema;
  /**
   * `all` that is demanded of a value; or its `kind`: types, choices, and the names of fields, without bounds and forms of
   * texts.
   */
  readonly depth: 'all' | 'kind';
}

/** What says nothing about which values there are. */
const ANNOTATIONS = [
  'description',
  'title',
  'example',
  'examples',
  'contentMediaType',
  'contentSchema',
  'deprecated',
];
const BOUNDS = [
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'minLength',
  'maxLength',
  'pattern',
  'format',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'default',
];
const STRUCTURE = [
  'type',
  'const',
  'enum',
  'items',
  'properties',
  'required',
  'additionalProperties',
  'patternProperties',
  'propertyNames',
  'anyOf',
  'oneOf',
  'allOf',
];
const NULL = { type: 'null' };

/** @throws {Error} for a keyword that is not compared */
export function restrictionsOf(given: OpenApiSchema, reading: Reading): OpenApiSchema {
  const schema = withoutRules(reading.dereference(given));
  const unknown = Object.keys(schema).filter(
    (name) => ![...ANNOTATIONS, ...BOUNDS, ...STRUCTURE].includes(name),
  );
  if (unknown.length > 0) throw new Error(`nobody compares ${unknown.join(', ')}`);
  const { type, const: constant } = schema;
  const choices = (schema['anyOf'] ?? schema['oneOf'] ?? chosenBy(schema)) as
    | readonly OpenApiSchema[]
    | undefined;
  if (choices !== undefined) return unionOf(choices.map((one) => restrictionsOf(one, reading)));
  if (constant !== undefined) return unionOf([valueOf(constant)]);
  const values = schema['enum'] as readonly unknown[] | undefined;
  const preset = reading.depth === 'all' && 'default' in schema ? { default: schema['default'] } : {};
  if (values !== undefined) return { ...unionOf(values.map(valueOf)), ...preset };
  if (Array.isArray(type)) {
    const each = type.map((one) => restrictionsOf(one === 'null' ? NULL : { ...schema, type: one }, reading));
    return unionOf(each);
  }
  const bounds = BOUNDS.filter((name) => reading.depth === 'all' && name in schema);
  return {
    ...(type === undefined ? {} : { type }),
    ...Object.fromEntries(bounds.map((name) => [name, schema[name]])),
    ...partsOf(schema, reading),
  };
}

/** Rules between the fields of one object are looked after by handlers, to say in words what is wrong: rules-between-fields.test.ts. */
function withoutRules(schema: OpenApiSchema): OpenApiSchema {
  if (schema['properties'] === undefined) return schema;
  const { dependentRequired: _dependent, ...rest } = schema;
  const { allOf, ...others } = rest;
  const isChoice = (allOf as readonly OpenApiSchema[] | undefined)?.every((one) => one['if'] !== undefined);
  return isChoice === true ? rest : others;
}

/** Of `allOf`, that form alone in which one field chooses the schema: so that what is wrong is told of the one that is meant. */
function chosenBy({ allOf }: OpenApiSchema): readonly unknown[] | undefined {
  if (allOf === undefined) return undefined;
  return (allOf as readonly OpenApiSchema[]).map((one) => {
    if (one['if'] === undefined || one['else'] === undefined)
      throw new Error('nobody compares such an allOf');
    return one['else'];
  });
}

/** Of lists and objects. */
function partsOf(schema: OpenApiSchema, reading: Reading): OpenApiSchema {
  const { items, properties, propertyNames } = schema as Readonly<Record<string, OpenApiSchema | undefined>>;
  const part = (value: unknown): OpenApiSchema => restrictionsOf(value as OpenApiSchema, reading);
  const named = Object.entries(properties ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  // What has a default is always there in the end.
  const needed = ((schema['required'] ?? []) as readonly string[]).filter(
    (name) => reading.dereference(properties?.[name] as OpenApiSchema)['default'] === undefined,
  );
  const others = othersOf(schema);
  const isOpen = others === true || others === undefined || reading.depth === 'kind';
  return {
    ...(items === undefined ? {} : { items: part(items) }),
    ...(named.length === 0
      ? {}
      : { properties: Object.fromEntries(named.map(([name, value]) => [name, part(value)])) }),
    ...(needed.length === 0 ? {} : { required: needed.sort() }),
    ...(propertyNames === undefined || reading.depth === 'kind' ? {} : { names: part(propertyNames) }),
    ...(typeof others === 'object' && others !== null ? { others: part(others) } : {}),
    ...(isOpen || typeof others === 'object' ? {} : { others }),
  };
}

/** What fields without a name of their own may hold: `false` for no such field. */
function othersOf(schema: OpenApiSchema): unknown {
  const { '^.*$': any, ...patterns } = (schema['patternProperties'] ?? {}) as OpenApiSchema;
  if (Object.keys(patterns).length > 0) throw new Error('nobody compares names of fields by patterns');
  const others = any ?? schema['additionalProperties'];
  // A schema without a word takes anything.
  return typeof others === 'object' && others !== null && Object.keys(others).length === 0 ? true : others;
}

function valueOf(value: unknown): OpenApiSchema {
  return value === null ? NULL : { values: [value] };
}

/** Constants side by side are one choice. */
function unionOf(parts: readonly OpenApiSchema[]): OpenApiSchema {
  const flat = parts.flatMap((one) => (one['anyOf'] as readonly OpenApiSchema[] | undefined) ?? [one]);
  const values = flat.flatMap((one) => (one['values'] as readonly unknown[] | undefined) ?? []);
  const rest = flat.filter((one) => one['values'] === undefined);
  const all = values.length === 0 ? rest : [...rest, { values: [...values].sort(byText) }];
  const [only, ...more] = [...all].sort(byText);
  return only === undefined || more.length > 0 ? { anyOf: [only, ...more] } : only;
}

function byText(a: unknown, b: unknown): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1;
}
