/**
 * Renders the API description as a web page, in the look of the product. Everything is there without JavaScript, except
 * the search and the forms that send requests.
 */
import { ERROR_CODES } from '../wire/error-codes.ts';
import type { Json, JsonObject } from './api-document.ts';
import {
  code,
  entries,
  field,
  inline,
  list,
  prose,
  type Reader,
  readerOf,
  row,
  table,
  text,
} from './document-reader.ts';
import { fields, typeOf } from './schema-tables.ts';
import { tryForm } from './try-form.ts';

export interface ReferenceLook {
  /** Paths of the URLs of the style sheet, the script and the icon. */
  readonly style: string;
  readonly script: string;
  readonly icon: string;
  /** Trusted HTML about how to get started. */
  readonly introduction: string;
  /** Trusted HTML with the fields for what gives access to the API (see src/ui/reference). */
  readonly access: string;
}

export function referencePage(document: JsonObject, look: ReferenceLook): string {
  const read = readerOf(document);
  const info = field(document, 'info');
  const groups = list(field(document, 'tags')).map((tag) => ({
    tag,
    operations: operationsOf(document, field(tag, 'name')),
  }));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${text(field(info, 'title'))}</title>
<link rel="icon" href="${look.icon}" type="image/svg+xml">
<link rel="stylesheet" href="${look.style}">
<script type="module" src="${look.script}"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="top"><div class="bar">
<a class="brand" href="/"><img src="${look.icon}" width="26" height="26" alt=""><span>Holdfast <small>${text(field(info, 'title')).replace('Holdfast ', '')}</small></span></a>
<div class="who"><input type="search" data-search hidden aria-label="Search the reference" placeholder="Search: a path, a field, an error" autocomplete="off" spellcheck="false"></div>
</div></header>
<div class="reference">
<nav aria-label="Contents">${groups.map(({ tag, operations }) => contents(tag, operations)).join('')}
<h2><a href="#errors">Error codes</a></h2></nav>
<main id="content" tabindex="-1">
<h1>${text(field(info, 'title'))} <small class="quiet">${text(field(info, 'version'))}</small></h1>
${look.introduction}
${look.access}
<details class="about"><summary>Rules for every request</summary>${prose(field(info, 'description'))}</details>
<p data-found role="status" class="quiet"></p>
${groups.map(({ tag, operations }) => group(read, tag, operations)).join('\n')}
<section data-group><h2 id="errors">Error codes</h2>
${errorCodes()}</section>
</main>
</div>
</body>
</html>
`;
}

interface DocumentedOperation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  /** Before the path in the URL. */
  readonly prefix: string;
  /** The path item, which holds what all methods of the path share. */
  readonly item: Json;
  readonly operation: Json;
}

const METHODS: readonly string[] = ['get', 'post', 'put', 'patch', 'delete'];

function operationsOf(document: JsonObject, tag: Json): readonly DocumentedOperation[] {
  return entries(field(document, 'paths')).flatMap(([path, item]) =>
    entries(item)
      .filter(
        ([method, operation]) => METHODS.includes(method) && list(field(operation, 'tags')).includes(tag),
      )
      .map(([method, operation]) => ({
        id: text(field(operation, 'operationId')),
        method,
        path,
        prefix: prefixOf(field(item, 'servers') ?? field(document, 'servers')),
        item,
        operation,
      })),
  );
}

/** What follows the variable `{base_url}` in the URL of the first server. */
function prefixOf(servers: Json): string {
  return text(field(list(servers)[0], 'url')).replace('{base_url}', '');
}

function contents(tag: Json, operations: readonly DocumentedOperation[]): string {
  const lines = operations.map(
    ({ id, method, path, operation }) =>
      `<li data-for="${id}"><a href="#${id}" title="${text(method.toUpperCase())} ${text(path)}">${text(field(operation, 'summary'))}</a></li>`,
  );
  return `<h2>${text(field(tag, 'name'))}</h2><ul>${lines.join('')}</ul>`;
}

/** The section of one tag, with all its operations. */
function group(read: Reader, tag: Json, operations: readonly DocumentedOperation[]): string {
  const shown = operations.map((one) => operationOf(read, one));
  return `<section data-group><h2>${text(field(tag, 'name'))}</h2>${prose(field(tag, 'description'))}${shown.join('\n')}</section>`;
}

function operationOf(
  read: Reader,
  { id, method, path, prefix, item, operation }: DocumentedOperation,
): string {
  const access = accessOf(field(operation, 'security'));
  const body = read(operation, 'requestBody', 'content', 'application/json');
  const schema = read(body, 'schema');
  const given = [...list(field(item, 'parameters')), ...list(field(operation, 'parameters'))];
  const parts = [
    prose(field(operation, 'description')),
    access === 'none' ? '<p>Needs no token.</p>' : '',
    parameters(read, given),
    schema === null
      ? ''
      : `<h3>Body</h3>${prose(field(schema, 'description'))}${fields(read, schema)}${examples(body)}`,
    entries(field(operation, 'responses'))
      .map(([status, what]) => response(read, status, read(what)))
      .join(''),
    tryForm(read, { id, method, path: prefix + path, parameters: given, body, access }),
  ];
  return `<details class="operation" id="${id}"><summary><span class="method ${text(method)}">${text(method.toUpperCase())}</span> <code>${text(path)}</code>
<span class="what">${text(field(operation, 'summary'))}</span></summary>
${parts.join('')}</details>`;
}

/** @param security of the operation; null when it has what holds for all */
function accessOf(security: Json): 'none' | 'optional' | 'needed' {
  if (!Array.isArray(security)) return 'needed';
  if (security.length === 0) return 'none';
  return list(security).some((one) => entries(one).length === 0) ? 'optional' : 'needed';
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
  return `<h3>Parameters</h3>${table(['Name', 'In', 'Type', 'Meaning'], rows)}`;
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

function errorCodes(): string {
  const rows = Object.entries(ERROR_CODES).map(([name, { status, description }]) =>
    row([code(name), status === null ? 'in jobs' : String(status), text(description)]),
  );
  return table(['Code', 'Status', 'Meaning'], rows);
}
