/** Signs orders and plans as compact JWS with Ed25519. An agent verifies them with the key that it received at enrollment. */
import { createHash } from 'node:crypto';
import { type JWTPayload, SignJWT } from 'jose';
import type { SigningKey } from '../secrets/keys.ts';
import type { DeviceCaller } from '../store/devices.ts';
import type { Order } from '../store/orders.ts';

/** Each kind of document has its own type, so that none can be mistaken for another. */
export type DocumentType = 'holdfast-plan+jwt' | 'holdfast-order+jwt';

async function sign(
  { privateKey, kid }: SigningKey,
  type: DocumentType,
  claims: JWTPayload,
): Promise<string> {
  return await new SignJWT(claims).setProtectedHeader({ alg: 'EdDSA', typ: type, kid }).sign(privateKey);
}

/** The public key as a JSON Web Key (RFC 8037). */
export function publicJwk({ publicKey, kid }: SigningKey) {
  const { x = '' } = publicKey.export({ format: 'jwk' });
  return { kty: 'OKP' as const, crv: 'Ed25519' as const, x, kid };
}

/** Times of signed documents are whole seconds (RFC 7519). */
function seconds(ms: number): number {
  return Math.floor(ms / 1000);
}

/** Signs an order for a single device. It is valid once, and for an hour at most. */
export async function signOrder(order: Order, signing: SigningKey): Promise<string> {
  return await sign(signing, 'holdfast-order+jwt', {
    jti: order.id,
    aud: order.deviceId,
    iat: seconds(order.createdAt),
    exp: seconds(order.expiresAt),
    order: order.kind,
  });
}

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
