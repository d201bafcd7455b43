/** Authenticates requests to the Partner API by their key. */
import type { IncomingMessage } from 'node:http';
import { ApiError } from '../../api/wire/api-error.ts';
import { soleHeader } from '../../api/wire/headers.ts';
import type { ApiKey } from '../store/api-keys.ts';
import type { DeviceCaller } from '../store/devices.ts';
import type { PartnerStores } from '../store/store.ts';

export type Caller =
  | { readonly kind: 'partner'; readonly key: ApiKey; readonly isSuspended: boolean }
  | { readonly kind: 'device'; readonly device: DeviceCaller; readonly isSuspended: boolean }
  /** `problem` creates the response for a route that needs a key. */
  | { readonly kind: 'anonymous'; readonly problem: (needed: KeyKind) => ApiError };

/** `api`: the key of a partner, made on the settings page. `device`: the key of an agent, from its enrollment. */
export type KeyKind = 'api' | 'device';

/** Longer than any key that was ever issued. */
const LONGEST_KEY = 256;
const DEVICE_KEY = /^hfd_/;

/** The caller of a request whose key, if any, was not looked at. */
export const NO_KEY: Caller = {
  kind: 'anonymous',
  problem: (needed) => unauthorized('The request has no API key', needed),
};

/** Never refuses a request: its route decides what an anonymous caller may do. */
export async function identify(
  { rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>,
  { apiKeys, devices }: Pick<PartnerStores, 'apiKeys' | 'devices'>,
): Promise<Caller> {
  const sent = secretOf(rawHeaders);
  if ('problem' in sent)
    return { kind: 'anonymous', problem: (needed) => unauthorized(sent.problem, needed) };
  if (sent.isBearer && DEVICE_KEY.test(sent.secret)) {
    const device = await devices.verify(sent.secret);
    if (device === undefined) return { kind: 'anonymous', problem: invalidKey };
    return { kind: 'device', device, isSuspended: device.partnerStatus === 'suspended' };
  }
  const found = await apiKeys.verify(sent.secret);
  if (found === undefined) return { kind: 'anonymous', problem: invalidKey };
  return { kind: 'partner', key: found.key, isSuspended: found.partnerStatus === 'suspended' };
}

type Sent = { readonly secret: string; readonly isBearer: boolean } | { readonly problem: string };

/** The key of a request. If there is an `Authorization` header, `X-API-Key` is ignored. */
function secretOf(rawHeaders: readonly string[]): Sent {
  if (has(rawHeaders, 'authorization')) {
    const match = /^Bearer +(\S+) *$/i.exec(soleHeader(rawHeaders, 'authorization') ?? '');
    const secret = match?.[1];
    return secret !== undefined && secret.length <= LONGEST_KEY
      ? { secret, isBearer: true }
      : { problem: 'The Authorization header is not of the form "Bearer <key>"' };
  }
  if (!has(rawHeaders, 'x-api-key')) return { problem: 'The request has no key' };
  const secret = soleHeader(rawHeaders, 'x-api-key')?.trim() ?? '';
  return secret !== '' && secret.length <= LONGEST_KEY
    ? { secret, isBearer: false }
    : { problem: 'The X-API-Key header does not contain one API key' };
}

function has(rawHeaders: readonly string[], name: string): boolean {
  return rawHeaders.some((text, index) => index % 2 === 0 && text.toLowerCase() === name);
}

/** The same text for unknown, revoked and replaced keys, and for keys of the other kind. */
export function invalidKey(needed: KeyKind): ApiError {
  return needed === 'api'
    ? new ApiError('INVALID_API_KEY', 'The API key is not valid', {
        hint: 'Create one in the API section of the settings page.',
        headers: CHALLENGE,
      })
    : new ApiError('INVALID_API_KEY', 'The device key is not valid', {
        hint: 'If the device was removed, enroll it again with a token from its partner.',
        headers: CHALLENGE,
      });
}

function unauthorized(message: string, needed: KeyKind): ApiError {
  return new ApiError('UNAUTHORIZED', message, {
    hint:
      needed === 'api'
        ? 'Send the key as "Authorization: Bearer <API key>" or in X-API-Key.'
        : 'Send the key of the device as "Authorization: Bearer <device key>".',
    headers: CHALLENGE,
  });
}

const CHALLENGE = { 'www-authenticate': 'Bearer realm="holdfast-partner"' };
