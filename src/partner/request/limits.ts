/** Every limit of the Partner service's server in one place; tests put smaller ones in. */
import { DEFAULT_LIMITS, type RequestLimit, type ServerLimits } from '../../api/wire/limits.ts';

export interface PartnerLimits extends ServerLimits {
  /** Of each partner, whatever became of its key. */
  readonly partner: RequestLimit;
  /**
   * Of each device, in each instance: it keeps an agent that went wrong from being a burden, and is no part of what anybody
   * pays for. Counting it in the store would cost a write for every sign of life of every machine.
   */
  readonly device: RequestLimit;
  /** Without a valid key, of each address and in each instance. */
  readonly anonymous: RequestLimit;
  /**
   * Signing in to the settings page that failed, in all instances together: of an account, from a place in the network, in
   * all, of accounts of which nothing failed before, which is beyond all, and by a code.
   */
  readonly failedSignIns: {
    readonly perAccount: RequestLimit;
    readonly perNetwork: RequestLimit;
    readonly total: RequestLimit;
    readonly first: RequestLimit;
    readonly codes: RequestLimit;
  };
}

const {
  plans: _plans,
  anonymous,
  strangers: _strangers,
  failedLogins: _logins,
  tokenSeconds: _seconds,
  ...server
} = DEFAULT_LIMITS;

export const PARTNER_LIMITS: PartnerLimits = {
  ...server,
  // Agents keep theirs open between two reports.
  maxConnections: 4_096,
  partner: { requests: 120, windowMs: 60_000 },
  device: { requests: 60, windowMs: 60_000 },
  anonymous,
  failedSignIns: {
    perAccount: { requests: 10, windowMs: 60_000 },
    perNetwork: { requests: 20, windowMs: 60_000 },
    total: { requests: 60, windowMs: 60_000 },
    first: { requests: 600, windowMs: 60_000 },
    // Three of a million codes are good at any time: a day of guessing has one chance in a thousand, and needs the password.
    codes: { requests: 15, windowMs: 3_600_000 },
  },
};
