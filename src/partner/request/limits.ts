/** All limits of the Partner service's server in one place; tests use smaller ones. */
import { DEFAULT_LIMITS, type RequestLimit, type ServerLimits } from '../../api/wire/limits.ts';

export interface PartnerLimits extends ServerLimits {
  /** Requests of each partner, including after its key was replaced. */
  readonly partner: RequestLimit;
  /**
   * Requests of each device, counted by each instance alone. It protects against faulty agents and is not part of any
   * plan. Counting in the store would cost a write for every message of every device.
   */
  readonly device: RequestLimit;
  /** Requests without a valid key, for each address, counted by each instance alone. */
  readonly anonymous: RequestLimit;
  /**
   * Failed sign-ins to the settings page, counted in all instances together. `perAccount`: to one account, or from a
   * browser that signed in to it before. `perNetwork`: from one network. `total`: to all accounts. `first`: a further
   * limit once `total` is used up, for accounts without an earlier failure. `codes`: guesses of the second factor of
   * one account.
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
  // Agents keep their connections open between two reports.
  maxConnections: 4_096,
  partner: { requests: 120, windowMs: 60_000 },
  device: { requests: 60, windowMs: 60_000 },
  anonymous,
  failedSignIns: {
    perAccount: { requests: 10, windowMs: 60_000 },
    perNetwork: { requests: 20, windowMs: 60_000 },
    total: { requests: 60, windowMs: 60_000 },
    first: { requests: 600, windowMs: 60_000 },
    // Three of a million codes are valid at any time. A day of guessing has one chance in a thousand, and needs the
    // password.
    codes: { requests: 15, windowMs: 3_600_000 },
  },
};
