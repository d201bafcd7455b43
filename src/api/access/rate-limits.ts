/** Counts requests against the limits of their callers, and states what is left in headers. */
import { createHash } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import type { RateLog } from '../../db/rate-log.ts';
import { ApiError } from '../wire/api-error.ts';
import type { Client } from './clients.ts';
import type { ApiLimits, RequestLimit } from '../wire/limits.ts';

/** What is left of one limit after a request. */
export interface Quota {
  readonly accepted: boolean;
  readonly limit: number;
  readonly windowMs: number;
  readonly remaining: number;
  /** When the next slot becomes free. Milliseconds since 1970. */
  readonly resetAtMs: number;
  /** Milliseconds until a request is accepted; 0 when this one was. */
  readonly retryAfterMs: number;
}

export interface RateLimits {
  /** Counts a request against the installation's plan. */
  takeForPlan(): Quota;
  /** As `takeForPlan`, without counting: for requests that are free of charge. */
  lookForPlan(): Quota;
  /** Counts a request without a token against the limits of the client (clients.ts). */
  takeForClient(client: Client): Promise<Quota>;
  /**
   * What is left for the client's address, without counting: for requests that are refused before anything is done for
   * them.
   */
  lookForClient(client: Client): Quota;
  /**
   * Counts a failed login. Returns the exhausted quota when there were too many, for that key or in total; otherwise
   * undefined.
   */
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

  const shares = createShares(limits.anonymous, clock);

  return {
    takeForPlan: () => take('desktop', ofPlan()),
    lookForPlan: () => look('desktop', ofPlan()),
    takeForClient: async ({ address, user }) => {
      const ofAddress = take(`address ${address}`, limits.anonymous);
      if (ofAddress.accepted) return ofAddress;
      const who = await user();
      if (who === undefined) return ofAddress;
      const own = `${who.name} at ${address}`;
      // A user who has used up their own limit takes nothing from the limit shared by all.
      const left = look(own, limits.anonymous);
      if (!left.accepted) return left;
      // Limits strangers together first: somebody who controls a range of user ids would otherwise create as many
      // buckets, each of which is written to disk.
      const ofAll = who.isStranger ? take('strangers', limits.strangers) : undefined;
      if (ofAll?.accepted === false) return shares.take(own) ?? ofAll;
      return take(own, limits.anonymous);
    },
    lookForClient: ({ address }) => look(`address ${address}`, limits.anonymous),
    takeFailedLogin: (apiKey) => {
      // Keyed by the hash, because the value sent as the key may be a secret that was put in the wrong place.
      const name = createHash('sha256').update(apiKey).digest('hex').slice(0, 32);
      const ofKey = take(`login ${name}`, limits.failedLogins.perKey);
      if (!ofKey.accepted) return ofKey;
      const ofAll = take('logins', limits.failedLogins.total);
      return ofAll.accepted ? undefined : ofAll;
    },
  };
}

/** A user is always granted this fraction (1 / SHARE) of their own limit, whatever all others request. */
const SHARE = 10;
/**
 * Users whose shares are counted at a time. They are counted in memory only, since somebody may invent any number of
 * users. Others get no share until a window ends: if a running window were dropped instead, somebody with more users
 * than this would get a new share with each request.
 */
const MOST_SHARES = 1_000;

interface Shares {
  /** Undefined when the user's share is used up as well, or too many others have shares. */
  take(name: string): Quota | undefined;
}

function createShares({ requests, windowMs }: RequestLimit, clock: Clock): Shares {
  const most = Math.max(1, Math.floor(requests / SHARE));
  /**
   * The end of each user's window, by the monotonic clock, and the requests counted in it; the earliest window comes
   * first.
   */
  const taken = new Map<string, { readonly endsMs: number; count: number }>();
  return {
    take(name) {
      const nowMs = clock.monotonic();
      for (const [other, { endsMs }] of taken) {
        if (endsMs > nowMs) break;
        taken.delete(other);
      }
      const share = taken.get(name) ?? { endsMs: nowMs + windowMs, count: 0 };
      if (share.count >= most || (share.count === 0 && taken.size >= MOST_SHARES)) return undefined;
      taken.set(name, share);
      share.count += 1;
      const resetAtMs = clock.now() + share.endsMs - nowMs;
      return {
        accepted: true,
        limit: requests,
        windowMs,
        remaining: most - share.count,
        resetAtMs,
        retryAfterMs: 0,
      };
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

/** @param what what there were too many of */
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
