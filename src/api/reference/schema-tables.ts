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

export function fields(read: Reader, schema: Json): string {
  const choices = list(field(schema, 'oneOf')).map((one) => read(one));
  if (choices.length > 0 && choices.every((one) => field(one, 'properties') !== null))
    return choices.map((one) => prose(field(one, 'description')) + fields(read, one)).join('<p>Or:</p>');
  const rows = fieldRows(read, schema, []);
  return rows.length === 0
    ? `<p>${typeOf(read, schema)}</p>`
    : table(['Field', 'Type', 'Presence', 'Meaning'], rows);
}

/** One row for each field, including nested ones, named like `options.tags` and `items[].id`. */
function fieldRows(read: Reader, schema: Json, above: readonly string[]): readonly string[] {
  const needed = list(field(schema, 'required'));
  return entries(field(schema, 'properties')).flatMap(([name, value]) => {
    const shape = read(value);
    const own = row([
      code([...above, name].join('.')),
      typeOf(read, shape),
      needed.includes(name) ? 'always' : 'optional',
      inline(field(shape, 'description')),
    ]);
    if (above.length === DEEPEST) return [own];
    const items = read(shape, 'items');
    const inside =
      items === null
        ? fieldRows(read, shape, [...above, name])
        : fieldRows(read, items, [...above, `${name}[]`]);
    return [own, ...inside];
  });
}

/** Levels of nested fields that are shown. */
const DEEPEST = 3;

/** A type in a few words: its constant, its choices, or its kind with its bounds. */
export function typeOf(read: Reader, schema: Json): string {
  const constant = field(schema, 'const');
  if (constant !== null) return code(constant);
  const choices = [...list(field(schema, 'anyOf')), ...list(field(schema, 'oneOf'))];
  if (choices.length > 0) return choices.map((one) => typeOf(read, read(one))).join(' or ');
  const listed = list(field(schema, 'enum'));
  if (listed.length > 0) return listed.map(code).join(', ');
  const inside = entries(field(schema, 'properties')).map(([name]) => name);
  const kind = [field(schema, 'type')].flat().map(text).join(' or ');
  if (kind === 'array') return `list of ${typeOf(read, read(schema, 'items'))}`;
  if (inside.length > 0) return 'object';
  const bounds = BOUNDS.flatMap(([name, word]) => {
    const bound = field(schema, name);
    return bound === null ? [] : [`${word} ${code(bound)}`];
  });
  return [kind, ...bounds].filter((part) => part !== '').join(', ');
}

const BOUNDS = [
  ['minimum', 'at least'],
  ['maximum', 'at most'],
  ['minLength', 'at least this many characters:'],
  ['maxLength', 'at most this many characters:'],
  ['format', 'as'],
  ['pattern', 'matches'],
  ['default', 'default'],
] as const;
