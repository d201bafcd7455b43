/** What a device's customer may have, signed, so that the agent can go by it while the service is out of reach. */
import { createHash } from 'node:crypto';
import type { SigningKey } from '../secrets/keys.ts';
import type { DeviceCaller } from '../store/devices.ts';
import { seconds, sign } from './signature.ts';

export interface SignedPlan {
  readonly revision: string;
  readonly document: string;
}

/** A change is seen by the revision in the next report's reply; a day is for devices that report nothing else. */
const VALID_SECONDS = 86_400;
/** From the signing on: an outage of the service, or a fortnight without a network, takes nothing from a customer who pays. */
const GRACE_SECONDS = 14 * 86_400;
/** The reply to a sign of life names the plan that counts, and the contract promises that it does within a minute. */
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

/** The same for the same content, whenever it is signed. */
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
