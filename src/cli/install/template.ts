/** Fills in the files below `service` for one machine. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { BugError, StateError } from '../../base/errors.ts';

/** Escapes a value so that it is taken literally. */
export type Escape = (value: string) => string;

/** The directory of the program. */
export const ROOT = fileURLToPath(new URL('../../../', import.meta.url)).replace(/[/\\]$/, '');

/** @throws {StateError} when the template is not there */
export async function fillTemplate(
  name: string,
  values: Readonly<Record<string, string>>,
  escape: Escape,
): Promise<string> {
  return fill(await readTemplate(name), values, escape);
}

async function readTemplate(name: string): Promise<string> {
  const path = fileURLToPath(new URL(`../../../service/${name}`, import.meta.url));
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new StateError('READ_ERROR', `${path} cannot be read`, { hint: 'Reinstall Holdfast.', cause });
  }
}

/** Fills in the values. The first comment line, which is about the template, is left out. */
export function fill(template: string, values: Readonly<Record<string, string>>, escape: Escape): string {
  const text = template.replace(/^# Template:.*\n/, '').replace(/^<!-- Template.*-->\n/m, '');
  return text.replaceAll(/\{\{([A-Z_]+)\}\}/g, (_whole, key: string) => {
    const value = values[key];
    if (value === undefined) throw new BugError(`The template asks for ${key}`);
    return escape(value);
  });
}

/** Escapes one word of a line in a unit, where `%` and `$` have a meaning and spaces end a word. */
export function unitWord(value: string): string {
  const plain = value.replaceAll('%', '%%').replaceAll('$', '$$$$');
  return quoteWord(plain);
}

/** The same where `$` has no meaning. */
export function unitValue(value: string): string {
  return quoteWord(value.replaceAll('%', '%%'));
}

/** The same where the value is the whole line, and quotes have no meaning. */
export function unitLine(value: string): string {
  return value.replaceAll('%', '%%');
}

function quoteWord(value: string): string {
  if (/^[\w@:./,+=%$-]*$/.test(value)) return value;
  return `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;
}

export function xmlText(value: string): string {
  const names: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
  };
  return value.replaceAll(/[&<>"]/g, (character) => names[character] ?? character);
}

/** A path inside a `file:` URL in a unit. */
export function urlPath(path: string): string {
  return encodeURI(path).replaceAll('%', '%%');
}
