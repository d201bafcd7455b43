/** Requests made from the document, right and wrong ones: whatever is asked, the reply is one that the document describes. */
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ApiSite, openApiSite } from '../support/api-site.ts';
import { BACKUP_OPTIONS, type MemoryAgent, memoryAgent } from '../support/memory-agent.ts';
import {
  type DocumentedRoute,
  type OpenApiSchema,
  dereference,
  documentedRoutes,
  judge,
} from '../support/openapi-judge.ts';

const REQUESTS = 1_000;
const IDS = ['bkp_1', 'rst_1', 'snap-1', 'latest', '%00', '..%2f..', '%F0%9F%92%BE'];

let site: ApiSite;
let agent: MemoryAgent;
let token: string;

beforeAll(async () => {
  agent = memoryAgent(() => site.clock);
  const requests = { requests: 1_000_000, windowMs: 1_000 };
  const plans = { free_trial: requests, pro: requests, business: requests };
  site = await openApiSite({ agent, limits: { plans, anonymous: requests } });
  token = await site.token();
});

afterAll(async () => {
  await site[Symbol.asyncDispose]();
});

/** Values that a schema allows, mostly: one in eight is anything. */
function valueOf(given: OpenApiSchema): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 7, arbitrary: rightValue(dereference(given)) },
    { weight: 1, arbitrary: fc.jsonValue() },
  );
}

function rightValue(schema: OpenApiSchema): fc.Arbitrary<unknown> {
  const members = (schema['oneOf'] ?? schema['anyOf']) as readonly OpenApiSchema[] | undefined;
  if (members !== undefined) return fc.oneof(...members.map((member) => rightValue(dereference(member))));
  if (schema['enum'] !== undefined) return fc.constantFrom(...(schema['enum'] as readonly unknown[]));
  switch (schema['type']) {
    case 'string':
      return schema['format'] === 'date-time'
        ? fc.date({ noInvalidDate: true }).map((date) => date.toISOString())
        : fc.oneof(
            fc.string({ unit: 'binary' }),
            fc.constantFrom('/home/ana', 'default', '/missing', 'latest', 'YQ=='),
          );
    case 'integer':
      return fc.integer({ min: -1, max: 200 });
    case 'number':
      return fc.double();
    case 'boolean':
      return fc.boolean();
    case 'array':
      return fc.array(valueOf(schema['items'] as OpenApiSchema), { maxLength: 5 });
    default:
      return objectOf(schema);
  }
}

function objectOf(schema: OpenApiSchema): fc.Arbitrary<unknown> {
  const properties = (schema['properties'] ?? {}) as Readonly<Record<string, OpenApiSchema>>;
  const fields = Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, valueOf(part)]));
  return fc
    .tuple(
      fc.record(fields, { requiredKeys: [] }),
      fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 1 }),
      fc.nat(9),
    )
    .map(([known, unknown, dice]) => (dice === 0 ? { ...known, ...unknown } : known));
}

interface Asked {
  readonly method: string;
  readonly target: string;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

function requestOf(route: DocumentedRoute): fc.Arbitrary<Asked> {
  const query = route.parameters.filter((parameter) => parameter.in === 'query');
  const headers = route.parameters.filter((parameter) => parameter.in === 'header');
  const body = route.operation.requestBody?.content['application/json']?.schema;
  return fc.record({
    method: fc.oneof(
      { weight: 20, arbitrary: fc.constant(route.method) },
      { weight: 1, arbitrary: fc.constantFrom('GET', 'PUT', 'POST', 'DELETE', 'PATCH') },
    ),
    target: fc
      .tuple(
        fc.constantFrom('/v1', '/api/v1'),
        fc.constantFrom(...IDS, ...agent.added.keys()),
        fc.record(Object.fromEntries(query.map(({ name, schema }) => [name, valueOf(schema)])), {
          requiredKeys: [],
        }),
      )
      .map(([prefix, id, values]) => {
        const pairs = Object.entries(values).map(([name, value]) => `${name}=${encoded(value)}`);
        const path = `${route.versioned ? prefix : ''}${route.path.replace('{id}', id)}`;
        return pairs.length === 0 ? path : `${path}?${pairs.join('&')}`;
      }),
    body: body === undefined ? fc.oneof(fc.constant(undefined), fc.constant({})) : valueOf(body),
    headers: fc.record(
      Object.fromEntries(headers.map(({ name }) => [name, fc.stringMatching(/^[ -~]{0,20}$/)])),
      { requiredKeys: [] },
    ),
  });
}

function encoded(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return encodeURIComponent(text.toWellFormed());
}

test('every reply to 1,000 requests is one that the document describes, and none is a fault of the agent', async () => {
  for (const source of ['/home/ana', '/home/bo']) {
    agent.add(
      { type: 'backup', source, destination: 'default', options: BACKUP_OPTIONS },
      { status: 'completed' },
    );
  }
  // Streams wait for a clock that stands still here; metrics are not kept.
  const routes = documentedRoutes.filter(({ path }) => !path.endsWith('/events') && path !== '/metrics');
  const seen = new Map<number, number>();
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...routes).chain(requestOf),
      async ({ method, target, body, headers }) => {
        const withoutBody = method === 'GET' || body === undefined;
        const reply = await site.inject(target, {
          method,
          token,
          headers,
          ...(withoutBody ? {} : { body: JSON.stringify(body) }),
        });
        seen.set(reply.status, (seen.get(reply.status) ?? 0) + 1);
        expect(reply.status).toBeLessThan(500);
        judge(method, target, reply);
      },
    ),
    { numRuns: REQUESTS },
  );
  // Not everything is refused at the door.
  expect(seen.get(200)).toBeGreaterThan(REQUESTS / 20);
  expect(seen.get(400)).toBeGreaterThan(REQUESTS / 20);
});
