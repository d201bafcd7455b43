/** The web framework as every API of Holdfast sets it up: strict bodies, request ids, and the envelope around replies. */
import {
  fastify,
  LogController,
  type FastifyBaseLogger,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { Clock } from '../../base/clock.ts';
import { BugError } from '../../base/errors.ts';
import type { ApiError } from '../wire/api-error.ts';
import { errorEnvelope, metaOf, successEnvelope } from '../wire/envelope.ts';
import { parseJsonBody, requirePlainBody } from '../wire/json-body.ts';
import type { ServerLimits } from '../wire/limits.ts';
import { requestIdOf } from '../wire/headers.ts';
import { requireEncodedQuery } from '../wire/query-text.ts';
import type { ApiApp } from './route.ts';
import { declareRoute, isRoutable, pathOf, type RouteTable } from './route-table.ts';
import { validatorOf } from '../wire/validation.ts';

export interface FrameworkOptions {
  readonly clock: Pick<Clock, 'now'>;
  readonly limits: ServerLimits;
  /** Receives an entry for each route that is registered. */
  readonly table: RouteTable;
  /** Addresses and networks of trusted proxies, whose `X-Forwarded-For` names the client of a request. */
  readonly proxies?: readonly string[] | undefined;
  /** Receives unforeseen failures. */
  readonly logger?: FastifyBaseLogger | undefined;
}

/** Media type of everything that has an envelope. */
export const JSON_TYPE = 'application/json; charset=utf-8';

/** A path that no route uses. The router gets it instead of a path that it cannot parse. */
const NO_PATH = '/.not-a-path';

/** Creates the app without hooks that authenticate requests or answer errors: each API adds its own. */
export function createFramework({ clock, limits, table, proxies = [], logger }: FrameworkOptions): ApiApp {
  const app: ApiApp = fastify({
    ...(logger === undefined ? {} : { loggerInstance: logger }),
    // A line for each request would be most of the log, and URLs name files.
    logController: new LogController({ disableRequestLogging: true }),
    // Log lines name the request themselves. A child logger for each request would be much of the cost of a small one.
    childLoggerFactory: (log) => log,
    bodyLimit: limits.bodyBytes,
    // File paths are passed in queries, and path parameters are ids. The header limit already bounds their length.
    routerOptions: { maxParamLength: limits.headerBytes },
    genReqId: (request) => requestIdOf(request.headers['x-request-id'], clock.now()),
    rewriteUrl: ({ url = '/' }) => (url.startsWith('/') && isRoutable(pathOf(url)) ? url : NO_PATH),
    return503OnClosing: false,
    trustProxy: proxies.length === 0 ? false : [...proxies],
    schemaController: { compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler } },
  }).withTypeProvider<TypeBoxTypeProvider>();
  app.setValidatorCompiler<object>(({ schema, httpPart }) => validatorOf(schema, httpPart));
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  app.addHook('preValidation', async ({ originalUrl, routeOptions }) => {
    // Routes without a query schema do not read the query.
    if (routeOptions.schema?.querystring !== undefined) requireEncodedQuery(originalUrl);
    await Promise.resolve();
  });
  app.addHook('onRoute', (route) => declareRoute(route, table, limits.handlerTimeoutMs));

  app.addHook('preParsing', async ({ headers }) => {
    requirePlainBody(headers);
    await Promise.resolve();
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>(
    'application/json',
    { parseAs: 'buffer' },
    async (_request: FastifyRequest, body: Buffer) => parseJsonBody(body, limits),
  );
  app.addHook('preSerialization', async (request, _reply, payload) => {
    if (request.routeOptions.config.produces !== undefined) return payload;
    return successEnvelope(payload, metaOf(request.id, clock.now()));
  });
  return app;
}

/** Replaces the framework's own compilers, which would be loaded at every start although no request needs them. */
function noCompiler(): never {
  throw new BugError('A schema was given to a compiler that is not ours');
}

/** Headers that a handler may have set for a successful response and that must not be sent with an error. */
const WITHDRAWN = ['location', 'etag', 'content-disposition', 'accept-ranges'] as const;

/** Answers with an error, and logs it when it was unforeseen. */
export function sendError(
  error: ApiError,
  request: FastifyRequest,
  reply: FastifyReply,
  { clock, redact = same }: { readonly clock: Pick<Clock, 'now'>; readonly redact?: <T>(shown: T) => T },
): void {
  if (error.code === 'INTERNAL_ERROR')
    request.log.error({ err: error.cause, request_id: request.id }, 'A request failed');
  for (const name of WITHDRAWN) reply.removeHeader(name);
  reply.code(error.statusCode).headers(error.headers).type(JSON_TYPE);
  const envelope = errorEnvelope(error, metaOf(request.id, clock.now()));
  reply.send(JSON.stringify({ ...envelope, error: redact(envelope.error) }));
}

function same<T>(shown: T): T {
  return shown;
}
