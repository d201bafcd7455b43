/** All limits of the server in one place; tests use smaller ones. */
import type { Settings } from '../../config/settings.ts';

export type Plan = Settings['plan'];

/** A plan set by a partner, which applies instead of the one in the settings. */
export interface PartnerPlan {
  readonly slug: Plan;
  readonly requestsPerHour: number;
}

export interface RequestLimit {
  readonly requests: number;
  readonly windowMs: number;
}

export interface ApiLimits {
  /** Requests with a token, for the whole installation. */
  readonly plans: Readonly<Record<Plan, RequestLimit>>;
  /** Requests without a token, for each address, and on this machine for each user. */
  readonly anonymous: RequestLimit;
  /**
   * Requests without a token of all local users together, except the agent's own, since there may be very many users.
   * Beyond this limit each user still has a small share (rate-limits.ts).
   */
  readonly strangers: RequestLimit;
  /** Failed logins. */
  readonly failedLogins: { readonly perKey: RequestLimit; readonly total: RequestLimit };
  readonly tokenSeconds: number;

  readonly bodyBytes: number;
  /** Request line and headers. */
  readonly headerBytes: number;
  /** Levels of nesting of a JSON body, and the number of its values. */
  readonly bodyDepth: number;
  readonly bodyValues: number;

  /** Connections of all addresses that are listened on. When there are more, some are closed (connections/shares.ts). */
  readonly maxConnections: number;
  /** Time for the headers of a request to arrive. */
  readonly headersTimeoutMs: number;
  /** Time for a whole request to arrive. */
  readonly requestTimeoutMs: number;
  /** Interval between checks for requests that take too long. */
  readonly timeoutCheckMs: number;
  /** A connection is closed when it is silent for this long while the client is expected to act. */
  readonly connectionTimeoutMs: number;
  /** Time that an idle connection is kept open between two requests. */
  readonly keepAliveTimeoutMs: number;
  /** Time for a handler to answer, unless its route declares a `duration`. */
  readonly handlerTimeoutMs: number;
}

/** Limits of the server itself, whoever is served. */
export type ServerLimits = Omit<
  ApiLimits,
  'plans' | 'anonymous' | 'strangers' | 'failedLogins' | 'tokenSeconds'
>;

export const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

export const DEFAULT_LIMITS: ApiLimits = {
  plans: {
    free_trial: { requests: 100, windowMs: HOUR_MS },
    pro: { requests: 1_000, windowMs: HOUR_MS },
    business: { requests: 10_000, windowMs: HOUR_MS },
  },
  anonymous: { requests: 600, windowMs: MINUTE_MS },
  strangers: { requests: 2_400, windowMs: MINUTE_MS },
  failedLogins: {
    perKey: { requests: 10, windowMs: MINUTE_MS },
    total: { requests: 60, windowMs: MINUTE_MS },
  },
  tokenSeconds: 3_600,

  bodyBytes: 1_048_576,
  headerBytes: 16_384,
  // The deepest body that a route takes has four levels.
  bodyDepth: 32,
  // A thousand paths and a thousand rules stay far below it; a megabyte of commas does not.
  bodyValues: 20_000,

  maxConnections: 512,
  headersTimeoutMs: 15_000,
  requestTimeoutMs: 30_000,
  timeoutCheckMs: 2_000,
  connectionTimeoutMs: 15_000,
  keepAliveTimeoutMs: 10_000,
  handlerTimeoutMs: 30_000,
};
