/** Who a request to the page's own routes comes from: the cookie of a session says so, and nothing else does. */
import type { IncomingMessage } from 'node:http';
import { holdfastForAnybody } from '../../base/holdfast-command.ts';
import { ApiError } from '../wire/api-error.ts';
import type { Caller } from './authentication.ts';
import { soleHeader } from '../wire/sole-header.ts';
import { peerUser } from './page-peer.ts';
import type { PageSessions } from './page-sessions.ts';

type PageRequest = Pick<IncomingMessage, 'rawHeaders' | 'headers'>;

const NO_STATE_CHANGE: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** Cookies of a host go to all of its ports: the name keeps those of several agents apart. */
export function cookieName(port: number | undefined): string {
  return `holdfast_session_${port ?? 0}`;
}

/** Unlike programs, browsers name the origin of what changes something: without it, the page did not send it. */
export function pageOriginRefusal(method: string, headers: PageRequest['headers']): ApiError | undefined {
  if (NO_STATE_CHANGE.has(method) || headers.origin !== undefined) return undefined;
  return new ApiError('ORIGIN_NOT_ALLOWED', 'The request was not made by the page of the agent', {
    hint: 'Programs use the Desktop API: see /docs.',
  });
}

/** Never refuses: what somebody without a session may do is for the route to say. */
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
