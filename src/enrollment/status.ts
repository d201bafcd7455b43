/** Describes an enrollment, for its owner and for `GET /status`. Pure. */
import { holdfast } from '../base/holdfast-command.ts';
import type { PartnerCheckCode, PartnerStatus, ReportProblem, StatusCheck } from '../jobs/agent.ts';
import type { PartnerError, PartnerErrorCode } from './ask-partner.ts';
import { isUnknownDevice } from './backoff.ts';
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

const DEVICE_REMOVED = 'The Partner service no longer knows this device';

/** What to do where the partner has removed the device. */
export function endEnrollmentHint(): string {
  return `End the enrollment with: ${holdfast`enroll --leave`}`;
}

/** Why the last report did not arrive. */
export function reportProblem(
  error: PartnerError | null,
): Pick<NonNullable<PartnerStatus['reports']>, 'problem' | 'problem_code'> {
  if (error === null) return { problem: null, problem_code: null };
  if (isUnknownDevice(error)) return { problem: DEVICE_REMOVED, problem_code: 'device_removed' };
  if (error.reason === 'PARTNER_SUSPENDED')
    return {
      problem:
        'Your partner’s account with the Partner service is suspended; reports wait until it is resumed',
      problem_code: 'partner_suspended',
    };
  return { problem: error.message, problem_code: PROBLEM_CODES[error.code] };
}

const PROBLEM_CODES: Readonly<Record<PartnerErrorCode, ReportProblem>> = {
  PARTNER_UNREACHABLE: 'unreachable',
  PARTNER_REFUSED: 'refused',
  PARTNER_REPLY_INVALID: 'reply_invalid',
};

/** Contains no names and addresses, as anybody on the machine may read it. */
export function checksOf({ plan }: KnownEnrollment, facts: CheckFacts): readonly StatusCheck[] {
  const { heldBack, afterTrial, isUnknownDevice, isContradicted, nowMs } = facts;
  const checks: StatusCheck[] = [];
  const warn = (code: PartnerCheckCode, message: string): void =>
    void checks.push({ name: NAME, status: 'warning', code, message });
  if (isUnknownDevice) warn('device_removed', `${DEVICE_REMOVED}. ${endEnrollmentHint()}`);
  if (isContradicted) {
    const message = `The Partner service knows more of a repository than is there: it was replaced with an earlier copy, or two machines write to it as one. Run: ${holdfast`check`}`;
    checks.push({ name: NAME, status: 'error', code: 'repository_contradicted', message });
  }
  if (heldBack !== null) {
    const message = `${waitText({ code: heldBack, params: {} })} Scheduled and watched backups wait; backups that you start run.`;
    const code = heldBack === 'trial_over' ? 'trial_ended_waiting' : 'account_suspended_waiting';
    checks.push({ name: NAME, status: 'error', code, message });
  } else if (plan?.status === 'suspended')
    warn('account_suspended', 'The account at the partner is suspended; backups continue.');
  else if (plan?.status === 'trial_expired' && afterTrial === 'wait')
    warn(
      'trial_ended_stopping',
      'The trial at the partner is over: scheduled backups stop a week after its end. Ask your partner for a plan.',
    );
  else if (plan?.status === 'trial_expired')
    warn('trial_ended', 'The trial at the partner is over; backups continue.');
  if (plan === undefined || isOver(plan, nowMs))
    warn('no_plan', 'No plan of the partner is in force, so the limits of the free trial apply.');
  return checks;
}

export function damageChecks(isDamaged: boolean): readonly StatusCheck[] {
  const message = `The enrollment with a Partner service cannot be read. End it with: ${holdfast`enroll --leave`}`;
  return isDamaged ? [{ name: NAME, status: 'warning', code: 'enrollment_unreadable', message }] : [];
}
