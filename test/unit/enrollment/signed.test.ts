import { createHmac, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { readOrder, readPlan, serviceKeyOf, type ServiceKey } from '../../../src/enrollment/signed.ts';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const stranger = generateKeyPairSync('ed25519').privateKey;
const x = String(publicKey.export({ format: 'jwk' }).x);
const key: ServiceKey = { kty: 'OKP', crv: 'Ed25519', x, kid: 'one' };
const DEVICE = `dev_${'0'.repeat(26)}`;
const NOW = 1_800_000_000;

function encoded(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

/** Made by hand, so that what no library would make can be. */
function jws(claims: unknown, header: object, by: KeyObject = privateKey): string {
  const text = `${encoded({ alg: 'EdDSA', kid: 'one', ...header })}.${encoded(claims)}`;
  return `${text}.${sign(null, Buffer.from(text), by).toString('base64url')}`;
}

const PLAN = {
  aud: DEVICE,
  iat: NOW,
  exp: NOW + 86_400,
  grace_until: NOW + 864_000,
  revision: 'r1',
  plan: { slug: 'pro', desktop_requests_per_hour: 1_000, storage_limit_bytes: 5 },
  status: 'active',
  trial_ends_at: null,
  expected_reports_seconds: 900,
};
const ORDER = { jti: `ord_${'0'.repeat(26)}`, aud: DEVICE, iat: NOW, exp: NOW + 3_600, order: 'report' };
const PLAN_TYPE = { typ: 'holdfast-plan+jwt' };
const ORDER_TYPE = { typ: 'holdfast-order+jwt' };
const INVALID = { code: 'PARTNER_REPLY_INVALID' };

describe('a plan', () => {
  test('counts when the pinned key signed it for this device', async () => {
    expect(await readPlan(jws(PLAN, PLAN_TYPE), key, DEVICE)).toEqual(PLAN);
    // A newer service may say more.
    const more = { ...PLAN, plan: { ...PLAN.plan, seats: 5 }, colour: 'blue' };
    expect(await readPlan(jws(more, PLAN_TYPE), key, DEVICE)).toEqual(more);
  });

  const secret = Buffer.from(x, 'base64url');
  const hs256 = `${encoded({ alg: 'HS256', kid: 'one', ...PLAN_TYPE })}.${encoded(PLAN)}`;
  test.each([
    ['signed by somebody else', jws(PLAN, PLAN_TYPE, stranger)],
    ['not signed', `${encoded({ alg: 'none', kid: 'one', ...PLAN_TYPE })}.${encoded(PLAN)}.`],
    [
      'signed with the public key as a secret',
      `${hs256}.${createHmac('sha256', secret).update(hs256).digest('base64url')}`,
    ],
    ['with a key of its own', jws(PLAN, { ...PLAN_TYPE, jwk: stranger.export({ format: 'jwk' }) }, stranger)],
    ['of another type', jws(PLAN, ORDER_TYPE)],
    ['without a type', jws(PLAN, {})],
    ['of another key', jws(PLAN, { ...PLAN_TYPE, kid: 'two' })],
    ['with an extension that must be understood', jws(PLAN, { ...PLAN_TYPE, crit: ['x'], x: 1 })],
    ['for another device', jws({ ...PLAN, aud: `dev_${'1'.repeat(26)}` }, PLAN_TYPE)],
    ['for several devices', jws({ ...PLAN, aud: [DEVICE] }, PLAN_TYPE)],
    ['of an unknown plan', jws({ ...PLAN, plan: { ...PLAN.plan, slug: 'gold' } }, PLAN_TYPE)],
    ['without requests', jws({ ...PLAN, plan: { ...PLAN.plan, desktop_requests_per_hour: 0 } }, PLAN_TYPE)],
    ['of an unknown standing', jws({ ...PLAN, status: 'gone' }, PLAN_TYPE)],
    ['over before it began', jws({ ...PLAN, exp: NOW - 1 }, PLAN_TYPE)],
    ['with a time that is text', jws({ ...PLAN, exp: String(NOW + 5) }, PLAN_TYPE)],
    ['no object', jws('plan', PLAN_TYPE)],
    ['nothing', ''],
    ['cut off', jws(PLAN, PLAN_TYPE).slice(0, -2)],
  ])('that is %s does not', async (_what, text) => {
    await expect(readPlan(text, key, DEVICE)).rejects.toMatchObject(INVALID);
  });
});

describe('an order', () => {
  const read = async (text: string, nowMs = NOW * 1000): Promise<unknown> =>
    await readOrder(text, key, DEVICE, nowMs);

  test('counts when the pinned key signed it for this device and now', async () => {
    expect(await read(jws(ORDER, ORDER_TYPE))).toEqual({ jti: ORDER.jti, exp: ORDER.exp, order: 'report' });
    expect(await read(jws({ ...ORDER, order: 'run_backup' }, ORDER_TYPE))).toMatchObject({
      order: 'run_backup',
    });
  });

  test.each<readonly [string, string]>([
    ['signed by somebody else', jws(ORDER, ORDER_TYPE, stranger)],
    ['a plan', jws(PLAN, PLAN_TYPE)],
    ['for another device', jws({ ...ORDER, aud: `dev_${'1'.repeat(26)}` }, ORDER_TYPE)],
    ['good for more than an hour', jws({ ...ORDER, exp: NOW + 3_601 }, ORDER_TYPE)],
    ['over', jws({ ...ORDER, iat: NOW - 3_600, exp: NOW }, ORDER_TYPE)],
    ['of the future', jws({ ...ORDER, iat: NOW + 400, exp: NOW + 500 }, ORDER_TYPE)],
    ['without a number', jws({ ...ORDER, jti: undefined }, ORDER_TYPE)],
    ['with a further field', jws({ ...ORDER, source: '/etc' }, ORDER_TYPE)],
    ...['forget', 'prune', 'restore', 'delete', 'config', 'run_hook', '', null].map(
      (order) => [`of the kind ${order}`, jws({ ...ORDER, order }, ORDER_TYPE)] as const,
    ),
  ])('that is %s does not', async (_what, text) => {
    await expect(read(text)).rejects.toMatchObject(INVALID);
  });
});

test('a key is an Ed25519 key, whatever else stands beside it', () => {
  expect(serviceKeyOf({ ...key, use: 'sig' })).toEqual(key);
  for (const wrong of [{ ...key, kty: 'oct' }, { ...key, x: 'short' }, { ...key, kid: '' }, null, 'key'])
    expect(serviceKeyOf(wrong)).toBeUndefined();
});
