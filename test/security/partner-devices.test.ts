/** Agents and the service: P10 and P11 of the security checklist, over the API as an attacker would use it. */
import { createHash, randomBytes, sign } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CompactSign, jwtVerify } from 'jose';
import { keysFrom } from '../../src/partner/secrets/keys.ts';
import {
  LAPTOP,
  enrolledAgent,
  partnerApiSite,
  sentReport,
  type EnrolledAgent,
  type PartnerApiSite,
} from '../support/partner-api-site.ts';
import { partnerRoutes } from '../support/partner-judge.ts';
import { PLAN, someCustomer } from '../support/partner-store-site.ts';

const MINUTE = 60_000;

let site: PartnerApiSite;
let ask: PartnerApiSite['ask'];

beforeEach(async () => {
  site = await partnerApiSite();
  ({ ask } = site);
});
afterEach(async () => await site[Symbol.asyncDispose]());

describe('P11: an enrollment token', () => {
  let customerId: string;
  const refused = { status: 400, code: 'ENROLLMENT_TOKEN_INVALID' };
  const newToken = async (): Promise<string> =>
    String((await ask('POST', `/customers/${customerId}/enrollment-tokens`)).data['secret']);
  const enroll = async (token: string) =>
    await ask('POST', '/enroll', { key: null, body: { token, ...LAPTOP } });
  const devices = async (): Promise<number> =>
    ((await ask('GET', `/customers/${customerId}/devices`)).data['items'] as readonly unknown[]).length;

  beforeEach(async () => {
    ({ id: customerId } = await someCustomer(site.stores, site.partnerId));
  });

  test('is good once', async () => {
    const token = await newToken();
    expect((await enroll(token)).status).toBe(201);
    for (let count = 0; count < 3; count += 1) expect(await enroll(token)).toMatchObject(refused);
    expect(await devices()).toBe(1);
  });

  test('is good for 15 minutes', async () => {
    const [early, late] = [await newToken(), await newToken()];
    site.store.clock.jump(15 * MINUTE - 1);
    expect((await enroll(early)).status).toBe(201);
    site.store.clock.jump(1);
    expect(await enroll(late)).toMatchObject(refused);
  });

  test('makes one device when thirty use it at the same moment', async () => {
    const token = await newToken();
    const replies = await Promise.all(Array.from({ length: 30 }, async () => await enroll(token)));
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(1);
    for (const reply of replies.filter(({ status }) => status !== 201)) expect(reply).toMatchObject(refused);
    expect(await devices()).toBe(1);
  });

  test('makes a device of the customer that it was made for, whoever sends it and whatever is asked', async () => {
    const token = await newToken();
    const key = await site.otherKey();
    const other = { token, ...LAPTOP, customer_id: 'cus_other' };
    expect(await ask('POST', '/enroll', { key, body: other })).toMatchObject({ code: 'UNKNOWN_FIELD' });
    const made = await ask('POST', '/enroll', { key, body: { token, ...LAPTOP } });
    expect(made.data).toMatchObject({ customer_id: customerId });
    expect((await ask('GET', '/customers', { key })).data['items']).toEqual([]);
    expect(await devices()).toBe(1);
  });

  test.each([
    ['suspended', async () => await ask('POST', `/customers/${customerId}/suspend`)],
    ['deleted', async () => await ask('DELETE', `/customers/${customerId}`)],
  ])('is void when its customer is %s', async (_name, change) => {
    const token = await newToken();
    await change();
    expect(await enroll(token)).toMatchObject(refused);
  });

  test('is no key of anything, nor is a key a token', async () => {
    const token = await newToken();
    const { key } = await enrolledAgent(site);
    expect(await ask('GET', '/account', { key: token })).toMatchObject({ status: 401 });
    expect(await ask('GET', '/devices/self/plan', { key: token })).toMatchObject({ status: 401 });
    expect(await enroll(key)).toMatchObject(refused);
  });

  test('gives each agent a key of its own, and neither is in the store as it was given', async () => {
    const token = await newToken();
    const one = await enroll(token);
    const two = await enrolledAgent(site, customerId);
    const key = String(one.data['secret']);
    expect(key).not.toBe(two.key);
    const { reader } = site.store.database();
    const tables = ['enrollment_tokens', 'devices', 'idempotency', 'audit_log', 'events', 'reports'] as const;
    const rows = await Promise.all(
      tables.map(async (table) => await reader.selectFrom(table).selectAll().execute()),
    );
    const dump = JSON.stringify(rows);
    expect(dump).toContain('front-desk');
    for (const secret of [token, key, two.key])
      for (const form of [secret, secret.slice(4), createHash('sha256').update(secret).digest('base64url')])
        expect(dump).not.toContain(form);
  });
});

describe('P10: what the service can ask of an agent', () => {
  const orders = async (agent: EnrolledAgent, seq: number, taken: readonly string[] = []) => {
    const body = sentReport(seq, { orders_taken: taken });
    const { data } = await ask('POST', '/devices/self/reports', { key: agent.key, body });
    return data['orders'] as readonly string[];
  };
  const give = async (agent: EnrolledAgent, order = 'run_backup') =>
    await ask('POST', `/devices/${agent.id}/orders`, { body: { order } });

  /** As an agent checks it: with the key of its enrollment, and for itself. */
  const accepts = async (agent: EnrolledAgent, document: string): Promise<boolean> => {
    const { x } = agent.reply.data['service_key'] as { x: string };
    try {
      await jwtVerify(
        document,
        await crypto.subtle.importKey('jwk', { kty: 'OKP', crv: 'Ed25519', x }, 'Ed25519', false, ['verify']),
        {
          algorithms: ['EdDSA'],
          typ: 'holdfast-order+jwt',
          audience: agent.id,
          requiredClaims: ['jti', 'iat', 'exp'],
          currentDate: new Date(site.store.clock.now()),
        },
      );
      return true;
    } catch {
      return false;
    }
  };

  test('is a backup or a report: no route, field or value asks for anything that takes away', async () => {
    const agent = await enrolledAgent(site);
    const destructive = [
      'delete',
      'prune',
      'forget',
      'restore',
      'purge',
      'set_retention',
      'change_key',
      'wipe',
    ];
    for (const order of [...destructive, 'RUN_BACKUP', '', null, ['run_backup'], { order: 'report' }]) {
      const reply = await ask('POST', `/devices/${agent.id}/orders`, { body: { order } });
      expect(reply).toMatchObject({ status: 400, code: 'INVALID_REQUEST' });
    }
    for (const more of [{ paths: ['/'] }, { command: 'rm' }, { options: { delete_extra: true } }]) {
      const body = { order: 'run_backup', ...more };
      expect(await ask('POST', `/devices/${agent.id}/orders`, { body })).toMatchObject({ status: 400 });
    }
    expect(await orders(agent, 1)).toEqual([]);
    const forAgents = partnerRoutes.filter(({ operation }) =>
      JSON.stringify(operation.security ?? []).includes('deviceKey'),
    );
    // What an agent hears from the service at all.
    expect(forAgents.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /devices/self/reports',
      'GET /devices/self/plan',
      'GET /devices/self/heads',
    ]);
  });

  test('is signed for that agent alone, and good for an hour', async () => {
    const [agent, other] = [await enrolledAgent(site), await enrolledAgent(site)];
    await give(agent);
    expect(await orders(other, 1)).toEqual([]);
    const [order = ''] = await orders(agent, 1);
    expect(await accepts(agent, order)).toBe(true);
    expect(await accepts(other, order)).toBe(false);
    site.store.clock.jump(60 * MINUTE - 1_000);
    expect(await accepts(agent, order)).toBe(true);
    site.store.clock.jump(1_000);
    expect(await accepts(agent, order)).toBe(false);
    expect(await orders(agent, 2)).toEqual([]);
  });

  test('cannot be forged, and no other document of the service passes for an order', async () => {
    const agent = await enrolledAgent(site);
    await give(agent);
    const [order = ''] = await orders(agent, 1);
    const [head = '', body = '', signature = ''] = order.split('.');
    const claims: Readonly<Record<string, unknown>> = JSON.parse(Buffer.from(body, 'base64url').toString());
    const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const later = encoded({ ...claims, exp: Number(claims['exp']) + 86_400 });
    const other = keysFrom(randomBytes(32)).signing;
    const byOther = await new CompactSign(Buffer.from(JSON.stringify(claims)))
      .setProtectedHeader({ alg: 'EdDSA', typ: 'holdfast-order+jwt', kid: site.keys.signing.kid })
      .sign(other.privateKey);
    const raw = sign(null, Buffer.from(`${head}.${later}`), other.privateKey).toString('base64url');
    const { data } = await ask('GET', '/devices/self/plan', { key: agent.key });
    const forged = [
      `${head}.${later}.${signature}`,
      `${head}.${later}.${raw}`,
      `${encoded({ alg: 'none', typ: 'holdfast-order+jwt' })}.${body}.`,
      byOther,
      String(data['document']),
    ];
    for (const document of forged) expect(await accepts(agent, document)).toBe(false);
    expect(await accepts(agent, order)).toBe(true);
  });

  test('is known by its id, stays the same document, and goes away once the agent has it', async () => {
    const agent = await enrolledAgent(site);
    const { data } = await give(agent);
    const [first, again] = [await orders(agent, 1), await orders(agent, 2)];
    expect(again).toEqual(first);
    const other = await enrolledAgent(site);
    // Another device cannot take it in its place.
    await orders(other, 1, [String(data['id'])]);
    expect(await orders(agent, 3)).toEqual(first);
    expect(await orders(agent, 4, [String(data['id'])])).toEqual([]);
    // A report that was recorded and is sent again brings nothing back.
    expect(await orders(agent, 1)).toEqual([]);
  });

  test('is in the audit log with who asked and from where, which nobody can change', async () => {
    const agent = await enrolledAgent(site);
    const { data } = await give(agent, 'report');
    const { items } = await site.stores.audit.list(site.partnerId, { limit: 1 });
    expect(items).toMatchObject([
      {
        action: 'order.created',
        target: data['id'],
        actor: { name: 'api', keyId: expect.stringMatching(/^key_/), ip: '127.0.0.1' },
        before: null,
        after: { device_id: agent.id, order: 'report' },
      },
    ]);
    await expect(site.store.database().reader.deleteFrom('audit_log').execute()).rejects.toThrow(
      /append-only/,
    );
  });

  test('does not include taking the plan to nothing: suspended, it still says what the customer has', async () => {
    const agent = await enrolledAgent(site);
    await ask('POST', `/customers/${agent.customerId}/suspend`);
    await ask('PATCH', `/customers/${agent.customerId}`, { body: { plan_id: PLAN.trial } });
    const { data } = await ask('GET', '/devices/self/plan', { key: agent.key });
    const [, body = ''] = String(data['document']).split('.');
    expect(JSON.parse(Buffer.from(body, 'base64url').toString())).toMatchObject({
      status: 'suspended',
      plan: { slug: 'free_trial', desktop_requests_per_hour: 100 },
    });
  });
});
