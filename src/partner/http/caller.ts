/** Whose key a request carries. */
import type { IncomingMessage } from 'node:http';
import { ApiError } from '../../api/api-error.ts';
import { soleHeader } from '../../api/sole-header.ts';
import type { ApiKey, ApiKeyStore } from '../store/api-keys.ts';

export type Caller =
  | { readonly kind: 'partner'; readonly key: ApiKey; readonly isSuspended: boolean }
  /** `problem` makes what to answer where a key is needed. */
  | { readonly kind: 'anonymous'; readonly problem: () => ApiError };

/** Longer than any key that was ever given out. */
const LONGEST_KEY = 256;

/** Never refuses: what an anonymous caller may do is for the route to say. */
export async function identify(
  { rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>,
  keys: Pick<ApiKeyStore, 'verify'>,
): Promise<Caller> {
  const secret = secretOf(rawHeaders);
  if (secret instanceof ApiError) return { kind: 'anonymous', problem: () => secret };
  const found = await keys.verify(secret);
  if (found === undefined) return { kind: 'anonymous', problem: invalidKey };
  return { kind: 'partner', key: found.key, isSuspended: found.partnerStatus === 'suspended' };
}

/** `Authorization` counts, whatever `X-API-Key` says beside it. */
function secretOf(rawHeaders: readonly string[]): string | ApiError {
  if (has(rawHeaders, 'authorization')) {
    const match = /^Bearer +(\S+) *$/i.exec(soleHeader(rawHeaders, 'authorization') ?? '');
    const secret = match?.[1];
    return secret !== undefined && secret.length <= LONGEST_KEY
      ? secret
      : unauthorized('The Authorization header is not of the form "Bearer <API key>"');
  }
  if (!has(rawHeaders, 'x-api-key')) return unauthorized('The request carries no API key');
  const secret = soleHeader(rawHeaders, 'x-api-key')?.trim() ?? '';
  return secret !== '' && secret.length <= LONGEST_KEY
    ? secret
    : unauthorized('The X-API-Key header does not hold one API key');
}

function has(rawHeaders: readonly string[], name: string): boolean {
  return rawHeaders.some((text, index) => index % 2 === 0 && text.toLowerCase() === name);
}

/** One text for keys that are unknown, revoked and replaced. */
function invalidKey(): ApiError {
  return new ApiError('INVALID_API_KEY', 'The API key is not valid', {
    hint: 'Make one in the API section of the settings page.',
    headers: CHALLENGE,
  });
}

function unauthorized(message: string): ApiError {
  return new ApiError('UNAUTHORIZED', message, {
    hint: 'Send the key as "Authorization: Bearer <API key>" or in X-API-Key.',
    headers: CHALLENGE,
  });
}

const CHALLENGE = { 'www-authenticate': 'Bearer realm="holdfast-partner"' };
