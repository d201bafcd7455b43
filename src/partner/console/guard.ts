/** Guards of the settings page: forms must be sent by the page itself and belong to the session of the visitor. */
import type { FastifyRequest } from 'fastify';
import { ApiError } from '../../api/wire/api-error.ts';
import { FORM_TOKEN } from './form-fields.tsx';
import type { Form } from './form.ts';
import type { Seals } from './seals.ts';
import { visitorOf } from './visitor.ts';

/**
 * The origin at which partners reach the page. `publicUrl` is null when the service is reached at the address that it
 * listens on.
 */
export function ownOrigin(request: FastifyRequest, publicUrl: string | null): string {
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
  throw new ApiError('ORIGIN_NOT_ALLOWED', 'This form was not sent by the settings page', {
    hint: `Open the page at ${own}, and send the form from there.`,
  });
}

/** @throws {ApiError} FORBIDDEN */
export function requireFormToken(request: FastifyRequest, form: Form, seals: Seals): void {
  if (seals.isFormToken(visitorOf(request).token, form.secret(FORM_TOKEN))) return;
  throw new ApiError('FORBIDDEN', 'This form is of another session', {
    hint: 'Open the page again, and fill it in there.',
  });
}
