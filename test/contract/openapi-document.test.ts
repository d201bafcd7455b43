/** docs/api/desktop.yaml, written by hand, agrees with the routes of the server and with itself. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ERROR_CODES, isErrorCode } from '../../src/api/wire/error-codes.ts';
import type { RouteEntry } from '../../src/api/framework/route-table.ts';
import { type ApiServer, createApiServer } from '../../src/api/server.ts';
import { openStateDatabase, type StateDatabase } from '../../src/db/state-database.ts';
import { testAgent, testSettings } from '../support/api-site.ts';
import { testSettingsFile } from '../support/settings-file.ts';
import { manualClock } from '../support/manual-clock.ts';
import {
  type DocumentedRoute,
  type OpenApiSchema,
  dereference,
  desktopDocument,
  documentedRoutes as documented,
  faultsOf,
  judge,
} from '../support/openapi-judge.ts';

let directory: string;
let state: StateDatabase;
let server: ApiServer;

beforeAll(async () => {
  directory = mkdtempSync(path.join(tmpdir(), 'holdfast-document-'));
  const clock = manualClock();
  state = openStateDatabase(path.join(directory, 'state.db'), clock);
  server = await createApiServer({
    agent: testAgent(clock),
    state,
    clock,
    settings: () => testSettings('pro'),
    settingsFile: testSettingsFile(directory),
    stateDirectory: directory,
    stores: () => [],
    version: '1.0.0',
    metrics: async () => ({ type: 'text/plain', text: '' }),
  });
});

afterAll(async () => {
  await server.close();
  state.close();
  rmSync(directory, { recursive: true, force: true });
});

const named = documented.map((route) => ({ ...route, name: `${route.method} ${route.path}` }));

/** The entry of the server for a documented route, under one prefix. */
function served({ method, path: template, versioned }: DocumentedRoute, prefix = '/v1'): RouteEntry {
  const url = (versioned ? prefix : '') + template.replaceAll(/\{(\w+)\}/g, ':$1');
  const found = server.routes.entries.find((entry) => entry.method === method && entry.url === url);
  if (found === undefined) throw new Error(`the server has no ${method} ${url}`);
  return found;
}

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

/** What is compared of a schema: names and kinds of fields, which are needed, and the bounds of numbers and lists. */
function shapeOf(given: unknown, bounds: boolean): unknown {
  if (given === undefined) return undefined;
  const schema: OpenApiSchema = dereference(given as OpenApiSchema);
  const members = (schema['anyOf'] ?? schema['oneOf']) as readonly unknown[] | undefined;
  if (members !== undefined) return unionOf(members.map((member) => shapeOf(member, bounds)));
  const types = [(schema['type'] ?? []) as string | readonly string[]].flat();
  if (types.includes('null') && types.length > 1) {
    const values = (schema['enum'] as readonly unknown[] | undefined)?.filter((value) => value !== null);
    const rest = { ...schema, type: types.find((type) => type !== 'null'), ...(values && { enum: values }) };
    return unionOf([shapeOf(rest, bounds), 'null']);
  }
  const [type] = types;
  if (schema['const'] !== undefined) return { values: [schema['const']] };
  if (schema['enum'] !== undefined) return { values: [...(schema['enum'] as readonly string[])].sort() };
  const limits = bounds ? pick(schema, ['minimum', 'maximum', 'minItems', 'maxItems']) : {};
  if (type === 'array') return { items: shapeOf(schema['items'], bounds), ...limits };
  if (type !== 'object') return Object.keys(limits).length === 0 ? type : { type, ...limits };
  const properties = Object.entries((schema['properties'] ?? {}) as Readonly<Record<string, unknown>>);
  return {
    fields: Object.fromEntries(properties.map(([name, value]) => [name, shapeOf(value, bounds)])),
    required: [...((schema['required'] ?? []) as readonly string[])].sort(),
  };
}

function unionOf(shapes: readonly unknown[]): unknown {
  const values = shapes.map((shape) => (shape as { readonly values?: readonly unknown[] }).values);
  // Constants side by side are an enumeration.
  if (values.every((list) => list !== undefined)) return { values: values.flat().map(String).sort() };
  return { anyOf: shapes.map((shape) => JSON.stringify(shape)).sort() };
}

function pick(schema: OpenApiSchema, names: readonly string[]): object {
  return Object.fromEntries(names.filter((name) => name in schema).map((name) => [name, schema[name]]));
}

describe('every route', () => {
  test('of the document is served under both prefixes, and every route served is in the document', () => {
    const expected = documented.flatMap(({ method, path: template, versioned }) =>
      (versioned ? ['/v1', '/api/v1'] : ['']).map(
        (prefix) => `${method} ${prefix}${template.replaceAll(/\{(\w+)\}/g, ':$1')}`,
      ),
    );
    const entries = server.routes.entries.filter(({ method }) => method !== 'HEAD');
    expect(entries.map(({ method, url }) => `${method} ${url}`).sort()).toEqual([...expected].sort());
    expect(expected.length).toBeGreaterThan(60);
  });

  test.each(named)('$name takes the query parameters of the document', (route) => {
    const schema = served(route).schema.querystring as
      | {
          readonly properties: Readonly<Record<string, OpenApiSchema>>;
          readonly required?: readonly string[];
        }
      | undefined;
    const taken = Object.entries(schema?.properties ?? {}).map(([name, value]) => ({
      name,
      // What has a default is always there in the end.
      required: (schema?.required ?? []).includes(name) && value['default'] === undefined,
      default: value['default'],
      shape: shapeOf(value, true),
    }));
    const told = route.parameters
      .filter((parameter) => parameter.in === 'query')
      .map(({ name, required = false, schema: value }) => ({
        name,
        required,
        default: value['default'],
        shape: shapeOf(value, true),
      }));
    expect(sorted(taken)).toEqual(sorted(told));
  });

  test.each(named)('$name takes the body of the document', (route) => {
    const told = route.operation.requestBody?.content['application/json']?.schema;
    expect(shapeOf(served(route).schema.body, true)).toEqual(shapeOf(told, true));
  });

  test.each(named.filter(({ path: template, versioned }) => versioned && template !== '/status'))(
    '$name answers with the data of the document',
    (route) => {
      const given = (served(route).schema.response ?? {}) as Readonly<Record<string, unknown>>;
      const told = Object.entries(route.operation.responses)
        .filter(([status]) => status.startsWith('2'))
        .map(([status, response]): [string, unknown] => {
          const schema = dereference(response).content?.['application/json']?.schema;
          const { data } = (schema?.['properties'] ?? {}) as { readonly data?: unknown };
          return [status, shapeOf(data, false)];
        })
        .filter(([, shape]) => shape !== undefined);
      const shapes = Object.entries(given).map(([status, data]) => [status, shapeOf(data, false)]);
      expect(shapes).toEqual(told);
    },
  );

  test.each(named)('$name needs a token if the document says so', (route) => {
    const isPublic = route.operation.security?.some((way) => Object.keys(way).length === 0) ?? false;
    const open = route.operation.security?.length === 0 || isPublic;
    expect(served(route).facts.scope).toBe(open ? 'public' : 'api');
  });
});

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

  test('gives every operation a name of its own and errors to expect', () => {
    const ids = documented.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { operation } of documented) {
      expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(['403', '429', '500']));
    }
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
      return Object.values(given).map(({ value }) => ({ media, faults: faultsOf(schema, value) }));
    });
    expect(examples.filter(({ faults }) => faults.length > 0)).toEqual([]);
    expect(new Set(examples.map(({ media }) => media))).toContain('application/json');
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

function sorted<T extends { readonly name: string }>(list: readonly T[]): readonly T[] {
  return [...list].sort((a, b) => (a.name < b.name ? -1 : 1));
}
