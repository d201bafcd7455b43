/** Refuses requests that a page of another site makes a browser send. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { ApiError } from '../wire/api-error.ts';
import { soleHeader } from '../wire/headers.ts';

/**
 * Refuses requests that do not name this agent as their host. A page of another site can make a browser send requests
 * to the agent under the site's own name (DNS rebinding), and then read the responses. The name in the Host header
 * reveals that. `target` is the request target as it was sent. Returns why the request is refused, or undefined.
 */
export function hostRefusal(
  request: Pick<IncomingMessage, 'rawHeaders'>,
  target: string,
  port: number | undefined,
): ApiError | undefined {
  const host = soleHeader(request.rawHeaders, 'host');
  // `GET http://elsewhere/ HTTP/1.1` names its own host, which would take precedence over the header.
  const ownTarget = target.startsWith('/') || target === '*';
  if (
    ownTarget &&
    host !== undefined &&
    port !== undefined &&
    allowedHosts(port).includes(host.toLowerCase())
  ) {
    return undefined;
  }
  return new ApiError('HOST_NOT_ALLOWED', 'The request does not name this agent as its host', {
    hint: 'Use http://localhost, http://127.0.0.1 or http://[::1] with the port of the agent.',
  });
}

/** The values of the Host header that name the agent, as browsers write them. */
function allowedHosts(port: number): readonly string[] {
  const names = ['127.0.0.1', 'localhost', '[::1]'];
  const hosts = names.map((name) => `${name}:${port}`);
  return port === 80 ? [...hosts, ...names] : hosts;
}

/**
 * Refuses requests that a browser makes for a page of another site, whatever they ask for. Returns the reason, or
 * undefined. `hostRefusal` must have accepted the request.
 */
export function originRefusal(headers: IncomingHttpHeaders): ApiError | undefined {
  const origin = headers.origin;
  const site = headers['sec-fetch-site'];
  const ownOrigin = origin === undefined || origin === `http://${headers.host?.toLowerCase() ?? ''}`;
  const ownSite = site === undefined || site === 'same-origin' || site === 'none';
  if (ownOrigin && ownSite) return undefined;
  return new ApiError('ORIGIN_NOT_ALLOWED', "The request comes from another site's page", {
    hint: 'Call the agent from a program, or from its own page.',
  });
}
