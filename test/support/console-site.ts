/** The settings page of a Partner service without a connection, and people who look at it: each with cookies of their own. */
import { randomBytes } from 'node:crypto';
import { createPartnerApp, type PartnerApp, type PartnerAppOptions } from '../../src/partner/http/app.ts';
import { keysFrom, type PartnerKeys } from '../../src/partner/secrets/keys.ts';
import { hashPassword } from '../../src/partner/secrets/passwords.ts';
import type { Partner } from '../../src/partner/store/partners.ts';
import type { PartnerStores } from '../../src/partner/store/store.ts';
import { hiddenFields, readable } from './console-html.ts';
import { OWNER, storeSite, type StoreSite } from './partner-store-site.ts';

export { hiddenFields, readable } from './console-html.ts';

export const PASSWORD = 'correct horse battery';
/** The same as `PASSWORD`: made once, as it takes a while. */
const hashed = hashPassword(PASSWORD);

export interface ConsoleSite {
  readonly stores: PartnerStores;
  readonly clock: StoreSite['clock'];
  readonly api: PartnerApp;
  readonly keys: PartnerKeys;
  /** Where its forms have to come from. */
  readonly origin: string;
  /** One more, whose password is `PASSWORD`. */
  partner(name: string): Promise<Partner>;
  /** Of the first instance, unless another one is named. */
  visitor(instance?: PartnerApp): ConsoleVisitor;
  /** Signed in. */
  signedIn(name: string): Promise<ConsoleVisitor>;
  /** One more instance on the same store. */
  another(): Promise<PartnerApp>;
  remove(): Promise<void>;
}

export interface PageReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly html: string;
  /** What a person reads of it, entities resolved. */
  readonly text: string;
  readonly location: string | undefined;
}

export type Fields = Readonly<Record<string, string | readonly string[]>>;

export interface ConsoleVisitor {
  readonly cookies: Map<string, string>;
  get(path: string): Promise<PageReply>;
  /** Sends what is given, as it is. */
  post(path: string, fields: Fields, headers?: Readonly<Record<string, string>>): Promise<PageReply>;
  /** Opens a page and sends its form with that action, with the hidden fields that it came with. */
  send(page: string, action: string, fields?: Fields): Promise<PageReply>;
  signIn(email: string, password?: string): Promise<PageReply>;
}

export async function consoleSite(options: Partial<PartnerAppOptions> = {}): Promise<ConsoleSite> {
  const store = await storeSite();
  const keys = keysFrom(randomBytes(32));
  const { clock } = store;
  const apis: PartnerApp[] = [];
  const start = async (stores: PartnerStores): Promise<PartnerApp> => {
    const api = await createPartnerApp({ stores, clock, keys, version: '1.0.0', ...options });
    apis.push(api);
    return api;
  };
  const stores = await store.open();
  const api = await start(stores);
  const origin = new URL(options.publicUrl ?? 'http://localhost:80').origin;
  const partner = async (name: string): Promise<Partner> => {
    const facts = { name, company: null, email: `${name}@example.com`, passwordHash: await hashed };
    return await stores.partners.create(facts, OWNER);
  };
  const visitor = (instance = api): ConsoleVisitor => someVisitor(instance, origin);
  return {
    stores,
    clock,
    api,
    keys,
    origin,
    partner,
    visitor,
    signedIn: async (name) => {
      const made = visitor();
      const reply = await made.signIn(`${name}@example.com`);
      if (reply.status !== 303) throw new Error(`signing in was answered with ${reply.status}`);
      return made;
    },
    another: async () => await start(await store.open()),
    remove: async () => {
      for (const one of apis) await one.close();
      await store.remove();
    },
  };
}

function someVisitor({ app }: PartnerApp, origin: string): ConsoleVisitor {
  const cookies = new Map<string, string>();
  const ask = async (
    method: 'GET' | 'POST',
    path: string,
    headers: Readonly<Record<string, string>>,
    payload?: string,
  ): Promise<PageReply> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const reply = await app.inject({
      method,
      url: path,
      headers: { host: new URL(origin).host, ...(cookie === '' ? {} : { cookie }), ...headers },
      ...(payload === undefined ? {} : { payload }),
    });
    for (const line of [reply.headers['set-cookie'] ?? []].flat()) keep(cookies, line);
    return {
      status: reply.statusCode,
      headers: reply.headers,
      html: reply.body,
      text: readable(reply.body),
      location: reply.headers.location,
    };
  };
  const get: ConsoleVisitor['get'] = async (path) => await ask('GET', path, {});
  const post: ConsoleVisitor['post'] = async (path, fields, headers = {}) =>
    await ask(
      'POST',
      path,
      {
        'content-type': 'application/x-www-form-urlencoded',
        origin,
        'sec-fetch-site': 'same-origin',
        ...headers,
      },
      encoded(fields),
    );
  return {
    cookies,
    get,
    post,
    send: async (page, action, fields = {}) => {
      const { html } = await get(page);
      return await post(action, { ...hiddenFields(html, action), ...fields });
    },
    signIn: async (email, password = PASSWORD) => await post('/settings/sign-in', { email, password }),
  };
}

function keep(cookies: Map<string, string>, line: string): void {
  const [pair = ''] = line.split(';');
  const name = pair.slice(0, pair.indexOf('='));
  if (line.includes('Max-Age=0')) cookies.delete(name);
  else cookies.set(name, pair.slice(name.length + 1));
}

function encoded(fields: Fields): string {
  const body = new URLSearchParams();
  for (const [name, value] of Object.entries(fields))
    for (const one of [value].flat()) body.append(name, one);
  return body.toString();
}
