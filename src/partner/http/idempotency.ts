/** A POST repeated with the same `Idempotency-Key` has one effect, and one response, in whichever instance. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  isFinalResponse,
  keyReused,
  requestHash,
  requireIdempotencyKey,
  stillRunning,
  withoutSecret,
} from '../../api/idempotency.ts';
import { pathOf } from '../../api/route-table.ts';
import type { PartnerStores } from '../store/store.ts';

type Stores = Pick<PartnerStores, 'idempotency'>;

const KEPT_HEADERS = ['location'] as const;

/**
 * Sends the response of the first request to one that repeats it.
 * @throws {ApiError} INVALID_REQUEST for a key that is none, IDEMPOTENCY_KEY_REUSED, IDEMPOTENCY_IN_PROGRESS
 */
export async function beginIdempotent(
  request: FastifyRequest,
  reply: FastifyReply,
  { idempotency }: Stores,
): Promise<FastifyReply | undefined> {
  const key = request.headers['idempotency-key'];
  const { visit } = request;
  if (request.method !== 'POST' || request.routeOptions.config.idempotent === false) return undefined;
  if (key === undefined || visit?.caller.kind !== 'partner') return undefined;
  requireIdempotencyKey(String(key));
  const { partnerId } = visit.caller.key;
  const route = `POST ${pathOf(request.originalUrl)}`;
  const hash = requestHash(request.query, request.body);
  const verdict = await idempotency.begin({ partnerId, key: String(key), route }, hash);
  switch (verdict.kind) {
    case 'new':
      visit.running = verdict.running;
      return undefined;
    case 'running':
      throw stillRunning();
    case 'reused':
      throw keyReused();
    case 'done': {
      const { status, headers, body } = verdict.response;
      // The body names the request that had the effect, and so does the header.
      const { meta }: { readonly meta: { readonly request_id: string } } = JSON.parse(body);
      reply.code(status).headers(headers).type('application/json; charset=utf-8');
      reply.header('x-request-id', meta.request_id).header('idempotent-replayed', 'true');
      return reply.send(body);
    }
  }
}

/** Keeps the response, unless asking again can have another outcome. */
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
  if (typeof payload !== 'string' || !isFinalResponse(status, payload)) {
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
