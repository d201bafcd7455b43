/**
 * The steps that every request passes, in order: authentication, the rate limit, whether the route exists and the
 * caller may use it; then the body, its validation, the idempotency key and the handler; finally the envelope.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../../api/wire/api-error.ts';
import { sendError } from '../../api/framework/framework.ts';
import { toApiError } from '../../api/framework/framework-errors.ts';
import type { RequestLimit } from '../../api/wire/limits.ts';
import { type Quota, quotaHeaders, tooMany } from '../../api/access/rate-limits.ts';
import type { ApiApp } from '../../api/framework/route.ts';
import { isOfPage, pathOf, type RouteTable } from '../../api/framework/route-table.ts';
import { SECURITY_HEADERS } from '../../api/wire/headers.ts';
import type { Clock } from '../../base/clock.ts';
import { sendErrorPage } from '../console/error-page.tsx';
import { isConsolePath } from '../console/routes.ts';
import { isAway } from '../store/database.ts';
import type { PartnerStores } from '../store/store.ts';
import type { AddressLog, CallerLog } from './caller-log.ts';
import { type Caller, identify, invalidKey, type KeyKind, NO_KEY } from '../request/caller.ts';
import { beginIdempotent, endIdempotent } from './idempotency.ts';
import type { PartnerLimits } from '../request/limits.ts';
import { refuseNul } from '../request/refuse-nul.ts';

export interface HookParts {
  readonly clock: Clock;
  readonly limits: PartnerLimits;
  readonly stores: Pick<PartnerStores, 'apiKeys' | 'devices' | 'rateLog' | 'idempotency'>;
  readonly addresses: AddressLog;
  readonly devices: CallerLog;
  readonly table: RouteTable;
  readonly stopping: AbortSignal;
}

/** Must be called before routes are registered. */
export function installHooks(app: ApiApp, parts: HookParts): void {
  const { clock, stores } = parts;
  app.decorateRequest('visit', null);
  app.addHook('onRequest', async (request, reply) => await letIn(request, reply, parts));
  app.addHook('preValidation', async ({ body, query, routeOptions }) => {
    refuseNul(body);
    // Routes without a query schema do not read the query.
    if (routeOptions.schema?.querystring !== undefined) refuseNul(query);
  });
  app.addHook('preHandler', async (request, reply) => await beginIdempotent(request, reply, stores));
  // Stored before the response is sent, so that a client that repeats the request at once gets the stored response.
  app.addHook('onSend', async (request, reply, payload) => {
    await endIdempotent(request, reply, payload, stores);
    return payload;
  });
  app.setErrorHandler((error, request, reply) => {
    const told = withoutStore(error) ?? toApiError(error);
    if (told.code === 'SERVICE_UNAVAILABLE') request.log.warn({ err: error }, 'a request was not answered');
    if (isConsolePath(pathOf(request.originalUrl))) sendErrorPage(told, request, reply);
    else sendError(told, request, reply, { clock });
  });
}

/** @throws {ApiError} for every request that is refused before its handler */
async function letIn(request: FastifyRequest, reply: FastifyReply, parts: HookParts): Promise<void> {
  const { stores, stopping, table } = parts;
  reply.headers(SECURITY_HEADERS);
  reply.header('x-request-id', request.id);
  const { scope, suspended } = request.routeOptions.config;
  // Pages of the console check their own session and ignore keys.
  const isPage = isOfPage(scope);
  let caller: Caller = NO_KEY;
  let quota: Quota;
  try {
    if (!isPage) caller = await identify(request.raw, stores);
    quota = await quotaOf(caller, request.ip, parts);
  } catch (error) {
    // The caller could not be determined: the request counts as one without a key.
    reply.headers(quotaHeaders(await quotaOf(NO_KEY, request.ip, parts)));
    throw error;
  }
  reply.headers(quotaHeaders(quota));
  request.visit = { caller, quota, running: undefined };
  if (!quota.accepted) throw tooMany('requests', quota);

  if (stopping.aborted) {
    throw new ApiError('SHUTTING_DOWN', 'The service is stopping', {
      hint: 'Try again once it is running.',
      headers: { connection: 'close' },
    });
  }
  if (request.is404) throw table.missing(request.method, request.originalUrl);
  if (scope === 'public' || isPage) return;
  const needed: KeyKind = scope === 'device' ? 'device' : 'api';
  if (caller.kind === 'anonymous') throw caller.problem(needed);
  if (caller.kind !== (needed === 'device' ? 'device' : 'partner')) throw invalidKey(needed);
  if (caller.isSuspended && suspended !== 'allowed') {
    throw new ApiError('PARTNER_SUSPENDED', 'This account is suspended', {
      hint:
        needed === 'device'
          ? 'Keep the reports until it is active again.'
          : 'Ask the provider of this service. GET /account still works.',
    });
  }
  if (caller.kind === 'partner') await stores.apiKeys.touch(caller.key);
}

async function quotaOf(
  caller: Caller,
  address: string,
  { addresses, devices, limits, stores }: HookParts,
): Promise<Quota> {
  if (caller.kind === 'anonymous') return { ...addresses.tryAccept(address), ...shape(limits.anonymous) };
  if (caller.kind === 'device') {
    const { id } = caller.device.device;
    return { ...devices.tryAccept(id), ...shape(limits.device) };
  }
  const { requests, windowMs } = limits.partner;
  return {
    ...(await stores.rateLog.tryAccept(caller.key.partnerId, requests, windowMs)),
    ...shape(limits.partner),
  };
}

/** The error for a store that does not answer, or that others keep locked. */
function withoutStore(error: unknown): ApiError | undefined {
  if (!isAway(error)) return undefined;
  return new ApiError('SERVICE_UNAVAILABLE', 'The service cannot reach its database at this moment', {
    hint: 'Try again later.',
    cause: error,
  });
}

function shape({ requests, windowMs }: RequestLimit): Pick<Quota, 'limit' | 'windowMs'> {
  return { limit: requests, windowMs };
}
