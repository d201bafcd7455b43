/** What lets a request to the settings page in: for a form, that our own page sent it; for most pages, a session. */
import type { FastifyRequest } from 'fastify';
import { ApiError } from '../../api/wire/api-error.ts';
import { FORM_TOKEN } from './form-fields.tsx';
import type { Form } from './form.ts';
import type { Seals } from './seals.ts';
import { visitorOf } from './visitor.ts';

/** The origin that partners reach the page by. `publicUrl`: null where the service is reached as it listens. */
export function ownOrigin(request: FastifyRequest, publicUrl: string | null): string {
  return publicUrl === null ? `${request.protocol}://${request.host}` : new URL(publicUrl).origin;
}

/** Where agents and programs reach the service: what commands on the page name. */
export function ownAddress(request: FastifyRequest, publicUrl: string | null): string {
  return publicUrl ?? ownOrigin(request, null);
}

/**
 * Browsers name the origin of each form, and those that know `Sec-Fetch-Site` send that as well where they may.
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
