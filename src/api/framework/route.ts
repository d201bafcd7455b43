/** How a resource declares its routes. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { type TProperties, type TSchema, Type } from '../../base/schema-type.ts';
import type { Cursors } from '../wire/cursor.ts';

/**
 * What routes are registered on. A route gives its `data` schema as `schema.response[status]`, and its handler returns
 * that data: the envelope is put around both when the route is registered. Object schemas of bodies and query strings
 * are closed with `additionalProperties: false`; a route without such a schema takes no field at all.
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
   * `public`: no token is needed. `api`: a bearer token is. For the product's own page: `entry` needs nothing, `page` its
   * session. Under the page's prefix, `public` and `api` become `page`. `device`: of the Partner API, with the key of an
   * agent that enrolled.
   */
  readonly scope: 'public' | 'api' | 'entry' | 'page' | 'device';
  /** False only for a POST whose responses must never be kept. */
  readonly idempotent?: boolean;
  /** The body may be left out, and is empty then: for routes of which every field may be left out. */
  readonly body?: 'optional';
  /**
   * `waits`: the response may be silent for long (events, `Prefer: wait`); `streams`: it may take long, but not be
   * silent. Others have to answer in time.
   */
  readonly duration?: 'waits' | 'streams';
  /** Media type of a response that has no envelope. */
  readonly produces?: string;
  /** The rate limit is told to the handler instead of being enforced before it. */
  readonly limit?: 'deferred';
  /** Of the Partner API: also a partner that is suspended may use it. */
  readonly suspended?: 'allowed';
}

declare module 'fastify' {
  interface FastifyContextConfig extends Partial<RouteFacts> {}

  interface FastifyInstance {
    readonly cursors: Cursors;
  }
}

/** Starts of the paths under which the whole API is registered. */
export const PREFIXES = ['/v1', '/api/v1'] as const;

/** Start of the routes for the product's own page: those of the API, with a session in the place of a token. */
export const PAGE_PREFIX = '/internal/v1';

export type Prefix = (typeof PREFIXES)[number] | typeof PAGE_PREFIX;

/** The prefix a request came by, for links that stay below it. */
export function prefixOf(request: { readonly url: string }): Prefix {
  if (request.url.startsWith(`${PAGE_PREFIX}/`)) return PAGE_PREFIX;
  return request.url.startsWith('/api/') ? '/api/v1' : '/v1';
}

interface ReplyHead {
  statusCode: number;
  header(name: string, value: string): unknown;
}

/** Makes the response a 202 whose `Location` is `path` below the prefix of the request, and gives the data back. */
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

/** The same of a list of which so many directories could not be read. */
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

/** Schema of a page of a list that lacks what is in directories which could not be read. */
export function ListingOf<Item extends TSchema>(item: Item) {
  return Type.Object({
    items: Type.Array(item),
    has_more: Type.Boolean(),
    next_cursor: Type.Union([Type.String(), Type.Null()]),
    unreadable_directories: Type.Integer({ minimum: 0 }),
  });
}

/** Schema of the query string of a list: its filters beside `limit` and `cursor`. */
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
