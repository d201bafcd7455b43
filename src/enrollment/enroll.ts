/** Enrolls this device with a Partner service, by a token that works once. */
import { RequestError } from '../base/errors.ts';
import { holdfast } from '../base/holdfast-command.ts';
import { askPartner, fieldOf, invalidReply, partnerAddress, PartnerError } from './ask-partner.ts';
import {
  createEnrollment,
  CUSTOMER_ID,
  DEVICE_ID,
  DEVICE_KEY,
  type Enrollment,
  readEnrollment,
} from './enrollment-file.ts';
import { readPlan, serviceKeyOf } from './signed.ts';

export interface EnrollmentWish {
  readonly url: string;
  readonly token: string;
  /** The name of this device that the partner sees. */
  readonly name: string;
}

export interface EnrollmentPlace {
  readonly stateDirectory: string;
  /** Version of the program. */
  readonly version: string;
  readonly now: () => number;
}

/**
 * Enrolls the device, and stores the enrollment on disk before it returns.
 * @throws {RequestError} ALREADY_ENROLLED, INVALID_URL, INVALID_REQUEST, ENROLLMENT_TOKEN_INVALID, QUOTA_EXCEEDED
 * @throws {PartnerError} {StateError}
 */
export async function enroll(
  wish: EnrollmentWish,
  { stateDirectory, version, now }: EnrollmentPlace,
  signal: AbortSignal,
): Promise<Enrollment> {
  const known = await readEnrollment(stateDirectory);
  if (known !== undefined) throw alreadyEnrolled(known.address);
  const address = partnerAddress(wish.url);
  const name = wish.name.trim();
  if (name.length === 0 || name.length > 200)
    throw new RequestError('INVALID_REQUEST', 'The name of the device is empty or too long', {
      hint: 'Give one of 1 to 200 characters with --name.',
    });
  const body = { token: wish.token.trim(), name, platform: platformText(), agent_version: version };
  const reply = await ask(address, JSON.stringify(body), version, signal);
  const enrollment = await enrollmentOf(reply, { address, name, enrolledAt: now() });
  if (!(await createEnrollment(stateDirectory, enrollment))) throw alreadyEnrolled(address);
  return enrollment;
}

/** Operating system and processor, such as `linux-x64`. */
function platformText(): string {
  return `${process.platform}-${process.arch}`.toLowerCase();
}

async function ask(address: string, body: string, version: string, signal: AbortSignal): Promise<unknown> {
  try {
    return await askPartner(address, { method: 'POST', route: '/enroll', body, version }, signal);
  } catch (error) {
    if (!(error instanceof PartnerError)) throw error;
    throw refusalOf(error);
  }
}

/** What the page has words for. */
function reasonOf({ reason, detail }: PartnerError): string {
  if (reason === 'QUOTA_EXCEEDED') return 'plan_full';
  return detail === 'customer_suspended' || detail === 'partner_suspended' ? detail : 'token';
}

/** Turns refusals that a person can resolve into errors that say how. */
function refusalOf(error: PartnerError): Error {
  const refused = (code: string, message: string, hint: string): RequestError =>
    new RequestError(code, message, { hint, cause: error, details: { reason: reasonOf(error) } });
  if (error.reason === 'ENROLLMENT_TOKEN_INVALID' && error.detail === 'customer_suspended')
    return refused(
      'ENROLLMENT_TOKEN_INVALID',
      'Your account with your partner is suspended, so no device can be enrolled',
      'Ask your partner to resume it. The token can be used again then, within its 15 minutes.',
    );
  if (error.reason === 'ENROLLMENT_TOKEN_INVALID' && error.detail === 'partner_suspended')
    return refused(
      'ENROLLMENT_TOKEN_INVALID',
      'Your partner’s account with the Partner service is suspended, so no device can be enrolled',
      'Ask your partner. The token can be used again once that has ended, within its 15 minutes.',
    );
  if (error.reason === 'ENROLLMENT_TOKEN_INVALID')
    return refused(
      'ENROLLMENT_TOKEN_INVALID',
      'The enrollment token is unknown, already used or expired',
      'Ask your partner for a new one: each works once, for 15 minutes.',
    );
  if (error.reason === 'QUOTA_EXCEEDED')
    return refused(
      'QUOTA_EXCEEDED',
      'The plan does not allow another device',
      'Ask your partner for a larger plan, or to remove a device. The token can be used again.',
    );
  if (error.code === 'PARTNER_UNREACHABLE')
    return new PartnerError(error.code, error.message, {
      hint: 'Check the address and the network, then try again. If the token is refused then, it was already used: ask for a new one.',
      cause: error,
    });
  return error;
}

/**
 * Checks the reply completely before anything of it is used: if its plan is not signed with its own key, all of it is
 * worthless.
 */
async function enrollmentOf(
  reply: unknown,
  known: Pick<Enrollment, 'address' | 'name' | 'enrolledAt'>,
): Promise<Enrollment> {
  const word = (value: unknown, form: RegExp): string => {
    if (typeof value === 'string' && form.test(value)) return value;
    throw invalidReply('The enrollment');
  };
  const serviceKey = serviceKeyOf(fieldOf(reply, 'service_key'));
  if (serviceKey === undefined) throw invalidReply('The enrollment');
  const deviceId = word(fieldOf(reply, 'device_id'), DEVICE_ID);
  const signedPlan = word(fieldOf(fieldOf(reply, 'plan'), 'document'), /^[\w.-]{1,8192}$/);
  await readPlan(signedPlan, serviceKey, deviceId);
  return {
    ...known,
    deviceId,
    customerId: word(fieldOf(reply, 'customer_id'), CUSTOMER_ID),
    serviceKey,
    deviceKey: word(fieldOf(reply, 'secret'), DEVICE_KEY),
    signedPlan,
  };
}

export function alreadyEnrolled(address: string): RequestError {
  return new RequestError(
    'ALREADY_ENROLLED',
    `This device is already enrolled, with the Partner service at ${new URL(address).host}`,
    { hint: `To enroll it again, first end that enrollment with: ${holdfast`enroll --leave`}` },
  );
}
