/** Gives a POST that is repeated with the same `Idempotency-Key` one effect and one response, in all instances. */
import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  isFinalResponse,
  keyReused,
  requestHash,
  requireIdempotencyKey,
  stillRunning,
  withoutSecret,
} from '../../api/framework/idempotency.ts';
import { pathOf } from '../../api/framework/route-table.ts';
import type { PartnerIdempotencyKey } from '../store/idempotency.ts';
import type { PartnerStores } from '../store/store.ts';
import type { Caller } from '../request/caller.ts';

type Stores = Pick<PartnerStores, 'idempotency'>;

const KEPT_HEADERS = ['location'] as const;
const LONGEST_PATH = 500;

/**
 * Answers a repeated request with the response to the first one.
 * @throws {ApiError} INVALID_REQUEST for a malformed key, IDEMPOTENCY_KEY_REUSED, IDEMPOTENCY_IN_PROGRESS
 */
export async function beginIdempotent(
  request: FastifyRequest,
  reply: FastifyReply,
  { idempotency }: Stores,
): Promise<FastifyReply | undefined> {
  const key = request.headers['idempotency-key'];
  const { visit } = request;
  if (request.method !== 'POST' || request.routeOptions.config.idempotent === false) return undefined;
  if (key === undefined || visit === null) return undefined;
  requireIdempotencyKey(String(key));
  const place = placeOf(request, visit.caller);
  const hash = requestHash(request.query, request.body);
  const verdict = await idempotency.begin({ ...place, key: String(key) }, hash);
  switch (verdict.kind) {
    case 'new':
      visit.running = verdict.running;
      if (verdict.running.effect !== null) reply.header('idempotent-replayed', 'true');
      return undefined;
    case 'running':
      throw stillRunning();
    case 'reused':
      throw keyReused();
    case 'done': {
      const { status, headers, body } = verdict.response;
      // The stored body carries the id of the request that had the effect, so the header carries the same id.
      const { meta }: { readonly meta: { readonly request_id: string } } = JSON.parse(body);
      reply.code(status).headers(headers).type('application/json; charset=utf-8');
      reply.header('x-request-id', meta.request_id).header('idempotent-replayed', 'true');
      return reply.send(body);
    }
  }
}

/**
 * The caller and the route that an idempotency key is valid for. The same key from another caller, or for another
 * route, is a different key.
 */
function placeOf(request: FastifyRequest, caller: Caller): Omit<PartnerIdempotencyKey, 'key'> {
  const route = `POST ${shortened(pathOf(request.originalUrl))}`;
  switch (caller.kind) {
    case 'partner':
      return { partnerId: caller.key.partnerId, route };
    case 'device':
      return { partnerId: caller.device.partnerId, route: `${route} of ${caller.device.device.id}` };
    case 'anonymous':
      // An anonymous caller is identified by the token in the body alone. For an enrollment, nobody else has that token.
      return { partnerId: '', route: `${route} of ${requestHash(null, tokenIn(request.body))}` };
  }
}

/**
 * Replaces long paths by their hash: PostgreSQL indexes at most 2,700 bytes, and ids that do not exist may have any
 * length.
 */
function shortened(path: string): string {
  return path.length <= LONGEST_PATH ? path : createHash('sha256').update(path).digest('hex');
}

function tokenIn(body: unknown): unknown {
  return typeof body === 'object' && body !== null && 'token' in body ? body.token : null;
}

/** Keeps the response, unless repeating the request could have another outcome. */
export async function endIdempotent(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  { idempotency }: Stores,
): Promise<void> {
  const { visit } = request;
  const running = visit?.running;
  if (visit === null || running === undefined) return;
  visit.running = undefined;
  const { statusCode: status } = reply;
  // Refusals of anonymous callers are not kept: anybody could fill the store with them.
  const isKept = visit.caller.kind !== 'anonymous' || status < 400;
  if (typeof payload !== 'string' || !isKept || !isFinalResponse(status, payload)) {
    await idempotency.abandon(running);
    return;
  }
  const headers: Record<string, string> = {};
  for (const name of KEPT_HEADERS) {
    const value = reply.getHeader(name);
    if (value !== undefined) headers[name] = String(value);
  }
  await idempotency.finish(running, { status, headers, body: withoutSecret(payload) });
}
