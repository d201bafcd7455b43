/**
 * The documents of docs/api and the routes of both services say the same: what is in one of them alone fails, whether it is
 * a route, a parameter, a bound, a status or who may ask.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import type { RouteEntry } from '../../src/api/framework/route-table.ts';
import { PREFIXES } from '../../src/api/framework/route.ts';
import { createPartnerApp } from '../../src/partner/http/app.ts';
import { PARTNER_PREFIX } from '../../src/partner/resources/values.ts';
import { openApiSite } from '../support/api-site.ts';
import type { DocumentedRoute, OpenApiJudge } from '../support/openapi-documents.ts';
import { desktop } from '../support/openapi-judge.ts';
import { partnerApiSite } from '../support/partner-api-site.ts';
import { partner } from '../support/partner-judge.ts';
import {
  asFarAsRegistered,
  documentedContract,
  registeredContract,
  registeredRoutes,
} from '../support/route-contracts.ts';

const metrics = async () => await Promise.resolve({ type: 'text/plain', text: '' });

interface Api {
  readonly judge: OpenApiJudge;
  readonly prefixes: readonly string[];
  readonly scopes: Readonly<Record<string, string>>;
  /** As it starts with everything that it can have. */
  readonly served: () => Promise<{ readonly entries: readonly RouteEntry[]; readonly text: string }>;
  /** Refused before anything is known of the request. */
  readonly always: readonly string[];
  /** Where it is reached, as it says itself. */
  readonly baseUrl: string;
}

const APIS: readonly (readonly [string, Api])[] = [
  [
    'desktop',
    {
      judge: desktop,
      prefixes: PREFIXES,
      scopes: { '[{"accessToken":[]}]': 'api', '[]': 'public', '[{},{"accessToken":[]}]': 'public' },
      served: async () => {
        await using site = await openApiSite({ metrics });
        const { text } = await site.call('/openapi.json');
        const { entries } = site.server.routes;
        return { entries, text: text.replaceAll(`http://${site.host}`, 'http://127.0.0.1:7390') };
      },
      always: ['403', '405', '408', '429', '431', '500', '503'],
      baseUrl: 'http://127.0.0.1:7390',
    },
  ],
  [
    'partner',
    {
      judge: partner,
      prefixes: [PARTNER_PREFIX],
      scopes: {
        '[{"apiKey":[]},{"apiKeyHeader":[]}]': 'api',
        '[{"deviceKey":[]}]': 'device',
        '[]': 'public',
      },
      served: async () => {
        await using site = await partnerApiSite();
        const { stores, keys } = site;
        const { clock } = site.store;
        const publicUrl = 'https://backup.example.org';
        const options = { stores, keys, clock, version: '9.8.7', metrics, publicUrl };
        const { app, routes, close } = await createPartnerApp(options);
        const { body: text } = await app.inject('/openapi.json');
        await close();
        return { entries: routes.entries, text };
      },
      always: ['405', '408', '429', '431', '500', '503'],
      baseUrl: 'https://backup.example.org',
    },
  ],
];

describe.each(APIS)('%s.yaml', (_name, { judge, prefixes, scopes, served, always, baseUrl }) => {
  const { document, dereference, routes } = judge;
  const named = routes.map((route) => ({ ...route, name: `${route.method} ${route.path}` }));
  let registered: ReadonlyMap<string, readonly RouteEntry[]>;
  let text: string;

  beforeAll(async () => {
    const found = await served();
    registered = registeredRoutes(found.entries, prefixes);
    ({ text } = found);
  });

  function entryOf(name: string): RouteEntry {
    const entry = registered.get(name)?.[0];
    if (entry === undefined) throw new Error(`nothing is registered as ${name}`);
    return entry;
  }

  test('is what /openapi.json gives out, with the version of the program and the address that it has', () => {
    const given = JSON.parse(text);
    const placed = JSON.stringify({ ...document, info: { ...document.info, version: '9.8.7' } });
    expect(given).toEqual(
      JSON.parse(
        placed.replaceAll(
          /"base_url":\{"default":"[^"]*"/g,
          () => `"base_url":{"default":${JSON.stringify(baseUrl)}`,
        ),
      ),
    );
  });

  test('has every route that is registered, and no other', () => {
    expect([...registered.keys()].sort()).toEqual(named.map(({ name }) => name).sort());
    expect(named.length).toBeGreaterThan(35);
  });

  test.each(named)('$name stands under each prefix, or at the root', ({ name, path, versioned }) => {
    const places = (versioned ? prefixes : ['']).map(
      (prefix) => prefix + path.replaceAll(/\{(\w+)\}/g, ':$1'),
    );
    expect(registered.get(name)?.map(({ url }) => url)).toEqual(places);
  });

  test.each(named)('$name takes and gives under each prefix what the document says', (route) => {
    const told = documentedContract(route, { document, dereference, scopes });
    const entries = registered.get(route.name) ?? [];
    expect(entries).not.toEqual([]);
    for (const taken of entries.map(registeredContract)) {
      const successes = asFarAsRegistered(told.successes, taken.successes);
      expect(taken).toEqual({ ...told, successes });
    }
  });

  test.each(named)('$name is refused with the errors that it can have', (route) => {
    const { method, facts, schema, url } = entryOf(route.name);
    const told = Object.keys(route.operation.responses);
    const isRead = method === 'GET';
    const expected = [
      ...always,
      ...(facts.scope === 'public' ? [] : ['401', '403']),
      ...(route.versioned && schema.querystring !== undefined ? ['400'] : []),
      ...(isRead ? [] : ['400']),
      ...(isRead || method === 'DELETE' ? [] : ['413', '415']),
      ...(method === 'POST' && facts.idempotent !== false ? ['409', '422'] : []),
      ...(url.includes(':') ? ['404'] : []),
    ];
    expect(told).toEqual(expect.arrayContaining(expected));
  });

  test.each(named)('$name refuses a cursor by name where it takes one, and only there', (route) => {
    const takes = route.parameters.some(({ name }) => name === 'cursor');
    const refused = codesOf(route, '400').includes('INVALID_CURSOR');
    expect(refused).toBe(takes);
    expect(route.parameters.some(({ name }) => name === 'limit')).toBe(takes);
  });

  test.each(named)('$name says with each reply what is left of the rate', ({ operation }) => {
    for (const [status, reference] of Object.entries(operation.responses)) {
      if (status === '431') continue;
      const { headers = {} } = dereference(reference);
      const needed = Object.entries(headers).filter(([, header]) => dereference(header).required === true);
      expect(needed.map(([header]) => header)).toEqual(
        expect.arrayContaining([
          'X-Request-Id',
          'X-RateLimit-Limit',
          'X-RateLimit-Remaining',
          'X-RateLimit-Reset',
          ...(status === '429' ? ['Retry-After'] : []),
        ]),
      );
    }
  });

  test('calls each operation by a name of its own, and says in a line what it does', () => {
    const operations = named.map(({ operation }) => operation);
    const ids = operations.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    const tags = document.tags?.map(({ name }) => name) ?? [];
    for (const { operationId, summary, tags: own } of operations) {
      expect(operationId).toMatch(/^[a-z][A-Za-z]+$/);
      expect([operationId, summary]).toEqual([operationId, expect.stringMatching(/^[A-Z].*[^.]$/)]);
      expect(tags).toEqual(expect.arrayContaining([...own]));
      expect(own).toHaveLength(1);
    }
  });

  function codesOf({ operation }: DocumentedRoute, status: string): readonly string[] {
    const reply = operation.responses[status];
    if (reply === undefined) return [];
    const content = JSON.stringify(dereference(reply).content ?? {});
    return [...content.matchAll(/"code":\{"(?:const|enum)":(\[.*?\]|".*?")\}/g)].flatMap(([, list = '']) =>
      [JSON.parse(list) as string | readonly string[]].flat(),
    );
  }
});
