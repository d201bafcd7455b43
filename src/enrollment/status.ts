/** Describes an enrollment, for its owner and for `GET /status`. Pure. */
import { holdfast } from '../base/holdfast-command.ts';
import type { PartnerStatus, StatusCheck } from '../jobs/agent.ts';
import type { Enrollment } from './enrollment-file.ts';
import { waitText } from '../jobs/wait-text.ts';
import { isOver, type HeldBack } from './plan.ts';
import type { PlanDocument } from './signed.ts';

export interface KnownEnrollment {
  readonly enrollment: Enrollment;
  /** Undefined when the stored plan has no valid signature. */
  readonly plan: PlanDocument | undefined;
}

export function statusOf(
  { enrollment, plan }: KnownEnrollment,
  reports: PartnerStatus['reports'],
): PartnerStatus {
  const { address, deviceId, customerId, name, enrolledAt } = enrollment;
  return {
    service: address,
    device_id: deviceId,
    customer_id: customerId,
    name,
    enrolled_at: enrolledAt,
    plan:
      plan === undefined
        ? null
        : {
            slug: plan.plan.slug,
            desktop_requests_per_hour: plan.plan.desktop_requests_per_hour,
            status: plan.status,
            expires_at: plan.exp * 1000,
            grace_until: plan.grace_until * 1000,
          },
    reports,
  };
}

export interface CheckFacts {
  readonly heldBack: HeldBack | null;
  readonly afterTrial: 'run' | 'wait';
  readonly isUnknownDevice: boolean;
  /** The service remembers more of a repository than this machine has seen, or something else. */
  readonly isContradicted: boolean;
  readonly nowMs: number;
}

const NAME = 'partner';

/** Contains no names and addresses, as anybody on the machine may read it. */
export function checksOf({ plan }: KnownEnrollment, facts: CheckFacts): readonly StatusCheck[] {
  const { heldBack, afterTrial, isUnknownDevice, isContradicted, nowMs } = facts;
  const checks: StatusCheck[] = [];
  const warn = (message: string): void => void checks.push({ name: NAME, status: 'warning', message });
  if (isUnknownDevice)
    warn(
      `The Partner service no longer knows this device. End the enrollment with: ${holdfast`enroll --leave`}`,
    );
  if (isContradicted) {
    const message = `The Partner service knows more of a repository than is there: it was replaced with an earlier copy, or two machines write to it as one. Run: ${holdfast`check`}`;
    checks.push({ name: NAME, status: 'error', message });
  }
  if (heldBack !== null) {
    const message = `${waitText({ code: heldBack, params: {} })} Scheduled and watched backups wait; backups that you start run.`;
    checks.push({ name: NAME, status: 'error', message });
  } else if (plan?.status === 'suspended') warn('The account at the partner is suspended; backups continue.');
  else if (plan?.status === 'trial_expired' && afterTrial === 'wait')
    warn('The trial at the partner is over: scheduled backups stop a week after its end. Choose a plan.');
  else if (plan?.status === 'trial_expired') warn('The trial at the partner is over; backups continue.');
  if (plan === undefined || isOver(plan, nowMs))
    warn('No plan of the partner is in force, so the limits of the free trial apply.');
  return checks;
}

export function damageChecks(isDamaged: boolean): readonly StatusCheck[] {
  const message = `The enrollment with a Partner service cannot be read. End it with: ${holdfast`enroll --leave`}`;
  return isDamaged ? [{ name: NAME, status: 'warning', message }] : [];
}
