/**
 * Renders the API description as a web page, in the look of the product. Everything is there without JavaScript, except
 * the search and the forms that send requests.
 */
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
import { type DocumentedOperation, operationsOf } from './operations.ts';
import { errorCodes, headerTable, type KnownReplies, knownReplies, repliesOf } from './replies.ts';
import { examples, fields, typeOf } from './schema-tables.ts';
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
  /** A schema that the document names without its fields; shown in a section of its own. */
  readonly appendix?: Appendix | undefined;
}

export interface Appendix {
  /** By which links find it. */
  readonly id: string;
  readonly title: string;
  /** Text in the form of descriptions. */
  readonly lead: string;
  /** Without references. */
  readonly schema: JsonObject;
}

export function referencePage(document: JsonObject, look: ReferenceLook): string {
  const read = readerOf(document);
  const info = field(document, 'info');
  const groups = list(field(document, 'tags')).map((tag) => ({
    tag,
    operations: operationsOf(document, field(tag, 'name')),
  }));
  const known = knownReplies(
    read,
    groups.flatMap(({ operations }) => operations),
  );
  const appendix = look.appendix === undefined ? [] : [look.appendix];
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
${appendix.map(({ id, title }) => `<h2><a href="#${id}">${text(title)}</a></h2>`).join('')}<h2><a href="#errors">Error codes</a></h2></nav>
<main id="content" tabindex="-1">
<h1>${text(field(info, 'title'))} <small class="quiet">${text(field(info, 'version'))}</small></h1>
<div data-lead>${look.introduction}</div>
${look.access}
<p data-found role="status" class="quiet"></p>
<details class="about" id="rules"><summary>Rules for every request</summary>${prose(field(info, 'description'))}
<p>Headers of every reply:</p>${headerTable(read, known.headers)}</details>
${groups.map(({ tag, operations }) => group(read, tag, operations, known)).join('\n')}
${appendix.map((one) => appended(read, one)).join('\n')}
<section data-group><h2 id="errors">Error codes</h2>
${errorCodes(known)}</section>
</main>
</div>
</body>
</html>
`;
}

function contents(tag: Json, operations: readonly DocumentedOperation[]): string {
  const lines = operations.map(
    ({ id, method, path, operation }) =>
      `<li data-for="${id}"><a href="#${id}" title="${text(method.toUpperCase())} ${text(path)}">${text(field(operation, 'summary'))}</a></li>`,
  );
  return `<h2>${text(field(tag, 'name'))}</h2><ul>${lines.join('')}</ul>`;
}

/** The section of one tag, with all its operations. */
function group(
  read: Reader,
  tag: Json,
  operations: readonly DocumentedOperation[],
  known: KnownReplies,
): string {
  const shown = operations.map((one) => operationOf(read, one, known));
  return `<section data-group><h2>${text(field(tag, 'name'))}</h2>${prose(field(tag, 'description'))}${shown.join('\n')}</section>`;
}

function operationOf(
  read: Reader,
  { id, method, path, prefix, item, operation }: DocumentedOperation,
  known: KnownReplies,
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
      : `<h3>Body</h3>${prose(field(schema, 'description'))}${fields(read, schema, 'required')}${examples(body)}`,
    repliesOf(read, operation, known),
    tryForm(read, { id, method, path: prefix + path, parameters: given, body, access }),
  ];
  return `<details class="operation" id="${id}"><summary><span class="method ${text(method)}">${text(method.toUpperCase())}</span> <code>${text(path)}</code>
<span class="what">${text(field(operation, 'summary'))}</span></summary>
${parts.join('')}</details>`;
}

/** Closed, since it is long; a link to it opens it. */
function appended(read: Reader, { id, title, lead, schema }: Appendix): string {
  return `<section data-group><h2>${text(title)}</h2>
<details class="about" id="${text(id)}"><summary>All of them, with their defaults</summary>
${prose(lead)}${fields(read, schema, 'required')}</details></section>`;
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
