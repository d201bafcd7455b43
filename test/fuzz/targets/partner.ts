/** What the Partner service and its partners send: signed plans and orders, addresses. */
import { generateKeyPairSync, sign, verify } from 'node:crypto';
import { ApiError } from '../../../src/api/wire/api-error.ts';
import { HoldfastError } from '../../../src/base/errors.ts';
import { partnerAddress } from '../../../src/enrollment/ask-partner.ts';
import { grantedPlan, heldBack, refreshAt } from '../../../src/enrollment/plan.ts';
import { readOrder, readPlan, serviceKeyOf, type ServiceKey } from '../../../src/enrollment/signed.ts';
import { parseTarget } from '../../../src/partner/webhooks/target.ts';
import { changeJson, judged, need, parsed, requireEqual, textOf } from '../structured.ts';
import type { FuzzTarget, TargetTable } from '../target.ts';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const key: ServiceKey = {
  kty: 'OKP',
  crv: 'Ed25519',
  x: String(publicKey.export({ format: 'jwk' }).x),
  kid: 'one',
};
const DEVICE = `dev_${'0'.repeat(26)}`;
const NOW = 1_800_000_000;
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

/** The input is `[header, claims]` in JSON, or claims alone; both are signed with the key of the service. */
function jws(input: Buffer, type: string): string {
  let header: unknown = { alg: 'EdDSA', kid: 'one', typ: type };
  let claims = textOf(input);
  try {
    const value: unknown = JSON.parse(claims);
    if (Array.isArray(value) && value.length === 2) {
      [header, claims] = [value[0] as unknown, JSON.stringify(value[1] as unknown) ?? 'null'];
    }
  } catch {
    // Signed all the same: what is no JSON may be signed.
  }
  const text = `${encoded(JSON.stringify(header) ?? '')}.${encoded(claims)}`;
  return `${text}.${sign(null, Buffer.from(text), privateKey).toString('base64url')}`;
}

const encoded = (text: string): string => Buffer.from(text).toString('base64url');

/** Whether node:crypto alone finds the signature right. */
function isSigned(document: string): boolean {
  const [head = '', body = '', signature = ''] = document.split('.');
  return verify(null, Buffer.from(`${head}.${body}`), publicKey, Buffer.from(signature, 'base64url'));
}

function signed<T>(
  claims: object,
  type: string,
  read: (text: string) => Promise<T>,
  look: (document: T) => void,
): () => FuzzTarget {
  const header = { alg: 'EdDSA', kid: 'one', typ: type };
  const whole = JSON.stringify([header, claims]);
  return () => ({
    files: ['src/enrollment/signed.ts'],
    // The second is the document itself.
    seeds: [Buffer.from(whole), Buffer.from(jws(Buffer.from(JSON.stringify(claims)), type))],
    maxBytes: 16_384,
    words: ['.', '"alg":"none"', '"crit":["x"]', '"b64":false', '"jwk":{}', 'eyJ', '==', '{', '[', 'null'],
    change: changeJson,
    run: async (input) => {
      // Text with dots is taken as the document, anything else is signed.
      const isWhole = /^[\w.=-]*$/.test(textOf(input)) && input.includes(0x2e);
      const document = isWhole ? textOf(input) : jws(input, type);
      let value: T;
      try {
        value = await read(document);
      } catch (error) {
        if (error instanceof HoldfastError && error.code === 'PARTNER_REPLY_INVALID') return 'refused';
        throw error;
      }
      need(isSigned(document), 'nobody signed it');
      look(value);
      return 'taken';
    },
  });
}

export const PARTNER: TargetTable<'partner'> = {
  plan: signed(
    PLAN,
    'holdfast-plan+jwt',
    async (text) => await readPlan(text, key, DEVICE),
    (plan) => {
      need(plan.aud === DEVICE && plan.exp > plan.iat, 'it is for another device or time');
      need(Number.isFinite(refreshAt(plan)), 'when it is fetched again');
      const granted = grantedPlan(plan, NOW * 1_000);
      need(granted.requestsPerHour >= 1 && granted.requestsPerHour <= 1_000_000, 'the requests granted');
      heldBack(plan, { whileSuspended: 'wait', afterTrial: 'wait' }, NOW * 1_000);
    },
  ),
  order: signed(
    ORDER,
    'holdfast-order+jwt',
    async (text) => await readOrder(text, key, DEVICE, NOW * 1_000),
    (order) => {
      need(['run_backup', 'report'].includes(order.order), 'an order that nobody knows');
      need(order.exp > NOW && order.exp <= NOW + 300 + 3_600, 'its time');
    },
  ),
  'service-key': () => ({
    files: ['src/enrollment/signed.ts'],
    seeds: [Buffer.from(JSON.stringify(key))],
    maxBytes: 4_096,
    change: changeJson,
    run: (input) => {
      let value: unknown;
      try {
        value = JSON.parse(textOf(input));
      } catch {
        return 'refused';
      }
      const found = serviceKeyOf(value);
      if (found === undefined) return 'refused';
      requireEqual(serviceKeyOf(found), found, 'the key');
      return 'taken';
    },
  }),
  'webhook-target': () => ({
    files: ['src/partner/webhooks/target.ts', 'src/enrollment/ask-partner.ts'],
    seeds: ['https://hooks.example.com/a?b=c', 'https://xn--bcher-kva.example:443', 'https://1.2.3.4/'].map(
      (text) => Buffer.from(text),
    ),
    maxBytes: 4_096,
    words: [
      'https://',
      '@',
      '#',
      ':443',
      '[::1]',
      '0x7f.1',
      '127.1',
      '%00',
      '\\',
      '\u3002',
      '。',
      '.internal',
      'localhost',
    ],
    run: (input) => {
      const text = textOf(input);
      parsed(
        () => partnerAddress(text),
        (error) => error instanceof HoldfastError,
      );
      return judged(
        parsed(
          () => parseTarget(text, []),
          (error) => error instanceof ApiError && error.code === 'INVALID_WEBHOOK_URL',
        ),
        ({ url }) => {
          const { hostname } = url;
          need(url.protocol === 'https:' && url.port === '', 'another protocol or port');
          need(url.username === '' && url.password === '' && url.hash === '', 'more than an address');
          need(!/^[\d.]+$|^\[|(?:^|\.)(?:localhost|internal|local)\.?$/.test(hostname), 'a local address');
        },
      );
    },
  }),
};
