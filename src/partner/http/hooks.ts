/**
 * What is done for every request, in its order: who is calling, the rate limit, whether there is such a route, whether
 * the caller may use it; then the body, its validation, the idempotency key, the handler; then the envelope.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../../api/api-error.ts';
import { errorEnvelope, metaOf, successEnvelope } from '../../api/envelope.ts';
import { toApiError } from '../../api/framework-errors.ts';
import { parseJsonBody } from '../../api/json-body.ts';
import type { RequestLimit } from '../../api/limits.ts';
import { quotaHeaders, tooMany, type Quota } from '../../api/rate-limits.ts';
import type { ApiApp } from '../../api/route.ts';
import { declareRoute, type RouteTable } from '../../api/route-table.ts';
import { SECURITY_HEADERS } from '../../api/security-headers.ts';
import { createValidatorCompiler } from '../../api/validation.ts';
import type { Clock } from '../../base/clock.ts';
import type { PartnerStores } from '../store/store.ts';
import type { AddressLog } from './address-log.ts';
import { identify, type Caller } from './caller.ts';
import { beginIdempotent, endIdempotent } from './idempotency.ts';
import type { PartnerLimits } from './limits.ts';

export interface HookParts {
  readonly clock: Clock;
  readonly limits: PartnerLimits;
  readonly stores: Pick<PartnerStores, 'apiKeys' | 'rateLog' | 'idempotency'>;
  readonly addresses: AddressLog;
  readonly table: RouteTable;
  readonly stopping: AbortSignal;
}

const JSON_TYPE = 'application/json; charset=utf-8';

/** Must be called before routes are registered. */
export function installHooks(app: ApiApp, parts: HookParts): void {
  const { clock, limits, table } = parts;
  app.decorateRequest('visit', null);
  app.addHook('onRoute', (route) => declareRoute(route, table, limits.handlerTimeoutMs));

  const compile = createValidatorCompiler();
  app.setValidatorCompiler<object>(({ schema, httpPart }) => compile(schema, httpPart));
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>(
    'application/json',
    { parseAs: 'buffer' },
    async (_request: FastifyRequest, body: Buffer) => parseJsonBody(body, limits),
  );

  app.addHook('onRequest', async (request, reply) => await letIn(request, reply, parts));
  app.addHook('preHandler', async (request, reply) => await beginIdempotent(request, reply, parts.stores));
  app.addHook('preSerialization', async (request, _reply, payload) => {
    if (request.routeOptions.config.produces !== undefined) return payload;
    return successEnvelope(payload, metaOf(request.id, clock.now()));
  });
  // Before it is sent: whoever repeats the request at once finds it.
  app.addHook('onSend', async (request, reply, payload) => {
    await endIdempotent(request, reply, payload, parts.stores);
    return payload;
  });
  app.setErrorHandler((error, request, reply) => sendError(toApiError(error), request, reply, clock));
}

/** @throws {ApiError} for every request that does not get further */
async function letIn(request: FastifyRequest, reply: FastifyReply, parts: HookParts): Promise<void> {
  const { stores, stopping, table } = parts;
  reply.headers(SECURITY_HEADERS);
  reply.header('x-request-id', request.id);
  const caller = await identify(request.raw, stores.apiKeys);
  const quota = await quotaOf(caller, request.ip, parts);
  reply.headers(quotaHeaders(quota));
  request.visit = { caller, quota, running: undefined };
  if (!quota.accepted) throw tooMany('requests', quota);

  if (stopping.aborted) {
    throw new ApiError('SHUTTING_DOWN', 'The service is stopping', {
      hint: 'Try again when it runs again.',
      headers: { connection: 'close' },
    });
  }
  if (request.is404) throw table.missing(request.method, request.originalUrl);
  const { scope, suspended } = request.routeOptions.config;
  if (scope === 'public') return;
  if (caller.kind === 'anonymous') throw caller.problem();
  if (caller.isSuspended && suspended !== 'allowed') {
    throw new ApiError('PARTNER_SUSPENDED', 'This account is suspended', {
      hint: 'Ask the provider of this service. GET /account can still be read.',
    });
  }
  await stores.apiKeys.touch(caller.key);
}

async function quotaOf(
  caller: Caller,
  address: string,
  { addresses, limits, stores }: HookParts,
): Promise<Quota> {
  if (caller.kind === 'anonymous') return { ...addresses.tryAccept(address), ...shape(limits.anonymous) };
  const { requests, windowMs } = limits.partner;
  return {
    ...(await stores.rateLog.tryAccept(caller.key.partnerId, requests, windowMs)),
    ...shape(limits.partner),
  };
}

function shape({ requests, windowMs }: RequestLimit): Pick<Quota, 'limit' | 'windowMs'> {
  return { limit: requests, windowMs };
}

function sendError(error: ApiError, request: FastifyRequest, reply: FastifyReply, clock: Clock): void {
  if (error.code === 'INTERNAL_ERROR')
    request.log.error({ err: error.cause, request_id: request.id }, 'A request failed');
  for (const name of ['location', 'etag']) reply.removeHeader(name);
  reply.code(error.statusCode).headers(error.headers).type(JSON_TYPE);
  reply.send(JSON.stringify(errorEnvelope(error, metaOf(request.id, clock.now()))));
}
