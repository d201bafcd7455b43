/** Checks requests against the schemas of their routes, and says what is wrong in words. */
import type { ErrorObject, ValidateFunction } from 'ajv';
import { nearestName } from '../../config/nearest-name.ts';
import type { FastifyValidationResult } from 'fastify/types/schema.js';
import { ApiError } from './api-error.ts';
import { shortened, tellingErrors, wording } from './problem-words.ts';
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
export function validationError(found: readonly ErrorObject[], part: RequestPart): ApiError {
  const errors = tellingErrors(found);
  const unknown = errors.find(({ keyword }) => keyword === 'additionalProperties');
  if (unknown !== undefined) return unknownField(unknown, part);
  const missing = errors.find(({ keyword }) => keyword === 'required');
  if (missing !== undefined) return missingField(missing, part);
  const ofBody = part === 'body' ? errors.find(({ instancePath }) => instancePath === '') : undefined;
  if (ofBody?.keyword === 'type') {
    return new ApiError('INVALID_REQUEST', 'The body is not a JSON object', {
      hint: 'Send a JSON object with the fields of this route.',
      details: { problems: [{ field: '', message: 'must be an object' }] },
    });
  }
  if (ofBody?.keyword === 'minProperties') {
    return new ApiError('INVALID_REQUEST', 'Nothing is to be changed', {
      hint: `Send at least one of ${knownNames(ofBody.parentSchema).join(', ')}.`,
      details: { problems: [{ field: '', message: 'must have at least one field' }] },
    });
  }
  const problems = errors
    .slice(0, MOST_PROBLEMS)
    .map((error) => ({ field: fieldOf(error.instancePath), message: wording(error) }));
  const [first] = problems;
  return new ApiError('INVALID_REQUEST', first === undefined ? 'The request is not valid' : sentence(first), {
    hint: 'See /docs for what this route accepts.',
    details: { field: first?.field ?? '', problems },
  });
}

function sentence({ field, message }: { readonly field: string; readonly message: string }): string {
  return field === '' ? `The request ${message}` : `'${field}' ${message}`;
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
