/** The Desktop API of a daemon, asked by somebody who has signed in. */
import type { DaemonSite } from './daemon-site.ts';

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly data: Readonly<Record<string, unknown>> | undefined;
  readonly error: { readonly code: string; readonly details: Readonly<Record<string, unknown>> } | undefined;
}

export type Ask = (
  method: 'GET' | 'POST',
  path: string,
  body?: object,
  headers?: Readonly<Record<string, string>>,
) => Promise<Answered>;

/** Of the daemon that runs now: not of the one after a restart. */
export async function signedIn(site: DaemonSite): Promise<Ask> {
  const { port } = site.daemon.listening;
  const send = async (
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body?: object,
  ): Promise<Answered> => {
    const reply = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const { data, error } = (await reply.json()) as Answered;
    return { status: reply.status, headers: reply.headers, data, error };
  };
  const made = await site.ask('create_credential', { name: 'test' });
  const { data } = await send('POST', '/v1/auth/token', {}, { api_key: made.api_key, secret: made.secret });
  const authorization = `Bearer ${String(data?.['access_token'])}`;
  return async (method, path, body, headers = {}) =>
    await send(method, path, { ...headers, authorization }, body);
}
