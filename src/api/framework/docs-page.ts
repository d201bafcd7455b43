/** The page that shows the API description to people. It is one document: no script, nothing from elsewhere. */
import { createHash } from 'node:crypto';
import { ERROR_CODES } from '../wire/error-codes.ts';
import type { Json, JsonObject } from './openapi.ts';

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

/** `introduction`: markup about how to begin. */
export function docsPage(description: JsonObject, introduction: string): string {
  const info = field(description, 'info');
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
<p>Every response is an object with <code>success</code>, <code>data</code> or <code>error</code>, and
<code>meta</code>. <code>X-RateLimit-Remaining</code> says how many requests are left.</p>
<h2>Routes</h2>
${routes(field(description, 'paths'))}
<h2>Error codes</h2>
${errorCodes()}
</body>
</html>
`;
}

function routes(paths: Json): string {
  return entries(paths)
    .flatMap(([path, item]) =>
      entries(item)
        .filter(([method]) => method !== 'servers')
        .map(([method, operation]) => route(method, path, operation)),
    )
    .join('\n');
}

function route(method: string, path: string, operation: Json): string {
  const open = field(operation, 'security');
  const body = field(field(field(field(operation, 'requestBody'), 'content'), 'application/json'), 'schema');
  const parts = [
    Array.isArray(open) ? '<p>No token needed.</p>' : '',
    parameters(field(operation, 'parameters')),
    body === null ? '' : `<h3>Body</h3>${fields(body)}`,
    entries(field(operation, 'responses')).map(response).join(''),
  ];
  return `<details><summary><span class="method">${text(method.toUpperCase())}</span> <code>${text(path)}</code>
${text(field(operation, 'summary'))}</summary>
${parts.join('')}</details>`;
}

function parameters(list: Json): string {
  if (!Array.isArray(list) || list.length === 0) return '';
  const rows = (list as readonly Json[]).map((one) =>
    row([code(field(one, 'name')), text(field(one, 'in')), typeOf(field(one, 'schema'))]),
  );
  return `<h3>Parameters</h3>${table(['Name', 'In', 'Type'], rows)}`;
}

function response([status, what]: [string, Json]): string {
  if (status === 'default') return '';
  const [media, content] = entries(field(what, 'content'))[0] ?? ['', null];
  const schema = field(content, 'schema');
  const data = field(field(schema, 'properties'), 'data');
  return `<h3>${text(status)} ${text(field(what, 'description'))} (${text(media)})</h3>${fields(data ?? schema)}`;
}

function fields(schema: Json): string {
  const required = field(schema, 'required');
  const needed = Array.isArray(required) ? required : [];
  const rows = entries(field(schema, 'properties')).map(([name, value]) =>
    row([code(name), typeOf(value), needed.includes(name) ? '' : 'optional']),
  );
  return rows.length === 0 ? `<p>${typeOf(schema)}</p>` : table(['Field', 'Type', ''], rows);
}

/** A type in a few words: its name, its choices, or the names of its fields. */
function typeOf(schema: Json): string {
  const constant = field(schema, 'const');
  if (constant !== null) return code(constant);
  const choices = field(schema, 'anyOf');
  if (Array.isArray(choices)) return (choices as readonly Json[]).map(typeOf).join(' or ');
  const listed = field(schema, 'enum');
  if (Array.isArray(listed)) return (listed as readonly Json[]).map(code).join(', ');
  const inside = entries(field(schema, 'properties')).map(([name]) => name);
  const kind = text(field(schema, 'type'));
  if (kind === 'array') return `list of ${typeOf(field(schema, 'items'))}`;
  if (inside.length > 0) return `object: ${inside.map(code).join(', ')}`;
  const preset = field(schema, 'default');
  return preset === null ? kind : `${kind}, default ${code(preset)}`;
}

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
  return `<code>${text(value)}</code>`;
}

function field(value: Json | undefined, name: string): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  return (value as JsonObject)[name] ?? null;
}

function entries(value: Json): [string, Json][] {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
}

/** As text that no browser takes for markup. */
function text(value: Json): string {
  if (value === null) return '';
  const plain = typeof value === 'string' ? value : JSON.stringify(value);
  return plain
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
