/**
 * The steps that every request passes, in order: host and origin guards, authentication, the rate limit, whether the
 * route exists and the caller may use it; then the body, its validation, the idempotency key and the handler; finally
 * the envelope.
 */
import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../../base/clock.ts';
import { BugError } from '../../base/errors.ts';
import { redactDeep } from '../../base/redact.ts';
import type { IdempotencyStore } from '../../db/idempotency.ts';
import { ApiError } from '../wire/api-error.ts';
import { type Caller, identify } from '../access/authentication.ts';
import type { Client, Clients } from '../access/clients.ts';
import type { PatientResponses } from '../connections/http-server.ts';
import type { Credentials } from '../access/credentials.ts';
import { JSON_TYPE, sendError } from './framework.ts';
import { toApiError } from './framework-errors.ts';
import { hostRefusal, originRefusal } from '../access/foreign-pages.ts';
import { beginIdempotent, type RunningRequest } from './idempotency.ts';
import { identifyPage, pageOriginRefusal } from '../access/page-guard.ts';
import type { PageSessions } from '../access/page-sessions.ts';
import { type Quota, quotaHeaders, type RateLimits, tooMany } from '../access/rate-limits.ts';
import { type ApiApp, prefixOf } from './route.ts';
import { isOfPage, pathOf, type RouteTable } from './route-table.ts';
import { SECURITY_HEADERS } from '../wire/headers.ts';
import type { Tokens } from '../access/tokens.ts';

/** What is known of a request once it has passed the guards. */
export interface Arrival {
  readonly caller: Caller;
  readonly quota: Quota;
  /** Set when the request carries an idempotency key and is the first to use it. */
  running: RunningRequest | undefined;
}

declare module 'fastify' {
  interface FastifyRequest {
    arrival: Arrival | null;
  }
}

export interface HookParts {
  readonly clock: Clock;
  readonly rateLimits: RateLimits;
  readonly clients: Clients;
  readonly tokens: Tokens;
  readonly credentials: Credentials;
  readonly sessions: PageSessions;
  readonly idempotency: IdempotencyStore;
  readonly table: RouteTable;
  readonly patient: PatientResponses;
  readonly stopping: AbortSignal;
  /** Removes secrets from the text of errors. */
  readonly redact: (text: string) => string;
  /** The port that the agent listens on, for injected requests, which have no connection. */
  port(): number | undefined;
}

export function arrivalOf(request: FastifyRequest): Arrival {
  if (request.arrival === null) throw new BugError('a handler runs for a request that was not let in');
  return request.arrival;
}

/** Must be called before routes are registered. */
export function installHooks(app: ApiApp, parts: HookParts): void {
  app.decorateRequest('arrival', null);
  app.addHook('onRequest', async (request, reply) => await letIn(request, reply, parts));
  app.addHook('preHandler', async (request, reply) => await startIdempotent(request, reply, parts));
  app.addHook('onSend', async (request, reply, payload) => {
    keepResponse(request, reply, payload);
    return payload;
  });
  app.setErrorHandler((error, request, reply) => answerError(toApiError(error), request, reply, parts));
}

/** @throws {ApiError} for every request that is refused before its handler */
async function letIn(request: FastifyRequest, reply: FastifyReply, parts: HookParts): Promise<void> {
  const { rateLimits, table } = parts;
  reply.headers(SECURITY_HEADERS);
  reply.header('x-request-id', request.id);
  const refusal =
    hostRefusal(request.raw, request.originalUrl, portOf(request.raw) ?? parts.port()) ??
    originRefusal(request.headers) ??
    (isOfPage(request.routeOptions.config.scope)
      ? pageOriginRefusal(request.method, request.headers)
      : undefined);
  if (refusal !== undefined) {
    // A refused request costs no quota: another site's page must not use up the quota of local programs.
    reply.headers(quotaHeaders(rateLimits.lookForClient(clientOf(request, parts))));
    throw refusal;
  }

  const caller = await callerOf(request, parts);
  if (caller.kind !== 'anonymous') parts.clients.vouchFor(request.raw.socket);
  const quota = await quotaOf(request, caller, parts);
  reply.headers(quotaHeaders(quota));
  request.arrival = { caller, quota, running: undefined };
  const { config } = request.routeOptions;
  if (!quota.accepted && config.limit !== 'deferred') throw tooMany('requests', quota);

  if (parts.stopping.aborted) {
    throw new ApiError('SHUTTING_DOWN', 'The agent is stopping', {
      hint: 'Try again once it is running.',
      headers: { connection: 'close' },
    });
  }
  if (request.is404) throw table.missing(request.method, request.originalUrl);
  const open = config.scope === 'public' || config.scope === 'entry';
  if (!open && caller.kind === 'anonymous') throw caller.problem();
  if (config.duration === 'waits') parts.patient.add(reply.raw);
}

async function callerOf(request: FastifyRequest, parts: HookParts): Promise<Caller> {
  if (!isOfPage(request.routeOptions.config.scope)) {
    return await identify(request.raw, parts.tokens, parts.credentials);
  }
  return await identifyPage(request.raw, parts.sessions, portOf(request.raw) ?? parts.port());
}

/** The product's own page uses no quota, neither to sign in nor afterwards. */
async function quotaOf(request: FastifyRequest, caller: Caller, parts: HookParts): Promise<Quota> {
  const { rateLimits } = parts;
  if (caller.kind === 'credential') return rateLimits.takeForPlan();
  if (caller.kind === 'page') return { ...rateLimits.lookForPlan(), accepted: true };
  if (request.routeOptions.config.scope === 'entry')
    return { ...rateLimits.lookForClient(clientOf(request, parts)), accepted: true };
  return await rateLimits.takeForClient(clientOf(request, parts));
}

function clientOf(request: FastifyRequest, { clients }: HookParts): Client {
  return clients.of(request.raw.socket, request.ip);
}

function portOf(request: IncomingMessage): number | undefined {
  return request.socket.localPort;
}

async function startIdempotent(
  request: FastifyRequest,
  reply: FastifyReply,
  { idempotency, clock }: HookParts,
): Promise<FastifyReply | undefined> {
  const key = request.headers['idempotency-key'];
  const arrival = arrivalOf(request);
  if (request.method !== 'POST' || request.routeOptions.config.idempotent === false) return undefined;
  if (key === undefined || arrival.caller.kind !== 'credential') return undefined;
  const path = pathOf(request.originalUrl);
  const { query, body } = request;
  const beginning = beginIdempotent(
    idempotency,
    { key: String(key), caller: arrival.caller.apiKey, path, query, body },
    clock,
  );
  if (beginning.kind === 'run') {
    arrival.running = beginning.running;
    return undefined;
  }
  const { status, headers, body: text } = beginning.response;
  // The stored body carries the id of the request that had the effect, so the header carries the same id.
  const { meta }: { readonly meta: { readonly request_id: string } } = JSON.parse(text);
  reply.code(status).headers(headers).type(JSON_TYPE);
  reply.header('x-request-id', meta.request_id).header('idempotent-replayed', 'true');
  return reply.send(text);
}

const KEPT_HEADERS = ['location', 'etag', 'preference-applied'] as const;

function keepResponse(request: FastifyRequest, reply: FastifyReply, payload: unknown): void {
  const running = request.arrival?.running;
  if (running === undefined) return;
  if (typeof payload !== 'string') {
    running.abandon();
    return;
  }
  const headers: Record<string, string> = {};
  for (const name of KEPT_HEADERS) {
    const value = reply.getHeader(name);
    if (value !== undefined) headers[name] = String(value);
  }
  running.finish({ status: reply.statusCode, headers, body: payload }, prefixOf(request));
}

function answerError(error: ApiError, request: FastifyRequest, reply: FastifyReply, parts: HookParts): void {
  const { clock, redact } = parts;
  const quota = request.arrival?.quota;
  // When the route left the limit to its handler and the quota is used up, every failure is reported as the limit.
  const refused = quota?.accepted === false && error.code !== 'RATE_LIMIT_EXCEEDED';
  const shown = refused ? tooMany('requests', quota) : error;
  sendError(shown, request, reply, {
    clock,
    redact: (said) => withOwnPath(redactDeep(said, redact), shown, request),
  });
}

/** Keeps the caller's own path unredacted in the details of an error, whatever it looks like. */
function withOwnPath<T>(said: T, { details }: ApiError, { body }: FastifyRequest): T {
  const path = details['path'];
  if (typeof path !== 'string' || typeof said !== 'object' || said === null) return said;
  if (typeof body !== 'object' || body === null || !Object.values(body).includes(path)) return said;
  return { ...said, details: { ...('details' in said ? (said.details as object) : {}), path } };
}
