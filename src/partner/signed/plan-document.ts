/** Signs what a device's customer may use, so that the agent can rely on it while the service is unreachable. */
import { createHash } from 'node:crypto';
import type { SigningKey } from '../secrets/keys.ts';
import type { DeviceCaller } from '../store/devices.ts';
import { seconds, sign } from './signature.ts';

export interface SignedPlan {
  readonly revision: string;
  readonly document: string;
}

/**
 * Validity of a document. Devices learn of a change from the revision in the response to their next report; the
 * validity is for devices that do not report.
 */
const VALID_SECONDS = 86_400;
/**
 * Counted from the signing. An outage of the service, or two weeks without a network, must not take anything from a
 * paying customer.
 */
const GRACE_SECONDS = 14 * 86_400;
/**
 * Interval in which a device should report that it is alive. The response names the current plan, and the contract
 * promises that changes apply within a minute.
 */
const SIGN_OF_LIFE_SECONDS = 45;

export async function signPlan(caller: DeviceCaller, now: number, signing: SigningKey): Promise<SignedPlan> {
  const issuedAt = seconds(now);
  const revision = planRevision(caller, now);
  const document = await sign(signing, 'holdfast-plan+jwt', {
    aud: caller.device.id,
    iat: issuedAt,
    exp: issuedAt + VALID_SECONDS,
    grace_until: issuedAt + GRACE_SECONDS,
    revision,
    ...contentOf(caller, now),
  });
  return { revision, document };
}

/** A hash of the content, independent of the time of signing. */
export function planRevision(caller: DeviceCaller, now: number): string {
  return createHash('sha256')
    .update(JSON.stringify(contentOf(caller, now)))
    .digest('base64url');
}

function contentOf({ plan, trialEndsAt, customerStatus }: DeviceCaller, now: number) {
  const hasExpired = trialEndsAt !== null && trialEndsAt <= now;
  const unlessSuspended = hasExpired ? 'trial_expired' : 'active';
  return {
    plan: {
      slug: plan.slug,
      desktop_requests_per_hour: plan.desktopRequestsPerHour,
      storage_limit_bytes: plan.storageLimitBytes,
    },
    status: customerStatus === 'suspended' ? 'suspended' : unlessSuspended,
    trial_ends_at: trialEndsAt === null ? null : seconds(trialEndsAt),
    expected_reports_seconds: SIGN_OF_LIFE_SECONDS,
  };
}
