/** The product's own page, signed in, as a browser that a test drives. */
import { cookieName } from '../../src/api/access/page-guard.ts';
import { expect } from 'vitest';
import type { ApiReply, ApiSite, CallOptions } from './api-site.ts';

export interface PageSession {
  /** As the browser sends it. */
  readonly cookie: string;
  /** As the page's script asks: below the prefix of its routes, with the headers that browsers add. */
  ask(path: string, options?: CallOptions): Promise<ApiReply>;
}

/** @param code one that is good, or a new one */
export async function signIn(
  site: ApiSite,
  code: string = site.server.sessions.newCode(null),
): Promise<PageSession> {
  const headers = { origin: `http://${site.host}`, 'sec-fetch-site': 'same-origin' };
  const reply = await site.inject('/internal/v1/session', { method: 'POST', headers, body: { code } });
  expect(reply.status, reply.text).toBe(200);
  const cookie = String(reply.headers['set-cookie']).split(';')[0] ?? '';
  expect(cookie.startsWith(`${cookieName(site.port)}=`)).toBe(true);
  return {
    cookie,
    ask: async (path, options = {}) =>
      await site.inject(`/internal/v1${path}`, {
        ...options,
        headers: { ...headers, cookie, ...options.headers },
      }),
  };
}

/** Every route of the server once, those of the page too, with ids filled in. */
export function everyRoute(
  site: ApiSite,
): { readonly method: string; readonly path: string; readonly scope: string }[] {
  const { entries, pageEntries } = site.server.routes;
  return [...entries, ...pageEntries].map(({ method, url, facts }) => ({
    method,
    path: url.replaceAll(/:\w+/g, 'bkp_00000000000000000000000000'),
    scope: facts.scope,
  }));
}
