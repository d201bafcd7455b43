/**
 * Refuses requests that do not name this agent as their host. A page of another site can make a browser send requests
 * to the agent under the site's own name (DNS rebinding), and then read the responses. The name in the Host header
 * reveals that.
 */
import type { IncomingMessage } from 'node:http';
import { ApiError } from '../wire/api-error.ts';
import { soleHeader } from '../wire/sole-header.ts';

/** Why the request is refused, or undefined. `target` is the request target as it was sent. */
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
