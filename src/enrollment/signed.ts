/**
 * Verifies what the Partner service signs: plans and orders. Both are valid only with a signature of the key that was
 * pinned when the device enrolled, and only for this device.
 */
import { compactVerify, importJWK } from 'jose';
import { fieldOf, invalidReply } from './ask-partner.ts';

/** A JSON Web Key (RFC 8037). */
export interface ServiceKey {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly x: string;
  readonly kid: string;
}

/** Times are seconds since 1970. */
export interface PlanDocument {
  readonly aud: string;
  readonly iat: number;
  readonly exp: number;
  readonly grace_until: number;
  readonly revision: string;
  readonly plan: {
    readonly slug: 'free_trial' | 'pro' | 'business';
    readonly desktop_requests_per_hour: number;
    readonly storage_limit_bytes: number;
  };
  readonly status: 'active' | 'suspended' | 'trial_expired';
  readonly trial_ends_at: number | null;
  readonly expected_reports_seconds: number;
}

/** The only orders; any other request of a service is refused. */
export type OrderKind = 'run_backup' | 'report';

export interface Order {
  readonly jti: string;
  readonly order: OrderKind;
  /** Seconds since 1970. */
  readonly exp: number;
}

const PLAN_TYPE = 'holdfast-plan+jwt';
const ORDER_TYPE = 'holdfast-order+jwt';
const SLUGS: readonly unknown[] = ['free_trial', 'pro', 'business'];
const STATUSES: readonly unknown[] = ['active', 'suspended', 'trial_expired'];
const ORDERS: readonly unknown[] = ['run_backup', 'report'];
const ORDER_FIELDS = ['aud', 'exp', 'iat', 'jti', 'order'];
const LONGEST_ORDER_SECONDS = 3_600;
/** Tolerance for clocks that differ. */
const FUTURE_SECONDS = 300;

/** Parses a JSON value as a key; undefined when it cannot be used as one. */
export function serviceKeyOf(value: unknown): ServiceKey | undefined {
  const [kty, crv, x, kid] = ['kty', 'crv', 'x', 'kid'].map((name) => fieldOf(value, name));
  const good =
    kty === 'OKP' &&
    crv === 'Ed25519' &&
    typeof x === 'string' &&
    /^[A-Za-z0-9_-]{43}$/.test(x) &&
    typeof kid === 'string' &&
    kid.length > 0 &&
    kid.length <= 64;
  return good ? { kty, crv, x, kid } : undefined;
}

/**
 * The content of a signed plan, even if it has expired. Unknown fields, which a newer service may add, are ignored.
 * @throws {PartnerError} PARTNER_REPLY_INVALID
 */
export async function readPlan(text: string, key: ServiceKey, deviceId: string): Promise<PlanDocument> {
  const claims = await verified(text, PLAN_TYPE, key, 'The plan');
  const value = (name: string): unknown => fieldOf(claims, name);
  const plan = value('plan');
  const [iat, exp, grace] = [value('iat'), value('exp'), value('grace_until')];
  const good =
    value('aud') === deviceId &&
    isTime(iat) &&
    isTime(exp) &&
    isTime(grace) &&
    exp > iat &&
    typeof value('revision') === 'string' &&
    SLUGS.includes(fieldOf(plan, 'slug')) &&
    isCount(fieldOf(plan, 'desktop_requests_per_hour'), 1, 1_000_000) &&
    isCount(fieldOf(plan, 'storage_limit_bytes'), 0, Number.MAX_SAFE_INTEGER) &&
    STATUSES.includes(value('status')) &&
    (value('trial_ends_at') === null || isTime(value('trial_ends_at'))) &&
    isCount(value('expected_reports_seconds'), 1, 366 * 86_400);
  if (!good) throw invalidReply('The plan');
  return claims as unknown as PlanDocument;
}

/**
 * The content of a signed order, if it is for this device and valid at this time.
 * @throws {PartnerError} PARTNER_REPLY_INVALID
 */
export async function readOrder(
  text: string,
  key: ServiceKey,
  deviceId: string,
  nowMs: number,
): Promise<Order> {
  const claims = await verified(text, ORDER_TYPE, key, 'An order');
  const value = (name: string): unknown => fieldOf(claims, name);
  const [jti, iat, exp] = [value('jti'), value('iat'), value('exp')];
  const nowSeconds = nowMs / 1000;
  const good =
    value('aud') === deviceId &&
    typeof jti === 'string' &&
    /^ord_[0-9A-HJKMNP-TV-Z]{26}$/.test(jti) &&
    isTime(iat) &&
    isTime(exp) &&
    exp > iat &&
    exp - iat <= LONGEST_ORDER_SECONDS &&
    iat <= nowSeconds + FUTURE_SECONDS &&
    ORDERS.includes(value('order')) &&
    // An order with parameters is one that this version does not know.
    Object.keys(claims).sort().join() === ORDER_FIELDS.join();
  if (!good) throw invalidReply('An order');
  if (exp <= nowSeconds) throw invalidReply('An order whose time is over');
  return { jti, exp, order: value('order') as OrderKind };
}

async function verified(text: string, type: string, key: ServiceKey, what: string): Promise<object> {
  try {
    const publicKey = await importJWK({ kty: key.kty, crv: key.crv, x: key.x }, 'EdDSA');
    const { payload, protectedHeader } = await compactVerify(text, publicKey, { algorithms: ['EdDSA'] });
    const { typ, kid } = protectedHeader;
    const claims: unknown = JSON.parse(Buffer.from(payload).toString('utf8'));
    if (typ === type && kid === key.kid && typeof claims === 'object' && claims !== null) return claims;
  } catch (cause) {
    // The content does not matter, as it is not signed by the service.
    throw invalidReply(`${what} that is not signed with the key of the service`, cause);
  }
  throw invalidReply(what);
}

function isTime(value: unknown): value is number {
  return isCount(value, 0, 253_402_300_799);
}

function isCount(value: unknown, least: number, most: number): value is number {
  return Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most;
}
