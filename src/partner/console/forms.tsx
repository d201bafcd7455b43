/** Forms of the settings page: their fields, with the token that proves that this session made them, what is sent, that each takes effect only once, and that it is the visitor's own. */
import { randomUUID } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { ComponentChildren, JSX } from 'preact';
import { ApiError } from '../../api/wire/api-error.ts';
import { isEncoded } from '../../api/wire/query-text.ts';
import { Type } from '../../base/schema-type.ts';
import { AskFirst, Button, type ButtonLook } from '../../ui/components/button.tsx';
import { type Choice, Select, TextField, type TextFieldFacts } from '../../ui/components/field.tsx';
import { refuseNul } from '../request/refuse-nul.ts';
import type { PartnerStores } from '../store/store.ts';
import type { Seals } from './seals.ts';
import { type Visitor, visitorOf } from './visitor.ts';

export interface Form {
  /** The value of a field, trimmed; empty unless the field occurs exactly once. */
  text(name: string): string;
  /** As `text`, exactly as it was typed. */
  secret(name: string): string;
  /** The values of all fields with that name. */
  all(name: string): readonly string[];
}

export const FORM_TYPE = 'application/x-www-form-urlencoded';
export const MOST_FORM_BYTES = 65_536;

/** The body of a route that takes a form: `parseForm` made it, and each page reads its own fields. */
export const FormBody = Type.Unsafe<Form>({});

/**
 * Parses the forms that the settings page sends.
 * @throws {ApiError} INVALID_REQUEST
 */
export function parseForm(body: Uint8Array): Form {
  const text = decoded(body);
  if (!isEncoded(text)) throw notUtf8();
  const fields = new URLSearchParams(text);
  refuseNul([...fields]);
  const secret = (name: string): string => {
    const values = fields.getAll(name);
    return values.length === 1 ? (values[0] ?? '') : '';
  };
  return { text: (name) => secret(name).trim(), secret, all: (name) => fields.getAll(name) };
}

function decoded(body: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch (cause) {
    throw notUtf8(cause);
  }
}

function notUtf8(cause?: unknown): ApiError {
  return new ApiError('INVALID_REQUEST', 'The form is not valid UTF-8', { hint: 'Send it again.', cause });
}

export type { ButtonLook } from '../../ui/components/button.tsx';
export type { Choice } from '../../ui/components/field.tsx';

/** Name of the field with the token that proves that this session made the form. */
const FORM_TOKEN = 'form_token';

export function formTokenField({ formToken }: Pick<Visitor, 'formToken'>): JSX.Element {
  return hidden(FORM_TOKEN, formToken);
}

export function hidden(name: string, value: string): JSX.Element {
  return <input type="hidden" name={name} value={value} />;
}

/** The problems of a form: a sentence for each field concerned. */
export type Problems = Readonly<Record<string, string>>;

export interface FieldFacts extends Pick<
  TextFieldFacts,
  'name' | 'type' | 'value' | 'autocomplete' | 'inputmode'
> {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly optional?: boolean;
  readonly longest?: number;
}

export function field(
  { optional = false, longest = 500, ...facts }: FieldFacts,
  problems: Problems = {},
): JSX.Element {
  const { name, value = '' } = facts;
  return (
    <TextField
      {...facts}
      value={value}
      maxLength={longest}
      required={!optional}
      optional={optional ? 'optional' : undefined}
      problem={problems[name]}
    />
  );
}

export function select(
  name: string,
  label: string,
  choices: readonly Choice[],
  chosen: string,
  problems: Problems = {},
): JSX.Element {
  return <Select name={name} label={label} choices={choices} value={chosen} problem={problems[name]} />;
}

export function button(label: string, look?: ButtonLook): JSX.Element {
  return look === undefined ? <Button>{label}</Button> : <Button look={look}>{label}</Button>;
}

/** A form that posts to `action`; `content` holds its fields and its button. */
export function form(visitor: Visitor, action: string, content: ComponentChildren): JSX.Element {
  return (
    <form method="post" action={action}>
      {formTokenField(visitor)}
      {content}
    </form>
  );
}

/** A button that first explains its effect and asks for confirmation. */
export function askFirst(
  label: string,
  look: ButtonLook | undefined,
  question: ComponentChildren,
  answer: JSX.Element,
): JSX.Element {
  const facts = { label, question, ...(look === undefined ? {} : { look }) };
  return <AskFirst {...facts}>{answer}</AskFirst>;
}

const FORM_ID = 'form_id';

/** Identifies a form, which takes effect only once. */
export function onceField(): JSX.Element {
  return hidden(FORM_ID, randomUUID());
}

/**
 * Does the work unless this form has done it already, or is doing it, in which case the result is undefined. When the
 * work throws, it may be done again. A reloaded page sends its form again, and would for example replace the key that
 * it has just shown. Works across instances, like `Idempotency-Key`.
 * @throws {ApiError} INVALID_REQUEST for a form without an id
 */
export async function once<T>(
  { idempotency }: Pick<PartnerStores, 'idempotency'>,
  partnerId: string,
  form: Form,
  work: () => Promise<T>,
): Promise<T | undefined> {
  const key = form.text(FORM_ID);
  if (!/^[\w-]{1,64}$/.test(key))
    throw new ApiError('INVALID_REQUEST', 'The form is incomplete', { hint: 'Open the page again.' });
  const verdict = await idempotency.begin({ partnerId, key, route: 'settings page' }, '');
  if (verdict.kind !== 'new') return undefined;
  try {
    const made = await work();
    // The result is not stored, since it may be a secret.
    await idempotency.finish(verdict.running, { status: 200, headers: {}, body: '' });
    return made;
  } catch (error) {
    await idempotency.abandon(verdict.running);
    throw error;
  }
}

/**
 * The origin at which partners reach the page. `publicUrl` is null when the service is reached at the address that it
 * listens on.
 */
function ownOrigin(request: FastifyRequest, publicUrl: string | null): string {
  return publicUrl === null ? `${request.protocol}://${request.host}` : new URL(publicUrl).origin;
}

/** The base URL at which agents and programs reach the service, for the commands shown on the page. */
export function ownAddress(request: FastifyRequest, publicUrl: string | null): string {
  return publicUrl ?? ownOrigin(request, null);
}

/**
 * Requires a form to come from the settings page. Browsers name the origin of each form, and those that support
 * `Sec-Fetch-Site` also send that header where they may.
 * @throws {ApiError} ORIGIN_NOT_ALLOWED
 */
export function requireOwnOrigin(request: FastifyRequest, publicUrl: string | null): void {
  const { origin, 'sec-fetch-site': site } = request.headers;
  const own = ownOrigin(request, publicUrl);
  if (origin === own && (site === undefined || site === 'same-origin')) return;
  throw new ApiError('ORIGIN_NOT_ALLOWED', 'This form was not sent from the settings page', {
    hint: `Open the page at ${own}, and send the form from there.`,
  });
}

/** @throws {ApiError} FORBIDDEN */
export function requireFormToken(request: FastifyRequest, form: Form, seals: Seals): void {
  if (seals.isFormToken(visitorOf(request).token, form.secret(FORM_TOKEN))) return;
  throw new ApiError('FORBIDDEN', 'This form belongs to another session', {
    hint: 'Open the page again, and fill in the form there.',
  });
}
