/** What a plan means for this agent at a given time. Pure. */
import type { Settings } from '../config/settings.ts';
import type { PlanDocument } from './signed.ts';

export interface GrantedPlan {
  readonly slug: Settings['plan'];
  readonly requestsPerHour: number;
}

const FREE_TRIAL: GrantedPlan = { slug: 'free_trial', requestsPerHour: 100 };

/** Milliseconds that backups go on after the end of a trial, so that nobody is left without them over a weekend. */
export const TRIAL_GRACE_MS = 7 * 86_400_000;

/**
 * The limits in effect: those of the plan until its grace period ends, whether or not the service can be reached, then
 * those of the free trial.
 */
export function grantedPlan(document: PlanDocument | undefined, nowMs: number): GrantedPlan {
  if (document === undefined || isOver(document, nowMs)) return FREE_TRIAL;
  const { slug, desktop_requests_per_hour: requestsPerHour } = document.plan;
  return { slug, requestsPerHour };
}

export function isOver({ grace_until: graceUntil }: PlanDocument, nowMs: number): boolean {
  return nowMs >= graceUntil * 1000;
}

/** When to fetch a new plan, in milliseconds since 1970: once only a quarter of its lifetime is left. */
export function refreshAt({ iat, exp }: PlanDocument): number {
  return (exp - (exp - iat) / 4) * 1000;
}

export type HeldBack = 'account_suspended' | 'trial_over';

/**
 * Why automatic backups are held back; null when they are not. The decision uses the service's last answer, so that an
 * unreachable service never stops backups.
 */
export function heldBack(
  document: PlanDocument | undefined,
  { whileSuspended, afterTrial }: Settings['partner'],
  nowMs: number,
): HeldBack | null {
  if (document?.status === 'suspended' && whileSuspended === 'wait') return 'account_suspended';
  if (document?.status !== 'trial_expired' || afterTrial === 'run') return null;
  const endedAt = document.trial_ends_at;
  if (endedAt !== null && nowMs < endedAt * 1000 + TRIAL_GRACE_MS) return null;
  return 'trial_over';
}
