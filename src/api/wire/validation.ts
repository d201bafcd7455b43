/** Checks requests against the schemas of their routes, and says what is wrong in words. */
import type { ErrorObject, ValidateFunction } from 'ajv';
import { NO_NUL, ONE_LINE } from '../../base/one-line.ts';
import { nearestName } from '../../config/nearest-name.ts';
import type { FastifyValidationResult } from 'fastify/types/schema.js';
import { ApiError } from './api-error.ts';
import { requestFunction } from './request-compiler.ts';

export type RequestPart = 'body' | 'querystring' | 'params' | 'headers';

/**
 * A check of one part of a request. Bodies keep their types; text from URLs is converted to the types of the schema.
 * The check is compiled at its first use, because an agent has a hundred routes and few of them are used.
 */
export function validatorOf(schema: object, part: string | undefined): FastifyValidationResult {
  let check: ValidateFunction | undefined;
  const validate: FastifyValidationResult = (data: unknown) => {
    check ??= requestFunction(schema, part !== 'body');
    const fits = check(data);
    validate.errors = check.errors ?? null;
    return fits;
  };
  return validate;
}

const MOST_PROBLEMS = 10;

/**
 * The response to a request that violates the schema. An unknown field is reported before a missing one, because it is
 * often the missing field misspelled.
 */
export function validationError(errors: readonly ErrorObject[], part: RequestPart): ApiError {
  const unknown = errors.find(({ keyword }) => keyword === 'additionalProperties');
  if (unknown !== undefined) return unknownField(unknown, part);
  const missing = errors.find(({ keyword }) => keyword === 'required');
  if (missing !== undefined) return missingField(missing, part);
  if (
    part === 'body' &&
    errors.some(({ instancePath, keyword }) => instancePath === '' && keyword === 'type')
  ) {
    return new ApiError('INVALID_REQUEST', 'The body is not a JSON object', {
      hint: 'Send a JSON object with the fields of this route.',
      details: { problems: [{ field: '', message: 'must be an object' }] },
    });
  }
  const problems = errors
    .filter(({ keyword }) => keyword !== 'if')
    .slice(0, MOST_PROBLEMS)
    .map((error) => ({ field: fieldOf(error.instancePath), message: wording(error) }));
  const [first] = problems;
  const message = first === undefined ? 'The request is not valid' : `'${first.field}' ${first.message}`;
  return new ApiError('INVALID_REQUEST', message, {
    hint: 'See /docs for what this route accepts.',
    details: { field: first?.field ?? '', problems },
  });
}

function unknownField(error: ErrorObject, part: RequestPart): ApiError {
  const { additionalProperty: name } = error.params as { readonly additionalProperty: string };
  const near = nearestName(name, knownNames(error.parentSchema));
  const what = part === 'querystring' ? 'query parameter' : 'field';
  const field = join(fieldOf(error.instancePath), name);
  return new ApiError('UNKNOWN_FIELD', `There is no ${what} '${field}'`, {
    hint: near === undefined ? 'Leave it out.' : `Did you mean '${near}'?`,
    details: {
      field,
      ...(near === undefined ? {} : { did_you_mean: join(fieldOf(error.instancePath), near) }),
    },
  });
}

function missingField(error: ErrorObject, part: RequestPart): ApiError {
  const { missingProperty: name } = error.params as { readonly missingProperty: string };
  const what = part === 'querystring' ? 'query parameter' : 'field';
  const field = join(fieldOf(error.instancePath), name);
  return new ApiError('MISSING_FIELD', `The ${what} '${field}' is missing`, {
    hint: 'Give it a value.',
    details: { field },
  });
}

function knownNames(schema: ErrorObject['parentSchema']): readonly string[] {
  const properties: unknown = schema?.['properties'];
  return typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
}

/** Converts `/options/exclude/0` to `options.exclude.0`. */
function fieldOf(instancePath: string): string {
  const names = instancePath.split('/').slice(1);
  return shortened(names.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~')).join('.'));
}

function join(parent: string, name: string): string {
  return parent === '' ? shortened(name) : `${parent}.${shortened(name)}`;
}

function shortened(name: string): string {
  return name.length > 100 ? `${name.slice(0, 100)}…` : name;
}

/** What is wrong with the value of a field, phrased to follow the name of the field. */
function wording({ keyword, message, params }: ErrorObject): string {
  const limit: unknown = params['limit'];
  switch (keyword) {
    case 'type':
      return `must be ${typesOf(params['type'])}`;
    case 'enum':
      return `must be one of ${[params['allowedValues']].flat().join(', ')}`;
    case 'const':
      return `must be ${JSON.stringify(params['allowedValue'])}`;
    case 'minLength':
      return limit === 1 ? 'must not be empty' : `must have ${String(limit)} characters or more`;
    case 'maxLength':
      return `must have ${String(limit)} characters or fewer`;
    case 'minItems':
      return limit === 1 ? 'must not be empty' : `must have ${String(limit)} entries or more`;
    case 'maxItems':
      return `must have ${String(limit)} entries or fewer`;
    case 'minimum':
      return `must be ${String(limit)} or more`;
    case 'maximum':
      return `must be ${String(limit)} or less`;
    case 'uniqueItems':
      return 'must not contain anything twice';
    case 'format':
      return `must be ${FORMATS[String(params['format'])] ?? `of the form ${String(params['format'])}`}`;
    case 'pattern':
      return FORMS[String(params['pattern'])] ?? 'does not have the required form';
    default:
      return message ?? 'is not valid';
  }
}

const FORMS: Readonly<Record<string, string>> = {
  [ONE_LINE]: 'has a line break or another control character',
  [NO_NUL]: 'contains a NUL',
};

const FORMATS: Readonly<Record<string, string>> = {
  'date-time': 'a time such as 2026-01-31T18:30:00Z',
  date: 'a day such as 2026-01-31',
  email: 'an e-mail address',
};

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
  null: 'null',
};

/** Ajv names one type, or several with commas or in a list. */
function typesOf(types: unknown): string {
  const names = [types].flat().flatMap((each) => String(each).split(','));
  return names.map((name) => TYPES[name] ?? name).join(' or ');
}
