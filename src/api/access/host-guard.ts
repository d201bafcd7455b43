/**
 * Only requests that name this agent as their host are answered. A page of another site can make a browser send
 * requests here under a name of its own (DNS rebinding), and then read the answers: its name gives it away.
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
  // `GET http://elsewhere/ HTTP/1.1` names a host of its own, which would count for more than the header.
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

/** Hosts under which the agent is reached, as a browser writes them. */
function allowedHosts(port: number): readonly string[] {
  const names = ['127.0.0.1', 'localhost', '[::1]'];
  const hosts = names.map((name) => `${name}:${port}`);
  return port === 80 ? [...hosts, ...names] : hosts;
}
