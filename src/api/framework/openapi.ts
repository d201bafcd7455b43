/** The API description (OpenAPI 3.1), made from the schemas that requests are checked against. */
import type { TSchema } from 'typebox';
import { ErrorEnvelopeSchema, EnvelopeOf } from '../wire/envelope.ts';
import { type RouteEntry, responsesOf } from './route-table.ts';

/** Plain JSON. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
export type JsonObject = { readonly [name: string]: Json };

const JSON_TYPE = 'application/json';

/** Which interface it is. */
export interface Described {
  readonly title: string;
  /** Of the program. */
  readonly version: string;
  /** Starts of the paths under which the routes stand, the same under each. */
  readonly prefixes: readonly [string, ...string[]];
  /** How a caller says who it is: names of schemes and what they are. Any one of them is enough. */
  readonly security: Readonly<Record<string, Json>>;
  /** The same for the routes of devices. */
  readonly deviceSecurity?: Readonly<Record<string, Json>>;
}

export function describeApi(routes: readonly RouteEntry[], described: Described): JsonObject {
  const { title, version, prefixes, security, deviceSecurity = {} } = described;
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    const place = placeOf(route.url, prefixes);
    if (route.method === 'HEAD' || place === undefined) continue;
    const path = place.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] ??= place.versioned ? {} : { servers: [{ url: '/' }] };
    paths[path][route.method.toLowerCase()] = {
      ...operation(route, path),
      ...securityOf(route, deviceSecurity),
    };
  }
  return {
    openapi: '3.1.0',
    info: { title, version },
    servers: prefixes.map((url) => ({ url })),
    security: anyOf(security),
    paths,
    components: {
      securitySchemes: { ...security, ...deviceSecurity },
      schemas: { Error: plain(ErrorEnvelopeSchema) },
      headers: HEADERS,
      responses: {
        Error: {
          description: 'Any error; error.code says which',
          headers: COMMON_HEADERS,
          content: { [JSON_TYPE]: { schema: { $ref: '#/components/schemas/Error' } } },
        },
      },
    },
  };
}

/** Where it is not what the whole description says. */
function securityOf({ facts }: RouteEntry, deviceSecurity: Readonly<Record<string, Json>>): JsonObject {
  if (facts.scope === 'public') return { security: [] };
  return facts.scope === 'device' ? { security: anyOf(deviceSecurity) } : {};
}

function anyOf(schemes: Readonly<Record<string, Json>>): Json {
  return Object.keys(schemes).map((name) => ({ [name]: [] }));
}

/** Each route is described once, under the first prefix; documents of the service itself have none. */
function placeOf(
  url: string,
  prefixes: Described['prefixes'],
): { readonly path: string; readonly versioned: boolean } | undefined {
  const [first] = prefixes;
  if (url.startsWith(`${first}/`)) return { path: url.slice(first.length), versioned: true };
  return prefixes.some((prefix) => url.startsWith(`${prefix}/`))
    ? undefined
    : { path: url, versioned: false };
}

function operation({ method, facts, schema }: RouteEntry, path: string): JsonObject {
  return {
    operationId: operationId(method, path),
    ...(facts.summary === undefined ? {} : { summary: facts.summary }),
    ...(facts.tag === undefined ? {} : { tags: [facts.tag] }),
    parameters: [
      ...pathParameters(path, schema.params),
      ...queryParameters(schema.querystring),
      ...(method === 'POST' && facts.idempotent !== false ? [IDEMPOTENCY_KEY] : []),
    ],
    ...(schema.body === undefined
      ? {}
      : { requestBody: { required: true, content: { [JSON_TYPE]: { schema: plain(schema.body) } } } }),
    responses: {
      ...successes(responsesOf(schema), facts.produces),
      default: { $ref: '#/components/responses/Error' },
    },
  };
}

/** `GET /backup/{id}/log` is `getBackupByIdLog`. */
function operationId(method: string, path: string): string {
  const words = path
    .replaceAll(/\{(\w+)\}/g, 'by-$1')
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '');
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
}

function pathParameters(path: string, params: unknown): Json[] {
  const { properties = {} } = (params ?? {}) as ObjectSchema;
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: plain(properties[name] ?? { type: 'string' }),
  }));
}

function queryParameters(query: unknown): Json[] {
  const { properties = {}, required = [] } = (query ?? {}) as ObjectSchema;
  return Object.entries(properties).map(([name, value]) => {
    const { default: preset } = value as { readonly default?: unknown };
    // A field with a default counts as required in the schema: it is always there once it was filled in.
    const needed = required.includes(name) && preset === undefined;
    return { name, in: 'query', ...(needed ? { required: true } : {}), schema: plain(value) };
  });
}

function successes(responses: Readonly<Record<string, TSchema>>, produces: string | undefined): JsonObject {
  const headers = COMMON_HEADERS;
  const described = Object.entries(responses).map(([status, data]): [string, Json] => {
    const schema = plain(produces === undefined ? EnvelopeOf(data) : data);
    return [
      status,
      {
        description: DESCRIPTIONS[status] ?? 'Done',
        headers:
          status === '202' ? { ...headers, Location: { $ref: '#/components/headers/Location' } } : headers,
        content: { [produces ?? JSON_TYPE]: { schema } },
      },
    ];
  });
  if (described.length > 0 || produces === undefined) return Object.fromEntries(described);
  return { 200: { description: 'Done', headers, content: { [produces]: {} } } };
}

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  200: 'Done',
  201: 'Made',
  202: 'Queued; Location names the job',
};

const IDEMPOTENCY_KEY: Json = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'A repeated request with the same key has no second effect, and gets the same response, for 24 hours',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

const HEADERS: JsonObject = {
  RequestId: { description: 'Also in meta.request_id', schema: { type: 'string' } },
  RateLimit: { description: 'Requests accepted in one window', schema: { type: 'integer' } },
  RateRemaining: { description: 'Requests left', schema: { type: 'integer' } },
  RateReset: { description: 'Seconds since 1970 at which the next slot frees', schema: { type: 'integer' } },
  Location: { description: 'Path of the job', schema: { type: 'string' } },
};

const COMMON_HEADERS: JsonObject = {
  'X-Request-Id': { $ref: '#/components/headers/RequestId' },
  'X-RateLimit-Limit': { $ref: '#/components/headers/RateLimit' },
  'X-RateLimit-Remaining': { $ref: '#/components/headers/RateRemaining' },
  'X-RateLimit-Reset': { $ref: '#/components/headers/RateReset' },
};

/** A schema without what TypeBox keeps in it for itself. */
function plain(schema: unknown): Json {
  return JSON.parse(JSON.stringify(schema)) as Json;
}
