/** The types and helpers that resources declare their routes with. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { type TProperties, type TSchema, Type } from '../../base/schema-type.ts';
import type { Cursors } from '../wire/cursor.ts';

/**
 * The app that routes are registered on. A route declares the schema of its `data` as `schema.response[status]`, and
 * its handler returns that data. Registration wraps both in the envelope. Object schemas of bodies and query strings
 * must be closed with `additionalProperties: false`. A route without such a schema accepts no fields.
 */
export type ApiApp = FastifyInstance<
  Server,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

export interface RouteFacts {
  /**
   * `public`: no token is needed. `api`: a bearer token is needed. `entry`: a route of the product's own page that
   * needs no session. `page`: one that needs a session. Under the page's prefix, `public` and `api` become `page`.
   * `device`: a Partner API route for the key of an enrolled agent.
   */
  readonly scope: 'public' | 'api' | 'entry' | 'page' | 'device';
  /** False only for a POST whose responses must never be kept. */
  readonly idempotent?: boolean;
  /** The body may be absent and is then empty. For routes whose fields are all optional. */
  readonly body?: 'optional';
  /**
   * `waits`: the response may be silent for long (events, `Prefer: wait`). `streams`: the response may take long but
   * must not fall silent. Routes without it must answer within the handler time limit.
   */
  readonly duration?: 'waits' | 'streams';
  /** Media type of a response that has no envelope. */
  readonly produces?: string;
  /** The handler enforces the rate limit, instead of the limit being enforced before it runs. */
  readonly limit?: 'deferred';
  /** Partner API only: a suspended partner may use the route as well. */
  readonly suspended?: 'allowed';
}

declare module 'fastify' {
  interface FastifyContextConfig extends Partial<RouteFacts> {}

  interface FastifyInstance {
    readonly cursors: Cursors;
  }
}

/** Path prefixes under which the whole API is registered. */
export const PREFIXES = ['/v1', '/api/v1'] as const;

/** Path prefix of the routes of the product's own page: the API's routes, with a session instead of a token. */
export const PAGE_PREFIX = '/internal/v1';

export type Prefix = (typeof PREFIXES)[number] | typeof PAGE_PREFIX;

/** The path prefix that the request used, for links that stay below it. */
export function prefixOf(request: { readonly url: string }): Prefix {
  if (request.url.startsWith(`${PAGE_PREFIX}/`)) return PAGE_PREFIX;
  return request.url.startsWith('/api/') ? '/api/v1' : '/v1';
}

interface ReplyHead {
  statusCode: number;
  header(name: string, value: string): unknown;
}

/** Makes the response a 202 whose `Location` is `path` below the prefix of the request. Returns `data`. */
export function accepted<Data>(
  reply: ReplyHead,
  request: { readonly url: string },
  path: `/${string}`,
  data: Data,
): Data {
  reply.statusCode = 202;
  reply.header('location', `${prefixOf(request)}${path}`);
  return data;
}

export interface Page<Item> {
  readonly items: Item[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

/** `next` is what `app.cursors.seal` gave, or null on the last page. */
export function page<Item>(items: readonly Item[], next: string | null): Page<Item> {
  return { items: [...items], has_more: next !== null, next_cursor: next };
}

/** As `page`, for a list from which `unreadable` directories are missing. */
export function listing<Item>(
  items: readonly Item[],
  { next, unreadable }: { readonly next: string | null; readonly unreadable: number },
): Page<Item> & { readonly unreadable_directories: number } {
  return { ...page(items, next), unreadable_directories: unreadable };
}

/** Schema of a page of such items. */
export function PageOf<Item extends TSchema>(item: Item) {
  return Type.Object({
    items: Type.Array(item),
    has_more: Type.Boolean(),
    next_cursor: Type.Union([Type.String(), Type.Null()]),
  });
}

/** As `PageOf`, with the count of directories that could not be read and are missing from the list. */
export function ListingOf<Item extends TSchema>(item: Item) {
  return Type.Object({
    items: Type.Array(item),
    has_more: Type.Boolean(),
    next_cursor: Type.Union([Type.String(), Type.Null()]),
    unreadable_directories: Type.Integer({ minimum: 0 }),
  });
}

/** Schema of the query string of a list: its filters plus `limit` and `cursor`. */
export function ListQuery<Filters extends TProperties>(
  filters: Filters,
  limits: { readonly default: number; readonly maximum: number } = { default: 20, maximum: 100 },
) {
  return Type.Object(
    {
      ...filters,
      limit: Type.Integer({ minimum: 1, maximum: limits.maximum, default: limits.default }),
      cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 8192 })),
    },
    { additionalProperties: false },
  );
}

/** Metrics in the text format of Prometheus. */
export interface MetricsText {
  /** Media type. */
  readonly type: string;
  readonly text: string;
}
