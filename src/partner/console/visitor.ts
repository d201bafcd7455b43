/** Identifies the visitor of the settings page, by the session cookie alone, and makes sure that forms are the visitor's own. */
import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { ApiError } from '../../api/wire/api-error.ts';
import { soleHeader } from '../../api/wire/headers.ts';
import { BugError } from '../../base/errors.ts';
import type { Actor } from '../store/audit-log.ts';
import type { Partner } from '../store/partners.ts';
import { SESSION_MS } from '../store/sessions.ts';
import type { PartnerStores } from '../store/store.ts';
import { type Form, FORM_TOKEN } from './forms.tsx';
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
