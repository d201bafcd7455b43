/** What is known of a request to the Partner API once it has been let in. */
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
  /** When it carries an idempotency key, and is the first with it. */
  running: RunningKey | undefined;
}

declare module 'fastify' {
  interface FastifyRequest {
    visit: Visit | null;
  }
}

/** The key of a route that needs one. */
export function keyOf(request: FastifyRequest): ApiKey {
  const caller = request.visit?.caller;
  if (caller?.kind !== 'partner') throw new BugError('a handler runs for a request without a key');
  return caller.key;
}

/** Whose data the request may see. From the key alone, never from anything that was sent. */
export function partnerOf(request: FastifyRequest): string {
  return keyOf(request).partnerId;
}

export function actorOf(request: FastifyRequest): Actor {
  return { name: 'api', keyId: keyOf(request).id, ip: request.ip, running: request.visit?.running };
}

/**
 * Id of what an earlier request with the same `Idempotency-Key` has made or changed, whose reply was lost with its
 * instance: it is shown, and not done again.
 */
export function earlierEffect(request: FastifyRequest): string | undefined {
  return request.visit?.running?.effect ?? undefined;
}

/** The device of a route that needs the key of one. */
export function deviceOf(request: FastifyRequest): DeviceCaller {
  const caller = request.visit?.caller;
  if (caller?.kind !== 'device') throw new BugError('a handler runs for a request without a device key');
  return caller.device;
}
