/**
 * Validates a parsed configuration against the schema: fills in defaults, and gives every mistake a place and an
 * explanation.
 */
import type { ErrorObject, ValidateFunction } from 'ajv';
import type { Node } from 'jsonc-parser';
import type { TSchema } from '../base/schema-type.ts';
import { shownKeyPath, type ConfigProblem, type KeyPath, type ProblemCode } from './config-error.ts';
import { problemAt } from './config-text.ts';
import { nearestName } from './nearest-name.ts';
import { nodeAt, propertyOf, shortened } from './parse.ts';
import { schemaFunction, type SchemaName } from './schema-compiler.ts';
import { CONFIG_VERSION, ConfigSchema, type FilledConfig, type SchemaNode } from './schema.ts';
import { SECRET_TITLE } from './schema-parts.ts';
import { isTextFormat, textProblem } from './text-formats.ts';

/** A mistake before its place in the text is looked up. */
export interface Fault {
  readonly path: KeyPath;
  /** The name of the setting is wrong, not its value. */
  readonly atKey?: boolean;
  readonly code: ProblemCode;
  readonly message: string;
  readonly hint: string;
}

export interface Checked<Value> {
  /** With all defaults filled in; undefined when there are faults. */
  readonly value: Value | undefined;
  readonly faults: readonly Fault[];
}

/** The most faults that are reported. Nobody reads more at once, and locating each in the text takes time. */
const MOST_FAULTS = 50;

/** Creates a check against a schema. Its validator is loaded on first use, which most commands never reach. */
export function createSchemaCheck<Value>(
  name: SchemaName,
  schema: TSchema,
): (value: unknown) => Checked<Value> {
  let validate: ValidateFunction<Value> | undefined;
  return (value) => {
    validate ??= schemaFunction<Value>(name, schema);
    const filled: unknown = structuredClone(value);
    if (validate(filled)) return { value: filled, faults: [] };
    return { value: undefined, faults: (validate.errors ?? []).slice(0, MOST_FAULTS).map(faultOf) };
  };
}

/** Checks the agent's configuration. The value itself is not changed. */
export const checkAgainstSchema = createSchemaCheck<FilledConfig>('agent-settings', ConfigSchema);

type Params = Readonly<Record<string, unknown>>;
type Found = ErrorObject<string, Params>;

function faultOf(error: Found): Fault {
  const path = pathOfPointer(error.instancePath);
  switch (error.keyword) {
    case 'additionalProperties':
      return unknownName(path, String(error.params['additionalProperty']), error);
    case 'required':
      return missingName(path, String(error.params['missingProperty']), error);
    case 'format':
      return wrongText(path, error);
    default:
      return { path, code: codeOf(error), ...wordsOf(error) };
  }
}

/** Numeric segments stay text here; `find` turns those in arrays into indexes. */
function pathOfPointer(pointer: string): readonly string[] {
  const segments = pointer.split('/').slice(1);
  return segments.map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function unknownName(path: KeyPath, name: string, error: Found): Fault {
  const at = { path: [...path, name], atKey: true };
  const schema = schemaOf(error);
  if (schema.patternProperties !== undefined) {
    return {
      ...at,
      code: 'CONFIG_INVALID',
      message: `"${shortened(name)}" cannot be the name of a destination`,
      hint: 'A name has letters, digits, - and _, and begins with a letter.',
    };
  }
  const known = Object.keys(schema.properties ?? {});
  const meant = nearestName(name, known);
  const inside = path.length === 0 ? '' : ` of ${shownKeyPath(withIndexes(path))}`;
  return {
    ...at,
    code: 'UNKNOWN_FIELD',
    message: `"${shortened(name)}" is not a setting${inside}`,
    hint:
      meant === undefined
        ? `Known settings: ${known.filter((word) => word !== '$schema').join(', ')}.`
        : `Did you mean "${meant}"?`,
  };
}

function missingName(path: KeyPath, name: string, error: Found): Fault {
  const schema = schemaOf(error);
  const description = schema.properties?.[name]?.description ?? '';
  return {
    path,
    code: 'MISSING_FIELD',
    message: `"${name}" is missing`,
    hint: `Add it. ${description}`.trim(),
  };
}

function wrongText(path: KeyPath, { params, data }: Found): Fault {
  const format = String(params['format']);
  const problem = isTextFormat(format) && typeof data === 'string' ? textProblem(format, data) : undefined;
  return {
    path,
    code: problem?.code === 'SECRET_IN_URL' ? 'SECRET_IN_URL' : 'CONFIG_INVALID',
    message: problem?.message ?? 'This text has the wrong form',
    hint: problem?.hint ?? '',
  };
}

/** The schema that the value was checked against. */
function schemaOf({ parentSchema }: Found): SchemaNode {
  return (parentSchema ?? {}) as SchemaNode;
}

function codeOf(error: Found): ProblemCode {
  if (isWrittenSecret(error)) return 'SECRET_IN_CONFIG';
  return isNewerVersion(error) ? 'NEWER_FORMAT' : 'CONFIG_INVALID';
}

function isWrittenSecret({ keyword, data, parentSchema }: Found): boolean {
  return keyword === 'type' && typeof data === 'string' && parentSchema?.['title'] === SECRET_TITLE;
}

function isNewerVersion({ keyword, instancePath, data }: Found): boolean {
  return keyword === 'maximum' && instancePath === '/version' && Number(data) > CONFIG_VERSION;
}

interface Words {
  readonly message: string;
  readonly hint: string;
}

function wordsOf(error: Found): Words {
  const schema = schemaOf(error);
  if (isWrittenSecret(error)) {
    return {
      message: 'The configuration itself contains a secret',
      hint: 'Put it in a file with mode 0600 and write {"file": "/path/of/it"}; or use "env", "command" or "credential".',
    };
  }
  if (isNewerVersion(error)) {
    return {
      message: 'The file was written for a newer version of Holdfast',
      hint: 'Install a newer version of Holdfast.',
    };
  }
  switch (error.keyword) {
    case 'type':
      return {
        message: `This is ${kindOf(error.data)}, not ${expectedKind(schema.type)}`,
        hint: `Write ${expectedKind(schema.type)}. ${schema.description ?? ''}`.trim(),
      };
    case 'enum':
      return wrongChoice(error);
    case 'minimum':
    case 'maximum':
      return {
        message: `${String(error.data)} is out of bounds`,
        hint: `The minimum is ${schema.minimum ?? 'any'}, the maximum ${schema.maximum ?? 'any'}.`,
      };
    case 'minLength':
      return {
        message: 'The text is empty',
        hint: `Enter a value, or remove the setting. ${schema.description ?? ''}`.trim(),
      };
    case 'maxLength':
      return {
        message: `The text is longer than ${String(error.params['limit'])} characters`,
        hint: 'Write a shorter one.',
      };
    case 'maxItems':
      return {
        message: `The list has more than ${String(error.params['limit'])} entries`,
        hint: 'Remove some.',
      };
    case 'minItems':
      return { message: 'The list is empty', hint: 'Write at least one entry.' };
    case 'minProperties':
    case 'maxProperties':
      return {
        message: 'A secret must have exactly one place',
        hint: 'Write one of {"file": …}, {"env": …}, {"command": …}, {"credential": …}.',
      };
    default:
      return { message: 'This text has the wrong form', hint: schema.description ?? '' };
  }
}

function wrongChoice({ params, data }: Found): Words {
  const allowed = Array.isArray(params['allowedValues']) ? params['allowedValues'].map(String) : [];
  const meant = typeof data === 'string' ? nearestName(data, allowed) : undefined;
  const shown = typeof data === 'string' ? `"${shortened(data)}"` : kindOf(data);
  const all = `Possible values: ${allowed.map((word) => `"${word}"`).join(', ')}.`;
  return {
    message: `${shown} is not possible here`,
    hint: meant === undefined ? all : `Did you mean "${meant}"? ${all}`,
  };
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'a text in quotes',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object { }',
  array: 'a list [ ]',
  null: 'null',
};

function expectedKind(type: SchemaNode['type']): string {
  const types = typeof type === 'string' ? [type] : (type ?? []);
  return types.map((name) => KINDS[name] ?? name).join(' or ');
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'string') return 'a text';
  return typeof value === 'number' ? 'a number' : 'true or false';
}

export function withIndexes(path: KeyPath): KeyPath {
  return path.map((segment) => (/^\d+$/.test(String(segment)) ? Number(segment) : segment));
}

/** Faults with their places, in the order of the text, at most one for each place. */
export function placeFaults(text: string, root: Node, faults: readonly Fault[]): readonly ConfigProblem[] {
  const placed = faults.map((fault) => {
    const { path, offset } = find(root, fault);
    return {
      offset,
      problem: problemAt(text, offset, fault.code, fault.message, fault.hint, shownKeyPath(path)),
    };
  });
  const first = new Map<number, ConfigProblem>();
  for (const { offset, problem } of placed.sort((a, b) => a.offset - b.offset))
    if (!first.has(offset)) first.set(offset, problem);
  return [...first.values()];
}

/** The nearest existing place: a setting that is not in the text is reported at the object that lacks it. */
function find(root: Node, { path, atKey }: Fault): { readonly path: KeyPath; readonly offset: number } {
  const real: (string | number)[] = [];
  let node = root;
  for (const [index, segment] of path.entries()) {
    const step = node.type === 'array' ? Number(segment) : String(segment);
    real.push(step);
    if (atKey === true && index === path.length - 1) {
      const property = propertyOf(node, String(segment));
      return { path: real, offset: property?.offset ?? node.offset };
    }
    const next = nodeAt(node, [step]);
    if (next === undefined) break;
    node = next;
  }
  return { path: real, offset: node.offset };
}
