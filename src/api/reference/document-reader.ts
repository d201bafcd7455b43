/** Reads values of an OpenAPI document by name, and writes them as text that is safe in HTML. */
import type { Json, JsonObject } from './api-document.ts';

/** Follows field names from a value of the document, resolving each `$ref` on the way. */
export type Reader = (value: Json, ...names: readonly string[]) => Json;

export function readerOf(document: JsonObject): Reader {
  const meant = (value: Json): Json => {
    const reference = field(value, '$ref');
    if (typeof reference !== 'string') return value;
    const names = reference.replace('#/', '').split('/');
    return meant(names.reduce<Json>(field, document));
  };
  return (value, ...names) => names.reduce<Json>((found, name) => meant(field(found, name)), meant(value));
}

/** Null when there is no such field. */
export function field(value: Json | undefined, name: string): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  return (value as JsonObject)[name] ?? null;
}

export function list(value: Json): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

export function entries(value: Json): [string, Json][] {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
}

/** Escapes a value for use in HTML, attributes included. */
export function text(value: Json): string {
  if (value === null) return '';
  const plain = typeof value === 'string' ? value : JSON.stringify(value);
  return plain.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

export function code(value: Json): string {
  return `<code>${value === null ? 'null' : text(value)}</code>`;
}

/** Paragraphs of a Markdown description. Only inline code and bold text are rendered. */
export function prose(description: Json): string {
  return paragraphs(description)
    .map((paragraph) => `<p>${inline(paragraph)}</p>`)
    .join('\n');
}

export function paragraphs(description: Json): readonly string[] {
  if (typeof description !== 'string') return [];
  return description.split(/\n{2,}/).filter((paragraph) => paragraph.trim() !== '');
}

export function inline(description: Json): string {
  return marked(text(description));
}

function marked(safe: string): string {
  return safe
    .replaceAll(/`([^`]+)`/g, '<code>$1</code>')
    .replaceAll(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>');
}

export function table(titles: readonly string[], rows: readonly string[]): string {
  const head = titles.map((title) => `<th>${text(title)}</th>`).join('');
  return `<div class="wide"><table><thead><tr>${head}</tr></thead><tbody>${rows.join('')}</tbody></table></div>`;
}

/** @param attributes of the row: trusted HTML */
export function row(cells: readonly string[], attributes = ''): string {
  return `<tr${attributes === '' ? '' : ` ${attributes}`}>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
}
