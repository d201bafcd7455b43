/** Renders the API description as a web page. The page is a single document without scripts or external resources. */
import { createHash } from 'node:crypto';
import { ERROR_CODES } from '../wire/error-codes.ts';
import type { Json, JsonObject } from './api-document.ts';

const STYLE = `
:root { color-scheme: light dark; --line: #8886; --soft: #8882; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.25rem; margin-top: 2.5rem; } h3 { font-size: 1rem; margin: 0; }
code, pre { font-family: ui-monospace, monospace; font-size: 0.9em; overflow-wrap: anywhere; }
pre { background: var(--soft); padding: 0.75rem; overflow-x: auto; }
details { border: 1px solid var(--line); border-radius: 0.4rem; padding: 0.6rem 0.8rem; margin: 0.5rem 0; }
summary { cursor: pointer; }
table { border-collapse: collapse; width: 100%; margin: 0.5rem 0; }
th, td { text-align: left; vertical-align: top; border-top: 1px solid var(--line); padding: 0.3rem 0.6rem 0.3rem 0; }
.method { display: inline-block; min-width: 4.5rem; font-weight: 600; }
`;

/** SHA-256 of the style sheet in base64, for the content security policy. */
export const STYLE_SHA256 = createHash('sha256').update(STYLE).digest('base64');

/** @param introduction trusted HTML about how to get started */
export function docsPage(document: JsonObject, introduction: string): string {
  const read = readerOf(document);
  const info = field(document, 'info');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${text(field(info, 'title'))}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${text(field(info, 'title'))} <small>${text(field(info, 'version'))}</small></h1>
${introduction}
${prose(field(info, 'description'))}
${list(field(document, 'tags'))
  .map((tag) => group(read, tag, field(document, 'paths')))
  .join('\n')}
<h2>Error codes</h2>
${errorCodes()}
</body>
</html>
`;
}

/** Follows field names from a value of the document, resolving each `$ref` on the way. */
type Reader = (value: Json, ...names: readonly string[]) => Json;

function readerOf(document: JsonObject): Reader {
  const meant = (value: Json): Json => {
    const reference = field(value, '$ref');
    if (typeof reference !== 'string') return value;
    const names = reference.replace('#/', '').split('/');
    return meant(names.reduce<Json>(field, document));
  };
  return (value, ...names) => names.reduce<Json>((found, name) => meant(field(found, name)), meant(value));
}

/** The section of one tag, with all its routes. */
function group(read: Reader, tag: Json, paths: Json): string {
  const name = field(tag, 'name');
  const routes = entries(paths).flatMap(([path, item]) =>
    entries(item)
      .filter(
        ([method, operation]) =>
          METHODS.includes(method) && list(field(operation, 'tags')).includes(name ?? ''),
      )
      .map(([method, operation]) => route(read, method, path, { item, operation })),
  );
  return `<h2>${text(name)}</h2>${prose(field(tag, 'description'))}${routes.join('\n')}`;
}

const METHODS: readonly string[] = ['get', 'post', 'put', 'patch', 'delete'];

interface DocumentedOperation {
  /** The path item, which holds what all methods of the path share. */
  readonly item: Json;
  readonly operation: Json;
}

function route(read: Reader, method: string, path: string, { item, operation }: DocumentedOperation): string {
  const security = field(operation, 'security');
  const body = read(operation, 'requestBody', 'content', 'application/json');
  const schema = read(body, 'schema');
  const given = [...list(field(item, 'parameters')), ...list(field(operation, 'parameters'))];
  const parts = [
    prose(field(operation, 'description')),
    Array.isArray(security) && security.length === 0 ? '<p>No token needed.</p>' : '',
    parameters(read, given),
    schema === null
      ? ''
      : `<h3>Body</h3>${prose(field(schema, 'description'))}${fields(read, schema)}${examples(body)}`,
    entries(field(operation, 'responses'))
      .map(([status, what]) => response(read, status, read(what)))
      .join(''),
  ];
  return `<details><summary><span class="method">${text(method.toUpperCase())}</span> <code>${text(path)}</code>
${text(field(operation, 'summary'))}</summary>
${parts.join('')}</details>`;
}

function parameters(read: Reader, given: readonly Json[]): string {
  if (given.length === 0) return '';
  const rows = given.map((one) =>
    row([
      code(read(one, 'name')),
      text(read(one, 'in')) + (read(one, 'required') === true ? ', required' : ''),
      typeOf(read, read(one, 'schema')),
      inline(read(one, 'description')),
    ]),
  );
  return `<h3>Parameters</h3>${table(['Name', 'In', 'Type', ''], rows)}`;
}

function response(read: Reader, status: string, what: Json): string {
  const title = `${text(status)}: ${inline(field(what, 'description'))}`;
  if (!status.startsWith('2')) return `<p>${title}</p>`;
  return entries(field(what, 'content'))
    .map(([media, content]) => {
      const schema = read(content, 'schema');
      const data = read(schema, 'properties', 'data');
      return `<h3>${title} (${text(media)})</h3>${fields(read, data ?? schema)}${examples(content)}`;
    })
    .join('');
}

function examples(content: Json): string {
  return entries(field(content, 'examples'))
    .map(([, example]) => {
      const value = field(example, 'value');
      const shown = typeof value === 'string' ? value : JSON.stringify(value, undefined, 2);
      return `<p>${inline(field(example, 'summary'))}:</p><pre>${text(shown)}</pre>`;
    })
    .join('');
}

function fields(read: Reader, schema: Json): string {
  const choices = list(field(schema, 'oneOf')).map((one) => read(one));
  if (choices.length > 0 && choices.every((one) => field(one, 'properties') !== null))
    return choices.map((one) => prose(field(one, 'description')) + fields(read, one)).join('<p>Or:</p>');
  const rows = fieldRows(read, schema, []);
  return rows.length === 0 ? `<p>${typeOf(read, schema)}</p>` : table(['Field', 'Type', '', ''], rows);
}

/** One row for each field, including nested ones, named like `options.tags` and `items[].id`. */
function fieldRows(read: Reader, schema: Json, above: readonly string[]): readonly string[] {
  const needed = list(field(schema, 'required'));
  return entries(field(schema, 'properties')).flatMap(([name, value]) => {
    const shape = read(value);
    const own = row([
      code([...above, name].join('.')),
      typeOf(read, shape),
      needed.includes(name) ? '' : 'optional',
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
function typeOf(read: Reader, schema: Json): string {
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
  ['minLength', 'characters from'],
  ['maxLength', 'characters up to'],
  ['format', 'as'],
  ['pattern', 'like'],
  ['default', 'default'],
] as const;

function errorCodes(): string {
  const rows = Object.entries(ERROR_CODES).map(([name, { status, description }]) =>
    row([code(name), status === null ? 'in jobs' : String(status), text(description)]),
  );
  return table(['Code', 'Status', 'Meaning'], rows);
}

function table(titles: readonly string[], rows: readonly string[]): string {
  const head = titles.map((title) => `<th>${text(title)}</th>`).join('');
  return `<table><thead><tr>${head}</tr></thead><tbody>${rows.join('')}</tbody></table>`;
}

function row(cells: readonly string[]): string {
  return `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
}

function code(value: Json): string {
  return `<code>${value === null ? 'null' : text(value)}</code>`;
}

/** Paragraphs of a Markdown description. Only inline code and bold text are rendered. */
function prose(description: Json): string {
  return text(description)
    .split(/\n{2,}/)
    .filter((paragraph) => paragraph.trim() !== '')
    .map((paragraph) => `<p>${marked(paragraph)}</p>`)
    .join('\n');
}

function inline(description: Json): string {
  return marked(text(description));
}

function marked(safe: string): string {
  return safe
    .replaceAll(/`([^`]+)`/g, '<code>$1</code>')
    .replaceAll(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>');
}

function list(value: Json): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

function field(value: Json | undefined, name: string): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  return (value as JsonObject)[name] ?? null;
}

function entries(value: Json): [string, Json][] {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
}

/** Escapes a value for use in HTML. */
function text(value: Json): string {
  if (value === null) return '';
  const plain = typeof value === 'string' ? value : JSON.stringify(value);
  return plain.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
