/** Access tokens: signed, short-lived, and invalid as soon as their credential has changed. */
import { SignJWT, errors, jwtVerify } from 'jose';
import { ulid } from 'ulid';
import type { Clock } from '../../base/clock.ts';
import type { Credential } from '../../db/credentials.ts';
import { ApiError } from '../wire/api-error.ts';

const ALGORITHM = 'HS256';
const TYPE = 'at+jwt';
const ISSUER = 'holdfast';
const AUDIENCE = 'holdfast-desktop-api';

export interface AccessToken {
  readonly text: string;
  readonly lifetimeSeconds: number;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

export interface TokenClaims {
  readonly apiKey: string;
  /** Generation of the credential's secret when the token was issued. */
  readonly generation: number;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

export interface Tokens {
  issue(credential: Pick<Credential, 'apiKey' | 'generation'>): Promise<AccessToken>;
  /**
   * The claims of a token. The caller must also check that the credential is unchanged.
   * @throws {ApiError} TOKEN_EXPIRED, INVALID_TOKEN
   */
  read(token: string): Promise<TokenClaims>;
  hasExpired(claims: TokenClaims): boolean;
}

export function createTokens(key: Uint8Array, lifetimeSeconds: number, clock: Clock): Tokens {
  return {
    async issue({ apiKey, generation }) {
      const issuedAt = Math.floor(clock.now() / 1000);
      const expiresAt = issuedAt + lifetimeSeconds;
      const text = await new SignJWT({ gen: generation })
        .setProtectedHeader({ alg: ALGORITHM, typ: TYPE })
        .setIssuer(ISSUER)
        .setAudience(AUDIENCE)
        .setSubject(apiKey)
        .setIssuedAt(issuedAt)
        .setExpirationTime(expiresAt)
        .setJti(ulid(clock.now()))
        .sign(key);
      return { text, lifetimeSeconds, expiresAt: expiresAt * 1000 };
    },

    async read(token) {
      try {
        const { payload, protectedHeader } = await jwtVerify<{ readonly gen?: unknown }>(token, key, {
          algorithms: [ALGORITHM],
          typ: TYPE,
          issuer: ISSUER,
          audience: AUDIENCE,
          requiredClaims: ['sub', 'iat', 'exp', 'jti'],
          currentDate: new Date(clock.now()),
        });
        const { sub, iat, exp, gen } = payload;
        // Accepts only what `issue` writes: no key ids, no extensions, no longer lifetime.
        const asIssued =
          Object.keys(protectedHeader).length === 2 &&
          typeof sub === 'string' &&
          typeof gen === 'number' &&
          iat !== undefined &&
          exp === iat + lifetimeSeconds &&
          iat * 1000 <= clock.now() + FUTURE_MS;
        if (!asIssued) throw invalidToken();
        return { apiKey: sub, generation: gen, expiresAt: exp * 1000 };
      } catch (error) {
        if (error instanceof ApiError) throw error;
        if (error instanceof errors.JWTExpired) throw expiredToken(error);
        if (error instanceof errors.JOSEError) throw invalidToken(error);
        throw error;
      }
    },

    hasExpired: ({ expiresAt }) => clock.now() >= expiresAt,
  };
}

/** A clock that is set back a little must not invalidate tokens that were just issued. */
const FUTURE_MS = 60_000;

function expiredToken(cause: Error): ApiError {
  return new ApiError('TOKEN_EXPIRED', 'The access token has expired', {
    hint: 'Get a new one from POST /auth/token.',
    headers: { 'www-authenticate': 'Bearer realm="holdfast", error="invalid_token"' },
    cause,
  });
}

export function invalidToken(cause?: Error): ApiError {
  return new ApiError('INVALID_TOKEN', 'The access token is not valid, or no longer valid', {
    hint: 'Get a new one from POST /auth/token.',
    headers: { 'www-authenticate': 'Bearer realm="holdfast", error="invalid_token"' },
    cause,
  });
}
