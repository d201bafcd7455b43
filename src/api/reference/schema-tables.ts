/** Shows schemas as tables: one row for each field, with its type in a few words. */
import type { Json } from './api-document.ts';
import {
  code,
  entries,
  field,
  inline,
  list,
  prose,
  type Reader,
  row,
  table,
  text,
} from './document-reader.ts';

/** How a field is called that is there whenever the object is: replies have it always, requests are refused without it. */
export type Presence = 'always' | 'required';

export function fields(read: Reader, schema: Json, presence: Presence): string {
  const choices = list(field(schema, 'oneOf')).map((one) => read(one));
  if (choices.length > 0 && choices.every((one) => field(one, 'properties') !== null))
    return choices
      .map((one) => prose(field(one, 'description')) + fields(read, one, presence))
      .join('<p>Or:</p>');
  const rows = fieldRows(read, schema, [], presence);
  return rows.length === 0
    ? `<p>${typeOf(read, schema)}</p>`
    : table(['Field', 'Type', 'Presence', 'Meaning'], rows);
}

/** One row for each field, including nested ones, named like `options.tags` and `items[].id`. */
function fieldRows(
  read: Reader,
  schema: Json,
  above: readonly string[],
  presence: Presence,
): readonly string[] {
  const needed = list(field(schema, 'required'));
  const named = entries(field(schema, 'properties'));
  const patterns = entries(field(schema, 'patternProperties')).map(([, value]): [string, Json] => [
    'NAME',
    value,
  ]);
  return [...named, ...patterns].flatMap(([name, value]) => {
    const shape = read(value);
    const own = row([
      fieldName([...above, name]),
      typeOf(read, shape),
      needed.includes(name) ? presence : 'optional',
      inline(field(shape, 'description')),
    ]);
    if (above.length === DEEPEST || titleOf(shape) !== null) return [own];
    const inside = insideOf(read, shape);
    const items = read(inside, 'items');
    return [
      own,
      ...(items === null
        ? fieldRows(read, inside, [...above, name], presence)
        : fieldRows(read, insideOf(read, items), [...above, `${name}[]`], presence)),
    ];
  });
}

/** Levels of nested fields that are shown. */
const DEEPEST = 4;

/** A long name breaks before a dot, and not within a word. */
function fieldName(names: readonly string[]): string {
  return `<code>${names.map((name) => text(name)).join('<wbr>.')}</code>`;
}

/** What has the fields: the schema, or its one choice besides null. */
function insideOf(read: Reader, schema: Json): Json {
  const choices = choicesOf(schema)
    .map((one) => read(one))
    .filter((one) => field(one, 'type') !== 'null');
  return choices.length === 1 ? (choices[0] ?? schema) : schema;
}

function choicesOf(schema: Json): readonly Json[] {
  return [...list(field(schema, 'anyOf')), ...list(field(schema, 'oneOf'))];
}

/** A type in a few words: its constant, its choices, or its kind with its bounds. */
export function typeOf(read: Reader, schema: Json): string {
  const constant = field(schema, 'const');
  if (constant !== null) return code(constant);
  const kinds = [field(schema, 'type')].flat().map(text);
  const title = titleOf(schema);
  if (title !== null) return orNull(kinds, text(title));
  const choices = choicesOf(schema);
  if (choices.length > 0) {
    const objects = choices.filter((one) => isObject(read(one)));
    // Several objects are told apart by their names.
    return choices
      .map((one) => (objects.length > 1 && isObject(read(one)) ? nameOf(one) : typeOf(read, read(one))))
      .join(' or ');
  }
  const listed = list(field(schema, 'enum'));
  const given = defaultOf(schema);
  if (listed.length > 0) return [...listed.map(code), ...given].join(', ');
  if (kinds.includes('array')) return orNull(kinds, `list of ${typeOf(read, read(schema, 'items'))}`);
  const bounds = BOUNDS.flatMap(([name, word]) => {
    const bound = field(schema, name);
    if (bound === null || (name === 'pattern' && !isTelling(schema))) return [];
    return [`${word} ${code(bound)}`];
  });
  const words = [kinds.join(' or '), ...lengthOf(schema), ...bounds, ...given];
  return words.filter((part) => part !== '').join(', ');
}

/** How many characters a text has. */
function lengthOf(schema: Json): readonly string[] {
  const [least, most] = [field(schema, 'minLength'), field(schema, 'maxLength')];
  if (most === null) return least === null ? [] : [`at least ${code(least)} characters`];
  return [least === null ? `at most ${code(most)} characters` : `${code(least)} to ${code(most)} characters`];
}

/** Those of the parts of an object say more than that of the whole. */
function defaultOf(schema: Json): readonly string[] {
  const value = field(schema, 'default');
  return value === null || isObject(schema) ? [] : [`default ${code(value)}`];
}

/** What is met in many places has a title, and is explained in one of them. */
function titleOf(schema: Json): Json {
  return field(schema, 'title');
}

function isObject(schema: Json): boolean {
  return field(schema, 'properties') !== null;
}

function nameOf(reference: Json): string {
  const name = text(field(reference, '$ref')).split('/').at(-1) ?? '';
  return name === '' ? 'object' : name;
}

function orNull(kinds: readonly string[], text: string): string {
  return kinds.includes('null') ? `${text}, or null` : text;
}

/** Characters of a pattern that is read at a glance; of a longer one the meaning says more. */
const LONGEST_PATTERN = 40;

function isTelling(schema: Json): boolean {
  return field(schema, 'format') === null && text(field(schema, 'pattern')).length <= LONGEST_PATTERN;
}

const BOUNDS = [
  ['minimum', 'at least'],
  ['maximum', 'at most'],
  ['format', 'as'],
  ['pattern', 'matches'],
] as const;

export function examples(content: Json): string {
  return entries(field(content, 'examples'))
    .map(([, example]) => {
      const value = field(example, 'value');
      const shown = typeof value === 'string' ? value : JSON.stringify(value, undefined, 2);
      return `<p>${inline(field(example, 'summary'))}:</p><pre>${text(shown)}</pre>`;
    })
    .join('');
}
