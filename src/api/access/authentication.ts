/** Authenticates requests to the Desktop API. */
import type { IncomingMessage } from 'node:http';
import { ApiError } from '../wire/api-error.ts';
import type { Credentials } from './credentials.ts';
import { soleHeader } from '../wire/headers.ts';
import { invalidToken, type Tokens } from './tokens.ts';

export type Caller =
  | ({ readonly kind: 'credential'; readonly apiKey: string } & Admission)
  /** The product's own page, signed in. */
  | ({ readonly kind: 'page' } & Admission)
  /**
   * `problem` creates the response for a route that needs a token. `tried`: the caller presented a token or session
   * that is not valid.
   */
  | { readonly kind: 'anonymous'; readonly problem: () => ApiError; readonly tried: boolean };

export interface Admission {
  /** Whether the token or session of the request is still valid; checked again during long responses. */
  readonly holds: () => boolean;
}

/** Longer than any token that was ever issued. */
const LONGEST_TOKEN = 4_096;

/** Never refuses a request: its route decides what an anonymous caller may do. */
export async function identify(
  request: Pick<IncomingMessage, 'rawHeaders' | 'headers'>,
  tokens: Tokens,
  credentials: Credentials,
): Promise<Caller> {
  if (request.headers.authorization === undefined) {
    return { kind: 'anonymous', problem: noToken, tried: false };
  }
  try {
    const claims = await tokens.read(bearerToken(request.rawHeaders));
    const { apiKey, generation } = claims;
    const isCurrent = (): boolean => credentials.current(apiKey, generation) !== undefined;
    if (!isCurrent()) throw invalidToken();
    return { kind: 'credential', apiKey, holds: () => !tokens.hasExpired(claims) && isCurrent() };
  } catch (error) {
    if (error instanceof ApiError) return { kind: 'anonymous', problem: () => error, tried: true };
    throw error;
  }
}

/** @throws {ApiError} UNAUTHORIZED */
function bearerToken(rawHeaders: readonly string[]): string {
  const value = soleHeader(rawHeaders, 'authorization');
  const match = /^Bearer +([A-Za-z0-9._~+/=-]+) *$/i.exec(value ?? '');
  const token = match?.[1];
  if (token === undefined || token.length > LONGEST_TOKEN) {
    throw unauthorized('The Authorization header is not of the form "Bearer <token>"');
  }
  return token;
}

function noToken(): ApiError {
  return unauthorized('The Authorization header is missing');
}

function unauthorized(message: string): ApiError {
  return new ApiError('UNAUTHORIZED', message, {
    hint: 'Get a token from POST /auth/token and send it as "Authorization: Bearer <token>".',
    headers: { 'www-authenticate': 'Bearer realm="holdfast"' },
  });
}
