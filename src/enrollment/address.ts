/** Checks the address of a Partner service as a person enters it, and builds URLs from it. */
import { RequestError } from '../base/errors.ts';

const PREFIX = '/api/partner/v1';
const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * The address without a trailing slash and without the API prefix, which may be given or omitted.
 * @throws {RequestError} INVALID_URL
 */
export function partnerAddress(text: string): string {
  const url = URL.parse(text.trim());
  if (url === null || !/^https?:$/.test(url.protocol))
    throw invalid('The address of the Partner service is no web address', 'Write it as https://HOST.');
  if (url.username !== '' || url.password !== '')
    throw invalid(
      'The address of the Partner service holds a user name or password',
      'Leave it out: the enrollment token is all that is needed.',
    );
  if (url.search !== '' || url.hash !== '')
    throw invalid('The address of the Partner service has a query', 'Leave out what follows the ? or #.');
  if (url.protocol === 'http:' && !LOOPBACK.has(url.hostname))
    throw invalid(
      'The Partner service must be reached by https',
      'Write https:// in front. Only a service on this machine may be reached by http.',
    );
  const path = url.pathname.replace(/\/+$/, '');
  return url.origin + (path.endsWith(PREFIX) ? path.slice(0, -PREFIX.length) : path);
}

/** The URL of a route such as `/enroll`. */
export function routeUrl(address: string, route: string): string {
  return `${address}${PREFIX}${route}`;
}

function invalid(message: string, hint: string): RequestError {
  return new RequestError('INVALID_URL', message, { hint });
}
