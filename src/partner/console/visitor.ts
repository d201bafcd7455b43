/** Identifies the visitor of the settings page, by the session cookie alone. */
import type { FastifyRequest } from 'fastify';
import { BugError } from '../../base/errors.ts';
import type { Actor } from '../store/audit-log.ts';
import type { Partner } from '../store/partners.ts';
import type { PartnerStores } from '../store/store.ts';
import type { CookieKind } from './cookies.ts';
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
