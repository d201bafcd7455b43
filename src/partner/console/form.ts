/** Parses the forms that the settings page sends. */
import { ApiError } from '../../api/wire/api-error.ts';
import { isEncoded } from '../../api/wire/query-text.ts';
import { Type } from '../../base/schema-type.ts';
import { refuseNul } from '../request/nul.ts';

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

/** @throws {ApiError} INVALID_REQUEST */
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
