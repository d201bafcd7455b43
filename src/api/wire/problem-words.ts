/**
 * Says in our words what the validator found. None of its own texts is passed on, because they name what a schema is
 * made of and not what a caller can do.
 */
import type { ErrorObject } from 'ajv';
import { NO_NUL, ONE_LINE } from '../../base/one-line.ts';

/** What is wrong with the value of a field, phrased to follow the name of the field. */
export function wording(error: ErrorObject): string {
  const { propertyName } = error as { readonly propertyName?: string };
  return propertyName === undefined
    ? wordingOf(error)
    : `has a name '${shortened(propertyName)}', which ${wordingOf(error)}`;
}

function wordingOf({ keyword, params, parentSchema }: ErrorObject): string {
  const limit: unknown = params['limit'];
  switch (keyword) {
    case 'type':
      return `must be ${typesOf(params['type'])}`;
    case 'anyOf':
      return `must be ${choicesOf(parentSchema?.['anyOf'])}`;
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
    case 'minProperties':
      return limit === 1 ? 'must not be empty' : `must have ${String(limit)} fields or more`;
    case 'maxProperties':
      return `must have ${String(limit)} fields or fewer`;
    case 'minimum':
      return `must be ${String(limit)} or more`;
    case 'maximum':
      return `must be ${String(limit)} or less`;
    case 'uniqueItems':
      return 'must not contain anything twice';
    case 'additionalProperties':
      return `must not have the field '${shortened(String(params['additionalProperty']))}'`;
    case 'required':
      return `must have the field '${shortened(String(params['missingProperty']))}'`;
    case 'format':
      return `must be ${FORMATS[String(params['format'])] ?? `of the form ${String(params['format'])}`}`;
    case 'pattern':
      return FORMS[String(params['pattern'])] ?? 'does not have the required form';
    default:
      return 'is not valid';
  }
}

/** The most errors that are looked at. A list of thousands may have some for each entry, and few are told. */
const MOST_WEIGHED = 200;

/**
 * The errors that somebody can act on. Of a value that fits none of several forms, those of the form that it comes
 * nearest to; one error for all forms where it is of another type than each.
 */
export function tellingErrors(found: readonly ErrorObject[]): readonly ErrorObject[] {
  const errors = found.slice(0, MOST_WEIGHED);
  const choices = errors.filter(({ keyword }) => keyword === 'anyOf');
  // The innermost first, so that the forms of a form are settled before it is weighed.
  const ordered = choices.toSorted((a, b) => b.schemaPath.length - a.schemaPath.length);
  const settled = ordered.reduce<readonly ErrorObject[]>(settle, errors);
  return settled.filter(({ keyword }) => !SUMMARIES.has(keyword));
}

/** Keywords whose errors only sum up others. */
const SUMMARIES: ReadonlySet<string> = new Set(['if', 'propertyNames', 'allOf']);

function settle(errors: readonly ErrorObject[], choice: ErrorObject): readonly ErrorObject[] {
  const { schemaPath, instancePath } = choice;
  const forms = new Map<string, ErrorObject[]>();
  const rest: ErrorObject[] = [];
  for (const error of errors) {
    if (error === choice) continue;
    const inside =
      error.schemaPath.startsWith(`${schemaPath}/`) &&
      (error.instancePath === instancePath || error.instancePath.startsWith(`${instancePath}/`));
    if (!inside) {
      rest.push(error);
      continue;
    }
    const form = error.schemaPath.slice(schemaPath.length + 1).split('/', 1)[0] ?? '';
    forms.set(form, [...(forms.get(form) ?? []), error]);
  }
  const ofItsType = [...forms.values()].filter(
    (ones) => !ones.some((one) => one.keyword === 'type' && one.instancePath === instancePath),
  );
  const [nearest] = ofItsType.toSorted((a, b) => a.length - b.length);
  return [...rest, ...(nearest ?? [choice])];
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

/** The validator names one type, or several with commas or in a list. */
function typesOf(types: unknown): string {
  const names = [types].flat().flatMap((each) => String(each).split(','));
  return names.map((name) => TYPES[name] ?? name).join(' or ');
}

function choicesOf(forms: unknown): string {
  const types = (Array.isArray(forms) ? forms : []).map((form: { readonly type?: unknown }) => form.type);
  return typesOf([...new Set(types.flat().filter((type) => type !== undefined))]);
}

export function shortened(name: string): string {
  return name.length > 100 ? `${name.slice(0, 100)}…` : name;
}
