/** Every limit of the server in one place; tests put smaller ones in. */
import type { Settings } from '../../config/settings.ts';

export type Plan = Settings['plan'];

/** A plan of a partner, which holds instead of the one in the settings. */
export interface PartnerPlan {
  readonly slug: Plan;
  readonly requestsPerHour: number;
}

export interface RequestLimit {
  readonly requests: number;
  readonly windowMs: number;
}

export interface ApiLimits {
  /** Requests with a token, all of the installation together. */
  readonly plans: Readonly<Record<Plan, RequestLimit>>;
  /** Requests without a token, for each address, and of this machine for each user. */
  readonly anonymous: RequestLimit;
  /**
   * The same of all users of this machine together, but for the agent's own: there may be more users than anybody counts.
   * Beyond it each has a share of what is his (rate-limits.ts).
   */
  readonly strangers: RequestLimit;
  /** Logins that fail. */
  readonly failedLogins: { readonly perKey: RequestLimit; readonly total: RequestLimit };
  readonly tokenSeconds: number;

  readonly bodyBytes: number;
  /** Request line and headers. */
  readonly headerBytes: number;
  /** JSON: levels of nesting, and values in all. */
  readonly bodyDepth: number;
  readonly bodyValues: number;

  /** Of all addresses that are listened on; more make some of them go (connections/shares.ts). */
  readonly maxConnections: number;
  /** For the headers of a request to arrive. */
  readonly headersTimeoutMs: number;
  /** For a whole request to arrive. */
  readonly requestTimeoutMs: number;
  /** How often requests are looked at that take too long. */
  readonly timeoutCheckMs: number;
  /** A connection is closed that is silent for so long while something is expected of it. */
  readonly connectionTimeoutMs: number;
  /** An idle connection between two requests. */
  readonly keepAliveTimeoutMs: number;
  /** For a handler to answer, unless its route says that it takes long. */
  readonly handlerTimeoutMs: number;
}

/** Of the server itself, whoever is served. */
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
  // A thousand paths and as many rules are far below it; a megabyte of commas is not.
  bodyValues: 20_000,

  maxConnections: 512,
  headersTimeoutMs: 15_000,
  requestTimeoutMs: 30_000,
  timeoutCheckMs: 2_000,
  connectionTimeoutMs: 15_000,
  keepAliveTimeoutMs: 10_000,
  handlerTimeoutMs: 30_000,
};
