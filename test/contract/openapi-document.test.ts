/** docs/api/desktop.yaml agrees with the registry of error codes and with itself; test/contract/documented-routes.test.ts holds the routes against it. */
import { describe, expect, test } from 'vitest';
import { ERROR_CODES, isErrorCode } from '../../src/api/wire/error-codes.ts';
import {
  type OpenApiSchema,
  dereference,
  desktopDocument,
  documentedRoutes as documented,
  eventData,
  faultsOf,
  judge,
} from '../support/openapi-judge.ts';

/** Codes of the Partner API. */
const OF_OTHERS: readonly string[] = [
  'ENROLLMENT_TOKEN_INVALID',
  'INVALID_WEBHOOK_URL',
  'INVALID_API_KEY',
  'PARTNER_SUSPENDED',
  'CUSTOMER_NOT_FOUND',
  'PLAN_NOT_FOUND',
  'WEBHOOK_NOT_FOUND',
  'DEVICE_NOT_FOUND',
  'DELIVERY_NOT_FOUND',
  'CUSTOMER_EXISTS',
  'API_KEY_EXISTS',
];

describe('the document', () => {
  test('knows every error code that a reply can have, at its status, and no other', () => {
    const told = new Map<string, Set<number>>();
    for (const { operation } of documented) {
      for (const [status, response] of Object.entries(operation.responses)) {
        if (Number(status) < 400) continue;
        const text = JSON.stringify(dereference(response).content);
        for (const [, list = ''] of text.matchAll(/"code":\{"(?:enum|const)":(\[[^\]]*\]|"[^"]*")\}/g)) {
          for (const code of [JSON.parse(list)].flat() as readonly string[]) {
            told.set(code, (told.get(code) ?? new Set()).add(Number(status)));
          }
        }
      }
    }
    for (const [code, statuses] of told) {
      expect([code, isErrorCode(code) ? [ERROR_CODES[code].status] : null]).toEqual([code, [...statuses]]);
    }
    const known = Object.entries(ERROR_CODES).filter(([, { status }]) => status !== null);
    const untold = known.map(([code]) => code).filter((code) => !told.has(code));
    expect(untold.filter((code) => !OF_OTHERS.includes(code))).toEqual([]);
  });

  test('refuses unknown fields in every object whose fields it names', () => {
    const open: string[] = [];
    const visit = (value: unknown, place: string): void => {
      if (typeof value !== 'object' || value === null) return;
      const { type, properties, additionalProperties } = value as OpenApiSchema;
      const isObject = [type].flat().includes('object');
      if (isObject && properties !== undefined && additionalProperties !== false) open.push(place);
      for (const [name, part] of Object.entries(value)) visit(part, `${place}/${name}`);
    };
    visit(desktopDocument, '');
    expect(open).toEqual([]);
  });

  test('shows examples that its own schemas allow', () => {
    const shown = documented.flatMap(({ operation }) => [
      ...Object.entries(operation.requestBody?.content ?? {}),
      ...Object.values(operation.responses).flatMap((response) =>
        Object.entries(dereference(response).content ?? {}),
      ),
    ]);
    const examples = shown.flatMap(([media, content]) => {
      const { schema, examples: given = {} } = content as {
        readonly schema: OpenApiSchema;
        readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
      };
      return Object.values(given).flatMap(({ value }) => [
        { media, faults: faultsOf(schema, value) },
        // What the lines of an event stream carry has a schema of its own.
        ...('contentSchema' in schema && typeof value === 'string' ? eventData(value) : []).map((data) => ({
          media: 'event',
          faults: faultsOf(schema['contentSchema'] as OpenApiSchema, data),
        })),
      ]);
    });
    expect(examples.filter(({ faults }) => faults.length > 0)).toEqual([]);
    const medias = examples.map(({ media }) => media);
    expect(medias).toEqual(expect.arrayContaining(['application/json', 'text/event-stream', 'event']));
  });

  test('uses everything that it defines, and defines everything that it uses', () => {
    const used = new Set<string>();
    const visit = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return;
      if ('$ref' in value) {
        dereference(value);
        used.add(String(value.$ref));
      }
      for (const part of Object.values(value)) visit(part);
    };
    visit(desktopDocument);
    const { securitySchemes: _schemes, ...components } = desktopDocument.components as Readonly<
      Record<string, object>
    >;
    const defined = Object.entries(components).flatMap(([kind, parts]) =>
      Object.keys(parts).map((name) => `#/components/${kind}/${name}`),
    );
    expect([...used].sort()).toEqual(defined.sort());
  });
});

describe('the judge', () => {
  const meta = { request_id: 'r', timestamp: '2026-11-21T16:40:00.000Z' };
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'x-request-id': 'r',
    'x-ratelimit-limit': '100',
    'x-ratelimit-remaining': '99',
    'x-ratelimit-reset': '1700000000',
  };
  const data = { items: [], has_more: false, next_cursor: null };
  const good = { status: 200, headers, text: JSON.stringify({ success: true, data, meta }) };

  test('lets a good reply pass', () => {
    judge('GET', '/v1/backup?limit=5', good);
  });

  test.each([
    [
      'a field too many',
      { ...good, text: JSON.stringify({ success: true, data: { ...data, x: 1 }, meta }) },
      'x',
    ],
    [
      'a field too few',
      { ...good, text: JSON.stringify({ success: true, data: { items: [] }, meta }) },
      'has_more',
    ],
    [
      'a wrong type',
      { ...good, text: JSON.stringify({ success: true, data: { ...data, has_more: 0 }, meta }) },
      'boolean',
    ],
    [
      'a missing header',
      { ...good, headers: { ...headers, 'x-ratelimit-reset': undefined } },
      'X-RateLimit-Reset',
    ],
    ['a header of the wrong form', { ...good, headers: { ...headers, 'x-ratelimit-reset': 'soon' } }, 'soon'],
    ['another media type', { ...good, headers: { ...headers, 'content-type': 'text/html' } }, 'media type'],
    ['a status that is not foreseen', { ...good, status: 201 }, 'no such reply'],
    [
      'an error code of another route',
      {
        ...good,
        status: 400,
        text: JSON.stringify({
          success: false,
          error: { code: 'INVALID_TARGET', message: 'x', details: {} },
          meta,
        }),
      },
      'code',
    ],
  ])('refuses %s', (_what, reply, text) => {
    expect(() => judge('GET', '/v1/backup', reply)).toThrow(text);
  });
});
