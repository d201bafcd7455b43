import { describe, expect, test } from 'vitest';
import { grantedPlan, heldBack, refreshAt, TRIAL_GRACE_MS } from '../../../src/enrollment/plan.ts';
import type { PlanDocument } from '../../../src/enrollment/signed.ts';

const DAY = 86_400;
const plan: PlanDocument = {
  aud: 'dev_1',
  iat: 1_000_000,
  exp: 1_000_000 + DAY,
  grace_until: 1_000_000 + 15 * DAY,
  revision: 'one',
  plan: { slug: 'business', desktop_requests_per_hour: 10_000, storage_limit_bytes: 1 },
  status: 'active',
  trial_ends_at: null,
  expected_reports_seconds: 900,
};
const FREE = { slug: 'free_trial', requestsPerHour: 100 };
const DEFAULTS = { whileSuspended: 'run', afterTrial: 'wait' } as const;

describe('a plan', () => {
  test('holds to the end of its grace, and not a moment longer', () => {
    const granted = { slug: 'business', requestsPerHour: 10_000 };
    expect(grantedPlan(plan, plan.exp * 1000 + 1)).toEqual(granted);
    expect(grantedPlan(plan, plan.grace_until * 1000 - 1)).toEqual(granted);
    expect(grantedPlan(plan, plan.grace_until * 1000)).toEqual(FREE);
    expect(grantedPlan(undefined, 0)).toEqual(FREE);
  });

  test('is fetched anew while a quarter of its time is left', () => {
    expect(refreshAt(plan)).toBe((plan.exp - DAY / 4) * 1000);
  });
});

describe('backups that nobody asked for', () => {
  const endedAt = 2_000_000;
  const over: PlanDocument = { ...plan, status: 'trial_expired', trial_ends_at: endedAt };
  const suspended: PlanDocument = { ...plan, status: 'suspended' };

  test('go on while the account is active, also long after the plan is over', () => {
    expect(heldBack(plan, DEFAULTS, plan.grace_until * 2_000)).toBeNull();
    expect(heldBack(undefined, DEFAULTS, 0)).toBeNull();
  });

  test('go on while it is suspended, unless the settings say otherwise', () => {
    expect(heldBack(suspended, DEFAULTS, 0)).toBeNull();
    expect(heldBack(suspended, { ...DEFAULTS, whileSuspended: 'wait' }, 0)).toBe('account_suspended');
  });

  test('wait from a week after the trial, unless the settings say otherwise', () => {
    const wait = endedAt * 1000 + TRIAL_GRACE_MS;
    expect(heldBack(over, DEFAULTS, wait - 1)).toBeNull();
    expect(heldBack(over, DEFAULTS, wait)).toBe('trial_over');
    expect(heldBack(over, { ...DEFAULTS, afterTrial: 'run' }, wait)).toBeNull();
    expect(heldBack({ ...over, trial_ends_at: null }, DEFAULTS, 0)).toBe('trial_over');
  });
});
