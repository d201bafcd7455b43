/**
 * docs/config.example.jsonc: the values of config.example.json, with the meaning and the default of each setting from
 * the schema. `node test/support/commented-example.ts` prints it.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { schemaNode, type SchemaNode } from '../../src/config/schema.ts';
import { SECRET_TITLE } from '../../src/config/schema-parts.ts';

const WIDTH = 118;
const HEAD = `// Every setting of Holdfast. Only what differs from the defaults has to be written; this is accepted as it is, comments
// included. The same without comments is config.example.json, and docs/configuration.md has everything in tables.
`;

export function commentedExample(): string {
  const file = path.resolve(import.meta.dirname, '..', '..', 'config.example.json');
  const values: unknown = JSON.parse(readFileSync(file, 'utf8'));
  return `${HEAD}${written(values, schemaNode(), '', true, new Set())}\n`;
}

/** `explained`: what a comment stands before already; the entries of one kind differ in what they show. */
function written(
  value: unknown,
  schema: SchemaNode,
  indent: string,
  commented: boolean,
  explained: Set<SchemaNode>,
): string {
  const inner = `${indent}  `;
  if (Array.isArray(value) && schema.items?.properties !== undefined) {
    const { items } = schema;
    // The first entry is explained; the others look the same.
    const parts = value.map(
      (item, index) => inner + written(item, items, inner, commented && index === 0, explained),
    );
    return `[\n${parts.join(',\n')}\n${indent}]`;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value) || schema.title === SECRET_TITLE)
    return inline(value);
  if (!commented) return inline(value).length < WIDTH - 20 ? inline(value) : expanded(value, indent);
  const named = Object.values(schema.patternProperties ?? {})[0];
  const lines = Object.entries(value).map(([name, part], index) => {
    const below = schema.properties?.[name] ?? named ?? {};
    const isNamed = schema.properties?.[name] === undefined;
    const required = schema.required?.includes(name) === true;
    const comment = isNamed || explained.has(below) ? '' : commentOf(below, required, inner);
    if (!isNamed) explained.add(below);
    const isNews = !isNamed || index === 0 || shows(part, below, explained);
    return `${comment}${inner}${JSON.stringify(name)}: ${written(part, below, inner, isNews, explained)}`;
  });
  return `{\n${lines.join(',\n')}\n${indent}}`;
}

/** Whether there is a setting within it that no comment stands before yet. */
function shows(value: unknown, schema: SchemaNode, explained: ReadonlySet<SchemaNode>): boolean {
  if (typeof value !== 'object' || value === null || schema.title === SECRET_TITLE) return false;
  return Object.entries(value).some(([name, part]) => {
    const below = schema.properties?.[name];
    return below !== undefined && (!explained.has(below) || shows(part, below, explained));
  });
}

function expanded(value: object, indent: string): string {
  return JSON.stringify(value, null, 2).replaceAll('\n', `\n${indent}`);
}

/** On one line, with spaces as people write them. */
function inline(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inline).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const parts = Object.entries(value).map(([name, part]) => `${JSON.stringify(name)}: ${inline(part)}`);
  return `{ ${parts.join(', ')} }`;
}

/** What it does, its bounds and its default, as comment lines. */
function commentOf(schema: SchemaNode, required: boolean, indent: string): string {
  const { description = '', enum: values, minimum, maximum } = schema;
  const bounds =
    values !== undefined
      ? ` One of ${values.map((one) => JSON.stringify(one)).join(', ')}.`
      : minimum === undefined || minimum === maximum
        ? ''
        : ` From ${minimum} to ${maximum}.`;
  const lines = wrapped(`${description}${bounds}${standardOf(schema, required)}`, WIDTH - indent.length - 3);
  return lines.map((line) => `${indent}// ${line}\n`).join('');
}

function standardOf(
  { default: standard, properties, patternProperties }: SchemaNode,
  required: boolean,
): string {
  if (required) return ' Required.';
  if (
    standard === undefined ||
    (properties !== undefined && standard !== null) ||
    patternProperties !== undefined
  )
    return '';
  return ` Default: ${inline(standard)}`;
}

function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(commentedExample());
