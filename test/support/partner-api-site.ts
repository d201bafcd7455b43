/** The Partner API over a store with one partner in it. Every reply is judged by docs/api/partner.yaml. */
import { randomBytes } from 'node:crypto';
import { createPartnerApp, type PartnerApp } from '../../src/partner/http/app.ts';
import type { PartnerLimits } from '../../src/partner/request/limits.ts';
import { PARTNER_PREFIX } from '../../src/partner/resources/values.ts';
import { keysFrom, type PartnerKeys } from '../../src/partner/secrets/keys.ts';
import type { PartnerStores } from '../../src/partner/store/store.ts';
import { judgePartner } from './partner-judge.ts';
import { OWNER, somePartner, storeSite, type StoreSite } from './partner-store-site.ts';

export interface Asked {
  /** Null: none. Else that of the first partner. */
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  /** Empty where it is an error, or no JSON. */
  readonly data: Readonly<Record<string, unknown>>;
  readonly code: string | undefined;
  readonly text: string;
}

export interface PartnerApiSite extends AsyncDisposable {
  readonly store: StoreSite;
  readonly stores: PartnerStores;
  readonly api: PartnerApp;
  readonly keys: PartnerKeys;
  readonly partnerId: string;
  ask(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, asked?: Asked): Promise<Reply>;
  /** The API key of one more partner. */
  otherKey(): Promise<string>;
}

export async function partnerApiSite(limits: Partial<PartnerLimits> = {}): Promise<PartnerApiSite> {
  const store = await storeSite();
  const stores = await store.open();
  const keys = keysFrom(randomBytes(32));
  const api = await createPartnerApp({ stores, clock: store.clock, keys, version: '1.0.0', limits });
  const { id: partnerId } = await somePartner(stores);
  const { secret } = await stores.apiKeys.generate(partnerId, 'billing', OWNER);
  return {
    store,
    stores,
    api,
    keys,
    partnerId,
    async ask(method, path, { key = secret, headers = {}, body } = {}) {
      const url = `${PARTNER_PREFIX}${path}`;
      const reply = await api.app.inject({
        method,
        url,
        headers: {
          ...(key === null ? {} : { authorization: `Bearer ${key}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
      });
      const { statusCode: status, body: text } = reply;
      judgePartner(method, url, { status, headers: reply.headers, text });
      const isJson = String(reply.headers['content-type']).startsWith('application/json');
      const { data = {}, error }: { data?: Record<string, unknown>; error?: { code: string } } = isJson
        ? reply.json()
        : {};
      return { status, headers: reply.headers, data, code: error?.code, text };
    },
    async otherKey() {
      const other = await somePartner(stores, 'other');
      return (await stores.apiKeys.generate(other.id, 'key', OWNER)).secret;
    },
    [Symbol.asyncDispose]: async () => {
      await api.close();
      await store.remove();
    },
  };
}

/** As a device sends it. */
export function sentReport(seq: number, more: object = {}): Readonly<Record<string, unknown>> {
  return { seq, agent_version: '1.0.0', expected_every_seconds: 86_400, storage: null, results: [], ...more };
}

/** A result as a device sends it. */
export const SENT_BACKUP = {
  kind: 'backup',
  status: 'completed',
  finished_at: '2026-11-21T02:31:07.120Z',
  duration_seconds: 73,
  files_backed_up: 120,
  size_bytes: 3_000,
  uploaded_bytes: 400,
  error_code: null,
};

export interface EnrolledAgent {
  readonly id: string;
  readonly customerId: string;
  readonly key: string;
  readonly reply: Reply;
}

export const LAPTOP = { name: 'front-desk', platform: 'linux-x64', agent_version: '1.0.0' };

/** One more device, of that customer or of a new one, enrolled over the API. */
export async function enrolledAgent(
  { ask, stores, partnerId }: PartnerApiSite,
  customerId?: string,
): Promise<EnrolledAgent> {
  const plan = await stores.plans.findBySlug('pro');
  const id =
    customerId ??
    (
      await stores.customers.create(
        partnerId,
        { name: 'Ada', email: null, externalId: null, planId: plan?.id ?? '', metadata: {} },
        OWNER,
      )
    ).id;
  const token = (await ask('POST', `/customers/${id}/enrollment-tokens`)).data['secret'];
  const reply = await ask('POST', '/enroll', { key: null, body: { token, ...LAPTOP } });
  return {
    id: String(reply.data['device_id']),
    customerId: id,
    key: String(reply.data['secret']),
    reply,
  };
}
