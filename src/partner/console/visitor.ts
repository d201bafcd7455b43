/** Identifies the visitor of the settings page, by the session cookie alone. */
import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { soleHeader } from '../../api/wire/headers.ts';
import { BugError } from '../../base/errors.ts';
import type { Actor } from '../store/audit-log.ts';
import type { Partner } from '../store/partners.ts';
import { SESSION_MS } from '../store/sessions.ts';
import type { PartnerStores } from '../store/store.ts';
import type { Seals } from './seals.ts';

export interface Visitor {
  readonly partner: Partner;
  /** Token of the session. */
  readonly token: string;
  /** Token that each form of this session carries. */
  readonly formToken: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    visitor: Visitor | null;
  }
}

export async function findVisitor(
  request: FastifyRequest,
  cookie: CookieKind,
  seals: Seals,
  { sessions, partners }: Pick<PartnerStores, 'sessions' | 'partners'>,
): Promise<Visitor | undefined> {
  const token = cookie.read(request.raw);
  const session = token === undefined ? undefined : await sessions.find(token);
  const partner = session === undefined ? undefined : await partners.get(session.partnerId);
  if (token === undefined || partner === undefined) return undefined;
  return { partner, token, formToken: seals.formToken(token) };
}

/** The visitor of a page that needs a session. */
export function visitorOf({ visitor }: Pick<FastifyRequest, 'visitor'>): Visitor {
  if (visitor === null) throw new BugError('a page of the settings runs without a session');
  return visitor;
}

export function pageActor({ ip }: Pick<FastifyRequest, 'ip'>): Actor {
  return { name: 'settings page', keyId: null, ip };
}

export interface Cookies {
  readonly session: CookieKind;
  /** Identifies a browser in which a partner has signed in. */
  readonly browser: CookieKind;
}

interface CookieKind {
  /** The value, if the request carries the cookie exactly once. */
  read(request: Pick<IncomingMessage, 'rawHeaders'>): string | undefined;
  /** The `Set-Cookie` header that stores the value. */
  keep(value: string): string;
  /** The `Set-Cookie` header that removes the cookie. */
  forget(): string;
}

const BROWSER_MS = 180 * 86_400_000;

/**
 * Cookies of the settings page. Scripts cannot read them, and browsers do not send them with requests from other sites.
 * @param secure whether partners reach the page over https. Browsers then protect the cookies from other hosts and from
 * plain http.
 */
export function createCookies(secure: boolean): Cookies {
  return {
    session: cookie('holdfast_session', secure, SESSION_MS),
    browser: cookie('holdfast_browser', secure, BROWSER_MS),
  };
}

function cookie(plainName: string, secure: boolean, keptMs: number): CookieKind {
  const name = secure ? `__Host-${plainName}` : plainName;
  const line = (value: string, seconds: number): string =>
    `${name}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`;
  return {
    read: ({ rawHeaders }) => {
      const values = (soleHeader(rawHeaders, 'cookie') ?? '')
        .split(';')
        .map((part) => part.trim())
        .filter((part) => part.startsWith(`${name}=`))
        .map((part) => part.slice(name.length + 1));
      return values.length === 1 ? values[0] : undefined;
    },
    keep: (value) => line(value, Math.floor(keptMs / 1_000)),
    forget: () => line('', 0),
  };
}
