/** How many requests a caller has left, and the headers that say so. */
import { createHash } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import type { RateLog } from '../db/rate-log.ts';
import { ApiError } from './api-error.ts';
import type { Client } from './clients.ts';
import type { ApiLimits, RequestLimit } from './limits.ts';

/** What is left of one limit after a request. */
export interface Quota {
  readonly accepted: boolean;
  readonly limit: number;
  readonly windowMs: number;
  readonly remaining: number;
  /** When the next slot becomes free. Milliseconds since 1970. */
  readonly resetAtMs: number;
  /** Until a request is accepted; 0 when this one was. */
  readonly retryAfterMs: number;
}

export interface RateLimits {
  /** Takes a request of the installation's plan. */
  takeForPlan(): Quota;
  /** As that, without taking one: for what does not spend the plan. */
  lookForPlan(): Quota;
  /** Takes a request without a token, of that client (clients.ts). */
  takeForClient(client: Client): Promise<Quota>;
  /** As that, without taking one: for requests that are turned away before anything is done for them. */
  lookForClient(client: Client): Quota;
  /** Counts a login that failed; the quota that refuses it when there were too many, of that key or in all. */
  takeFailedLogin(apiKey: string): Quota | undefined;
}

export function createRateLimits(
  log: RateLog,
  limits: Pick<ApiLimits, 'anonymous' | 'strangers' | 'failedLogins'>,
  ofPlan: () => RequestLimit,
  clock: Clock,
): RateLimits {
  const take = (bucket: string, { requests, windowMs }: RequestLimit): Quota => ({
    ...log.tryAccept(bucket, requests, windowMs, clock.now()),
    limit: requests,
    windowMs,
  });

  const look = (bucket: string, { requests, windowMs }: RequestLimit): Quota => ({
    ...log.look(bucket, requests, windowMs, clock.now()),
    limit: requests,
    windowMs,
  });

  return {
    takeForPlan: () => take('desktop', ofPlan()),
    lookForPlan: () => look('desktop', ofPlan()),
    takeForClient: async ({ address, user }) => {
      const ofAddress = take(`address ${address}`, limits.anonymous);
      if (ofAddress.accepted) return ofAddress;
      const who = await user();
      if (who === undefined) return ofAddress;
      // Whoever has a range of user ids to himself does not get as many buckets, each of which is written to the disk.
      const ofAll = who.isStranger ? take('strangers', limits.strangers) : undefined;
      return ofAll?.accepted === false ? ofAll : take(`${who.name} at ${address}`, limits.anonymous);
    },
    lookForClient: ({ address }) => look(`address ${address}`, limits.anonymous),
    takeFailedLogin: (apiKey) => {
      // By its hash: what is sent as a key may well be a secret that was put in the wrong place.
      const name = createHash('sha256').update(apiKey).digest('hex').slice(0, 32);
      const ofKey = take(`login ${name}`, limits.failedLogins.perKey);
      if (!ofKey.accepted) return ofKey;
      const ofAll = take('logins', limits.failedLogins.total);
      return ofAll.accepted ? undefined : ofAll;
    },
  };
}

export function quotaHeaders(quota: Quota): Readonly<Record<string, string>> {
  return {
    'x-ratelimit-limit': String(quota.limit),
    'x-ratelimit-remaining': String(quota.remaining),
    'x-ratelimit-reset': String(Math.ceil(quota.resetAtMs / 1000)),
  };
}

/** `what` names what there were too many of. */
export function tooMany(what: string, quota: Quota): ApiError {
  // Rounded up: a retry at that second must not be refused again.
  const seconds = Math.max(1, Math.ceil(quota.retryAfterMs / 1000));
  return new ApiError('RATE_LIMIT_EXCEEDED', `Too many ${what}`, {
    hint: `Wait ${seconds} seconds.`,
    details: {
      limit: quota.limit,
      window_seconds: Math.round(quota.windowMs / 1000),
      retry_after_seconds: seconds,
    },
    headers: { 'retry-after': String(seconds) },
  });
}
