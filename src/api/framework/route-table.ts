/**
 * The table of all routes. It answers requests with a wrong method, and tests use it to call every route and compare it
 * with the API description.
 */
import type { FastifySchema } from 'fastify';
import { BugError } from '../../base/errors.ts';
import { ApiError } from '../wire/api-error.ts';
import { EnvelopeOf } from '../wire/envelope.ts';
import { withoutBody } from '../wire/json-body.ts';
import { PAGE_PREFIX, type RouteFacts } from './route.ts';
import type { TSchema } from 'typebox';

export interface RouteEntry {
  readonly method: string;
  /** Path with its prefix; parameters as `:id`. */
  readonly url: string;
  readonly facts: RouteFacts;
  /** The schema as the route declared it, before it was completed. */
  readonly schema: FastifySchema;
}

export interface RouteTable {
  /** Routes of the Desktop API, and of the documents outside the versioned paths. */
  readonly entries: readonly RouteEntry[];
  /** Routes of the product's own page. */
  readonly pageEntries: readonly RouteEntry[];
  add(entry: RouteEntry): void;
  /** The error for a request that no route takes, because of its path or its method. */
  missing(method: string, target: string): ApiError;
}

export function createRouteTable(): RouteTable {
  const entries: RouteEntry[] = [];
  const pageEntries: RouteEntry[] = [];
  return {
    entries,
    pageEntries,
    add: (entry) => {
      (isOfPage(entry.facts.scope) ? pageEntries : entries).push(entry);
    },
    missing(method, target) {
      const path = pathOf(target);
      if (!isDecodable(path)) {
        return new ApiError('INVALID_REQUEST', 'The path of the request is not valid', {
          hint: 'Encode it as UTF-8 with percent signs.',
        });
      }
      const all = [...entries, ...pageEntries];
      const matching = isRoutable(path) ? all.filter(({ url }) => matches(url, path)) : [];
      const allowed = matching.map((entry) => entry.method);
      if (allowed.length === 0) {
        return new ApiError('NOT_FOUND', 'There is no such route', {
          hint: 'See /docs for the list.',
        });
      }
      const methods = [...new Set(allowed)].sort().join(', ');
      return new ApiError('METHOD_NOT_ALLOWED', `This route does not accept ${method}`, {
        hint: `It accepts ${methods}.`,
        headers: { allow: methods },
      });
    },
  };
}

export function pathOf(target: string): string {
  return target.split(/[?#]/, 1)[0] ?? '';
}

/**
 * Whether the router is shown the path. It must decode, and no id in it may be empty or contain a NUL, which PostgreSQL
 * accepts in no text.
 */
export function isRoutable(path: string): boolean {
  return isDecodable(path) && !path.includes('%00') && !/\/(?:\/|$)/.test(path.slice(1));
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch (error) {
    if (error instanceof URIError) return false;
    throw error;
  }
}

function matches(url: string, path: string): boolean {
  const wanted = url.split('/');
  const given = path.split('/');
  return (
    wanted.length === given.length &&
    wanted.every((part, index) => (part.startsWith(':') ? given[index] !== '' : part === given[index]))
  );
}

/** The options of a route that are read or completed when it is registered. */
export interface RouteDeclaration {
  readonly method: string | readonly string[];
  readonly url: string;
  readonly prefix: string;
  config?: Partial<RouteFacts>;
  schema?: FastifySchema;
  handlerTimeout?: number;
  preValidation?: unknown;
}

/**
 * Adds a route to the table and completes its options: envelope, closed schemas, time limit.
 * @throws {BugError} when the route declares no scope or an open schema
 */
export function declareRoute(route: RouteDeclaration, table: RouteTable, handlerTimeoutMs: number): void {
  const { url, config, schema = {} } = route;
  const scope = route.prefix === PAGE_PREFIX && config?.scope !== 'entry' ? 'page' : config?.scope;
  if (scope === undefined || config?.scope === undefined)
    throw new BugError(`the route ${url} does not say whether it needs a token`);
  const facts: RouteFacts = { ...config, scope };
  route.config = facts;
  const methods = typeof route.method === 'string' ? [route.method] : route.method;
  for (const method of methods) table.add({ method, url, facts, schema });

  route.schema = completed(schema, facts, methods, route.prefix !== '');
  if (facts.duration === undefined) route.handlerTimeout ??= handlerTimeoutMs;
  if (facts.body === 'optional') route.preValidation = withoutBody;
  for (const part of [route.schema.body, route.schema.querystring]) requireClosed(part, url);
}

/** Whether only the product's own page uses the route. */
export function isOfPage(scope: RouteFacts['scope'] | undefined): boolean {
  return scope === 'page' || scope === 'entry';
}

const NO_QUERY = { type: 'object', properties: {}, additionalProperties: false };
/** An absent body reaches the validator as null. */
const NO_BODY = { type: ['object', 'null'], properties: {}, additionalProperties: false };

function completed(
  schema: FastifySchema,
  facts: RouteFacts,
  methods: readonly string[],
  versioned: boolean,
): FastifySchema {
  const takesBody = !methods.includes('GET') && !methods.includes('HEAD');
  return {
    ...schema,
    ...(versioned ? { querystring: schema.querystring ?? NO_QUERY } : {}),
    ...(takesBody ? { body: schema.body ?? NO_BODY } : {}),
    ...(facts.produces === undefined ? { response: enveloped(responsesOf(schema)) } : {}),
  };
}

/** Schemas of the data of each successful status. */
function responsesOf(schema: FastifySchema): Readonly<Record<string, TSchema>> {
  return (schema.response ?? {}) as Readonly<Record<string, TSchema>>;
}

function enveloped(responses: Readonly<Record<string, TSchema>>): Record<string, TSchema> {
  return Object.fromEntries(Object.entries(responses).map(([status, data]) => [status, EnvelopeOf(data)]));
}

function requireClosed(schema: unknown, url: string): void {
  const facts: { readonly properties?: unknown; readonly additionalProperties?: unknown } = schema ?? {};
  if (facts.properties !== undefined && facts.additionalProperties !== false) {
    throw new BugError(`a schema of ${url} takes unknown fields`);
  }
}
