/** Authenticates requests to the page's own routes, by the session cookie alone. */
import type { IncomingMessage } from 'node:http';
import { holdfastForAnybody } from '../../base/holdfast-command.ts';
import { ApiError } from '../wire/api-error.ts';
import type { Caller } from './authentication.ts';
import { soleHeader } from '../wire/headers.ts';
import { peerUser } from './page-peer.ts';
import type { PageSessions } from './page-sessions.ts';

type PageRequest = Pick<IncomingMessage, 'rawHeaders' | 'headers'>;

const NO_STATE_CHANGE: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** Browsers send the cookies of a host to all of its ports: the port in the name keeps several agents apart. */
export function cookieName(port: number | undefined): string {
  return `holdfast_session_${port ?? 0}`;
}

/**
 * Refuses requests that change something and have no Origin header. Browsers always send it, so such a request comes
 * from a program and not from the page.
 */
export function pageOriginRefusal(method: string, headers: PageRequest['headers']): ApiError | undefined {
  if (NO_STATE_CHANGE.has(method) || headers.origin !== undefined) return undefined;
  return new ApiError('ORIGIN_NOT_ALLOWED', 'The request does not come from the page of the agent', {
    hint: 'Programs use the Desktop API: see /docs.',
  });
}

/** Never refuses a request: its route decides what a caller without a session may do. */
export async function identifyPage(
  request: PageRequest & Pick<IncomingMessage, 'socket'>,
  sessions: PageSessions,
  port: number | undefined,
): Promise<Caller> {
  const token = sessionToken(request, port);
  const { socket } = request;
  if (token !== undefined && (await sessions.use(token, async () => await peerUser(socket))))
    return { kind: 'page', holds: () => sessions.holds(token) };
  return { kind: 'anonymous', problem: notSignedIn, tried: token !== undefined };
}

/** The token in the cookie, when there is exactly one. */
export function sessionToken({ rawHeaders }: PageRequest, port: number | undefined): string | undefined {
  const start = `${cookieName(port)}=`;
  const values = (soleHeader(rawHeaders, 'cookie') ?? '')
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part.startsWith(start))
    .map((part) => part.slice(start.length));
  return values.length === 1 ? values[0] : undefined;
}

function notSignedIn(): ApiError {
  return new ApiError('UNAUTHORIZED', 'The page is not signed in', {
    hint: `Open it with: ${holdfastForAnybody`ui`}`,
  });
}
