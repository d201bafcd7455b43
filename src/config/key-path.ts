/**
 * Addresses settings by name, as people type them: `retention.keepDaily`, `sources[0].path`, `sources[-].path` for a
 * new one.
 */
import { RequestError } from '../base/errors.ts';
import { shownKeyPath, type KeyPath } from './config-error.ts';
import { APPEND } from './edit-text.ts';
import { nearestName } from './nearest-name.ts';
import { shortened } from './parse.ts';
import { schemaNode, type SchemaNode } from './schema.ts';

export interface NamedSetting {
  readonly path: KeyPath;
  readonly schema: SchemaNode;
}

/** @throws {RequestError} UNKNOWN_FIELD, with the nearest name */
export function findSetting(name: string): NamedSetting {
  let schema = schemaNode();
  const path: (string | number)[] = [];
  for (const word of wordsOf(name)) {
    const next = childOf(schema, word);
    if (next === undefined) throw unknown(name, word, path, schema);
    path.push(next.segment);
    schema = next.schema;
  }
  return { path, schema };
}

function wordsOf(name: string): readonly string[] {
  if (!/^[^.[\]]+(?:\.[^.[\]]+|\[(?:\d{1,6}|-)\])*$/.test(name)) {
    throw new RequestError('UNKNOWN_FIELD', `"${shortened(name)}" is not the name of a setting`, {
      hint: 'Write names with dots and indexes in brackets: retention.keepDaily, sources[0].path.',
    });
  }
  return name.split(/[.[\]]+/).filter((word) => word !== '');
}

function childOf(
  schema: SchemaNode,
  word: string,
): { segment: string | number; schema: SchemaNode } | undefined {
  if (schema.items !== undefined && /^(?:\d{1,6}|-)$/.test(word))
    return { segment: word === '-' ? APPEND : Number(word), schema: schema.items };
  const property = Object.hasOwn(schema.properties ?? {}, word) ? schema.properties?.[word] : undefined;
  if (property !== undefined) return { segment: word, schema: property };
  const pattern = Object.entries(schema.patternProperties ?? {}).find(([key]) => new RegExp(key).test(word));
  return pattern && { segment: word, schema: pattern[1] };
}

function unknown(name: string, word: string, path: KeyPath, schema: SchemaNode): RequestError {
  const known = Object.keys(schema.properties ?? {});
  const meant = nearestName(word, known);
  const before = shownKeyPath(path);
  const full = (key: string): string => (before === '' ? key : `${before}.${key}`);
  const hint =
    meant !== undefined
      ? `Did you mean "${full(meant)}"?`
      : schema.items !== undefined
        ? `"${before}" is a list: name an entry by its index, for example ${before}[0], or ${before}[-] for a new one.`
        : known.length > 0
          ? `Known settings: ${known
              .filter((key) => key !== '$schema')
              .map(full)
              .join(', ')}.`
          : `"${before}" has no settings of its own.`;
  return new RequestError('UNKNOWN_FIELD', `"${shortened(name)}" is not a setting`, {
    hint,
    details: { path: name },
  });
}

/**
 * Reads a value as typed on a command line: text for settings that accept text, otherwise JSON.
 * @throws {RequestError} when it is neither
 */
export function readTypedValue({ schema, path }: NamedSetting, typed: string): unknown {
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? []);
  const parsed = parseJson(typed);
  const kind = parsed === undefined ? undefined : kindOf(parsed.value);
  if (parsed !== undefined && kind !== 'string' && takes(types, kind)) return parsed.value;
  if (types.includes('string')) return kind === 'string' && typed.startsWith('"') ? parsed?.value : typed;
  if (parsed !== undefined) return parsed.value;
  const wanted = simpleValue(types);
  if (wanted !== undefined)
    throw new RequestError(
      'INVALID_REQUEST',
      `${shownKeyPath(path)} takes ${wanted}, not "${shortened(typed)}"`,
      {
        hint: schema.description ?? 'Nothing was changed.',
        details: { path: shownKeyPath(path) },
      },
    );
  throw new RequestError('INVALID_REQUEST', `The value of ${shownKeyPath(path)} is not valid JSON`, {
    hint: 'Put lists and objects in single quotes, and the texts in them in double quotes: \'["a", "b"]\'.',
    details: { path: shownKeyPath(path) },
  });
}

/** What a setting takes that is neither text, a list nor an object; undefined for all others. */
function simpleValue(types: readonly string[]): string | undefined {
  const kinds = types.filter((type) => type !== 'null');
  if (kinds.length !== 1) return undefined;
  if (kinds[0] === 'boolean') return 'true or false';
  return kinds[0] === 'number' || kinds[0] === 'integer' ? 'a number' : undefined;
}

function parseJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function takes(types: readonly string[], kind: string | undefined): boolean {
  return types.some((type) => type === kind || (type === 'integer' && kind === 'number'));
}
