/** docs/api/partner.yaml agrees with what was decided and with itself; test/contract/documented-routes.test.ts holds the routes against it. */
import { describe, expect, test } from 'vitest';
import { ERROR_CODES, isErrorCode } from '../../src/api/wire/error-codes.ts';
import { webhookHeaders } from '../../src/base/web/standard-webhooks.ts';
import { newWebhookSecret } from '../../src/partner/webhooks/secrets.ts';
import type { OpenApiSchema } from '../support/openapi-documents.ts';
import {
  dereference,
  judgePartner,
  partnerDocument,
  partnerFaultsOf,
  partnerRoutes,
} from '../support/partner-judge.ts';

const named = partnerRoutes.map((route) => ({ ...route, name: `${route.method} ${route.path}` }));
const schemaOf = (name: string): OpenApiSchema => ({ $ref: `#/components/schemas/${name}` });

/** Sections 4 and 5 of the decisions, with the orders to devices and the usage of all customers. */
const ROUTES: Readonly<Record<'apiKey' | 'deviceKey' | 'none', readonly string[]>> = {
  apiKey: [
    'GET /account',
    'POST /customers',
    'GET /customers',
    'GET /customers/{id}',
    'PATCH /customers/{id}',
    'DELETE /customers/{id}',
    'POST /customers/{id}/suspend',
    'POST /customers/{id}/resume',
    'POST /customers/{id}/enrollment-tokens',
    'GET /customers/{id}/devices',
    'GET /customers/{id}/usage',
    'GET /devices/{id}',
    'DELETE /devices/{id}',
    'POST /devices/{id}/orders',
    'GET /plans',
    'GET /plans/{id}',
    'GET /usage',
    'GET /usage/customers',
    'POST /webhooks',
    'GET /webhooks',
    'GET /webhooks/{id}',
    'PATCH /webhooks/{id}',
    'DELETE /webhooks/{id}',
    'POST /webhooks/{id}/rotate-secret',
    'POST /webhooks/{id}/test',
    'GET /webhooks/{id}/deliveries',
    'POST /webhooks/{id}/deliveries/{delivery_id}/retry',
    'GET /events',
  ],
  deviceKey: ['POST /devices/self/reports', 'GET /devices/self/plan', 'GET /devices/self/heads'],
  none: [
    'POST /enroll',
    'GET /changelog',
    'GET /error-codes',
    'GET /healthz',
    'GET /readyz',
    'GET /metrics',
    'GET /openapi.json',
    'GET /docs',
  ],
};

const BOTH_FORMS = JSON.stringify([{ apiKey: [] }, { apiKeyHeader: [] }]);

describe('the routes', () => {
  test('are those that were decided, with the key that each needs', () => {
    const byKey = { apiKey: new Set<string>(), deviceKey: new Set<string>(), none: new Set<string>() };
    for (const { name, operation } of named) {
      const security = JSON.stringify(operation.security ?? partnerDocument.security);
      if (security === BOTH_FORMS) byKey.apiKey.add(name);
      else if (security === JSON.stringify([{ deviceKey: [] }])) byKey.deviceKey.add(name);
      else if (security === '[]') byKey.none.add(name);
    }
    expect(byKey).toEqual({
      apiKey: new Set(ROUTES.apiKey),
      deviceKey: new Set(ROUTES.deviceKey),
      none: new Set(ROUTES.none),
    });
    expect(named).toHaveLength(Object.values(ROUTES).flat().length);
  });

  test('give error codes of the registry alone, each under its own status', () => {
    const seen = new Set<string>();
    for (const { name, operation } of named) {
      for (const [status, reference] of Object.entries(operation.responses)) {
        const text = JSON.stringify(dereference(reference).content ?? {});
        for (const [, list = ''] of text.matchAll(/"code":\{"(?:const|enum)":(\[.*?\]|".*?")\}/g)) {
          for (const code of [JSON.parse(list) as string | readonly string[]].flat()) {
            seen.add(code);
            expect(isErrorCode(code), `${name} ${status} ${code}`).toBe(true);
            if (isErrorCode(code)) expect([code, ERROR_CODES[code].status]).toEqual([code, Number(status)]);
          }
        }
      }
    }
    expect(seen.size).toBeGreaterThan(25);
  });
});

const PAGE = { items: [], has_more: false, next_cursor: null };

describe('the judge', () => {
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'x-request-id': 'req_01JD0K7W3V8X5Q2N6M4T9R1B0C',
    'x-ratelimit-limit': '120',
    'x-ratelimit-remaining': '119',
    'x-ratelimit-reset': '1795228268',
  };
  const meta = { request_id: 'req_01JD0K7W3V8X5Q2N6M4T9R1B0C', timestamp: '2026-11-21T16:40:00.000Z' };
  const judge =
    (target: string, status: number, body: object, more: object = {}) =>
    (): void => {
      const text = JSON.stringify({ ...body, meta });
      judgePartner('GET', `/api/partner/v1${target}`, { status, headers: { ...headers, ...more }, text });
    };
  const limited = {
    success: false,
    error: { code: 'RATE_LIMIT_EXCEEDED', message: 'Too many requests', details: {} },
  };

  test('lets good replies pass', () => {
    judge('/customers?limit=5', 200, { success: true, data: PAGE })();
    judge('/account', 429, limited, { 'retry-after': '7' })();
    judge('/nothing', 404, {
      success: false,
      error: { code: 'NOT_FOUND', message: 'There is nothing', details: {} },
    })();
  });

  test('names what is wrong', () => {
    expect(judge('/account', 429, limited)).toThrow('Retry-After is missing');
    expect(judge('/account', 429, limited, { 'retry-after': '0' })).toThrow('Retry-After: 0');
    expect(judge('/customers', 200, { success: true, data: { items: [] } })).toThrow('has_more');
    expect(judge('/customers', 200, { success: true, data: { ...PAGE, total: 1 } })).toThrow('total');
    expect(judge('/customers', 418, limited)).toThrow('no such reply');
    expect(judge('/customers', 200, { success: true, data: PAGE }, { 'x-ratelimit-reset': '' })).toThrow(
      'X-RateLimit-Reset',
    );
  });
});

const KINDS = [
  ...['created', 'updated', 'suspended', 'resumed', 'deleted', 'plan_changed'].map(
    (what) => `customer.${what}`,
  ),
  ...['completed', 'warning', 'failed', 'missed'].map((what) => `backup.${what}`),
  ...['completed', 'failed'].map((what) => `restore.${what}`),
  'usage.threshold_reached',
  ...['enrolled', 'removed'].map((what) => `device.${what}`),
  ...['regenerated', 'revoked'].map((what) => `api_key.${what}`),
  ...['disabled', 'test'].map((what) => `webhook.${what}`),
];

interface WebhookBody {
  readonly schema: OpenApiSchema;
  readonly examples: Readonly<Record<'event', { readonly value: { readonly data: object } }>>;
}

function webhookBody(kind: string): WebhookBody {
  const content = partnerDocument.webhooks?.[kind]?.post?.requestBody?.content['application/json'];
  if (content === undefined) throw new Error(`partner.yaml has no webhook ${kind}`);
  return content as unknown as WebhookBody;
}

describe('the webhooks', () => {
  test('are those that were decided, and the kinds that can be asked for', () => {
    expect(Object.keys(partnerDocument.webhooks ?? {}).toSorted()).toEqual(KINDS.toSorted());
    expect(partnerDocument.components.schemas['EventType']?.['enum']).toEqual(KINDS);
  });

  test.each(KINDS)('%s has an example that is one, and that the list of events takes too', (kind) => {
    const { schema, examples } = webhookBody(kind);
    const { value } = examples.event;
    expect(partnerFaultsOf(schema, value)).toEqual([]);
    expect(partnerFaultsOf(schema, { ...value, type: 'other.kind' })).not.toEqual([]);
    expect(partnerFaultsOf(schema, { ...value, data: { ...value.data, path: '/home/ana' } })).not.toEqual([]);
    const event = {
      id: 'evt_01JD0K7W3V8X5Q2N6M4T9R1B0C',
      seq: 1,
      type: kind,
      timestamp: '2026-11-21T16:40:00.000Z',
      customer_id: null,
      device_id: null,
      data: value.data,
    };
    expect(partnerFaultsOf(schemaOf('Event'), event)).toEqual([]);
  });

  test.each([1, 2])('carry the headers that %i secrets make', (count) => {
    const secrets = Array.from({ length: count }, () => newWebhookSecret().reveal());
    const message = { id: 'evt_01JD0K7W3V8X5Q2N6M4T9R1B0C', sentAt: 1_795_228_268_000, body: '{}' };
    const sent = webhookHeaders(message, secrets);
    const parameters = partnerDocument.webhooks?.['webhook.test']?.post?.parameters?.map(dereference) ?? [];
    expect(parameters.map(({ name }) => name)).toEqual([
      'webhook-id',
      'webhook-timestamp',
      'webhook-signature',
    ]);
    for (const { name, schema } of parameters) expect(partnerFaultsOf(schema, sent[name])).toEqual([]);
    const shown = partnerDocument.components.schemas['WebhookWithSecret']?.['properties'] as
      | Readonly<Record<string, OpenApiSchema>>
      | undefined;
    expect(partnerFaultsOf(shown?.['secret'] ?? { not: {} }, secrets[0])).toEqual([]);
  });
});

describe('what devices report', () => {
  const backup = {
    kind: 'backup',
    status: 'completed',
    finished_at: '2026-11-21T02:31:07.120Z',
    duration_seconds: 73,
    files_backed_up: 120_412,
    size_bytes: 301_200_000_000,
    uploaded_bytes: 184_000_000,
    error_code: null,
  };
  const report = {
    seq: 1,
    agent_version: '1.0.0',
    expected_every_seconds: 86_400,
    storage: null,
    results: [],
  };
  const faults = (fields: object): readonly string[] =>
    partnerFaultsOf(schemaOf('Report'), { ...report, ...fields });

  test('is numbered, and holds at most a thousand results', () => {
    expect(faults({})).toEqual([]);
    expect(faults({ results: Array.from({ length: 1000 }, () => backup) })).toEqual([]);
    expect(faults({ results: Array.from({ length: 1001 }, () => backup) })).not.toEqual([]);
    expect(faults({ seq: 0 })).not.toEqual([]);
    expect(partnerFaultsOf(schemaOf('Report'), { ...report, seq: undefined })).not.toEqual([]);
  });

  test.each(['path', 'source', 'destination', 'snapshot_id', 'chunk_id', 'key', 'error', 'message', 'files'])(
    'has no place for %s',
    (field) => {
      expect(faults({ [field]: 'canary' })).not.toEqual([]);
      expect(faults({ results: [{ ...backup, [field]: 'canary' }] })).not.toEqual([]);
      expect(faults({ storage: { bytes: 1, at: '2026-11-21T02:31:07Z', [field]: 'canary' } })).not.toEqual(
        [],
      );
    },
  );

  test('tells of snapshot heads by number and hash alone, and of orders by id', () => {
    const id = 'ab'.repeat(16);
    const head = { repository_id: id, writer: id, seq: 1, hash: 'cd'.repeat(32) };
    expect(faults({ heads: [head], orders_taken: ['ord_01JD0K7W3V8X5Q2N6M4T9R1B0C'] })).toEqual([]);
    expect(faults({ heads: Array.from({ length: 33 }, () => head) })).not.toEqual([]);
    for (const wrong of [{ hash: 'latest' }, { seq: 0 }, { writer: 'front-desk' }, { path: '/home/ana' }])
      expect(faults({ heads: [{ ...head, ...wrong }] })).not.toEqual([]);
    expect(faults({ orders_taken: ['canary'] })).not.toEqual([]);
  });

  test('has no free text: what is text has a form', () => {
    const canary = '/home/ana/canary';
    expect(faults({ agent_version: canary })).not.toEqual([]);
    expect(faults({ results: [{ ...backup, kind: canary }] })).not.toEqual([]);
    expect(faults({ results: [{ ...backup, status: canary }] })).not.toEqual([]);
    expect(faults({ results: [{ ...backup, finished_at: canary }] })).not.toEqual([]);
    expect(faults({ results: [{ ...backup, error_code: canary }] })).not.toEqual([]);
  });

  test('is answered with orders that do no harm', () => {
    const order = { jti: 'ord_01JD0K7W3V8X5Q2N6M4T9R1B0C', aud: 'dev_01JD0K7W3V8X5Q2N6M4T9R1B0D' };
    const times = { iat: 1_795_228_268, exp: 1_795_231_868 };
    const faultsOfOrder = (kind: string): readonly string[] =>
      partnerFaultsOf(schemaOf('Order'), { ...order, ...times, order: kind });
    expect(partnerDocument.components.schemas['OrderKind']?.['enum']).toEqual(['run_backup', 'report']);
    for (const kind of ['run_backup', 'report']) expect(faultsOfOrder(kind)).toEqual([]);
    for (const kind of ['prune', 'forget', 'delete', 'restore', 'set_retention'])
      expect(faultsOfOrder(kind)).not.toEqual([]);
  });
});
