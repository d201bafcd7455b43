/** Requests that a browser makes for a page of another site are refused, whatever they ask for. */
import type { IncomingHttpHeaders } from 'node:http';
import { ApiError } from '../wire/api-error.ts';

/** The reason to refuse the request, or undefined. The host guard must have accepted the request. */
export function originRefusal(headers: IncomingHttpHeaders): ApiError | undefined {
  const origin = headers.origin;
  const site = headers['sec-fetch-site'];
  const ownOrigin = origin === undefined || origin === `http://${headers.host?.toLowerCase() ?? ''}`;
  const ownSite = site === undefined || site === 'same-origin' || site === 'none';
  if (ownOrigin && ownSite) return undefined;
  return new ApiError('ORIGIN_NOT_ALLOWED', "The request was made by another site's page", {
    hint: 'Call the agent from a program, or from its own page.',
  });
}
