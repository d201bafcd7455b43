/** What a plan means for this agent at a time. Pure. */
import type { Settings } from '../config/settings.ts';
import type { PlanDocument } from './signed.ts';

export interface GrantedPlan {
  readonly slug: Settings['plan'];
  readonly requestsPerHour: number;
}

const FREE_TRIAL: GrantedPlan = { slug: 'free_trial', requestsPerHour: 100 };

/** How long backups go on after the end of a trial, so that nobody is without them over a weekend. Milliseconds. */
export const TRIAL_GRACE_MS = 7 * 86_400_000;

/** A plan holds until the end of its grace, whether the service can be reached or not; then the limits of the free trial. */
export function grantedPlan(document: PlanDocument | undefined, nowMs: number): GrantedPlan {
  if (document === undefined || isOver(document, nowMs)) return FREE_TRIAL;
  const { slug, desktop_requests_per_hour: requestsPerHour } = document.plan;
  return { slug, requestsPerHour };
}

export function isOver({ grace_until: graceUntil }: PlanDocument, nowMs: number): boolean {
  return nowMs >= graceUntil * 1000;
}

/** From when on a new one is fetched: while a quarter of its time is left. */
export function refreshAt({ iat, exp }: PlanDocument): number {
  return (exp - (exp - iat) / 4) * 1000;
}

export type HeldBack = 'account_suspended' | 'trial_over';

/**
 * Why backups that nobody asked for are not begun; null when they are. It goes by what the service said
 * last, so that a service out of reach never stops backups.
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
