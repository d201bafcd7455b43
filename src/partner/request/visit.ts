/** What is known about a request to the Partner API once it has been admitted. */
import type { FastifyRequest } from 'fastify';
import { BugError } from '../../base/errors.ts';
import type { Quota } from '../../api/access/rate-limits.ts';
import type { ApiKey } from '../store/api-keys.ts';
import type { Actor } from '../store/audit-log.ts';
import type { DeviceCaller } from '../store/devices.ts';
import type { RunningKey } from '../store/idempotency.ts';
import type { Caller } from './caller.ts';

export interface Visit {
  readonly caller: Caller;
  readonly quota: Quota;
  /** Set when the request carries an idempotency key and is the first to use it. */
  running: RunningKey | undefined;
}

declare module 'fastify' {
  interface FastifyRequest {
    visit: Visit | null;
  }
}

/** The partner key of a request, for routes that need one. */
export function keyOf(request: FastifyRequest): ApiKey {
  const caller = request.visit?.caller;
  if (caller?.kind !== 'partner') throw new BugError('a handler runs for a request without a key');
  return caller.key;
}

/** Id of the partner whose data the request may access. Derived from the key alone, never from anything in the request. */
export function partnerOf(request: FastifyRequest): string {
  return keyOf(request).partnerId;
}

export function actorOf(request: FastifyRequest): Actor {
  return { name: 'api', keyId: keyOf(request).id, ip: request.ip, running: request.visit?.running };
}

/**
 * Id of what an earlier request with the same `Idempotency-Key` created or changed, when its response was lost with its
 * instance. The request returns that effect instead of repeating it.
 */
export function earlierEffect(request: FastifyRequest): string | undefined {
  return request.visit?.running?.effect ?? undefined;
}

/** The device of a request, for routes that need a device key. */
export function deviceOf(request: FastifyRequest): DeviceCaller {
  const caller = request.visit?.caller;
  if (caller?.kind !== 'device') throw new BugError('a handler runs for a request without a device key');
  return caller.device;
}
