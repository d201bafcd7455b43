/** `POST /auth/token`: exchanges an API key and its secret for an access token. */
import { holdfastForAnybody } from '../../base/holdfast-command.ts';
import { type Static, Type } from '../../base/schema-type.ts';
import { ApiError } from '../wire/api-error.ts';
import type { Credentials } from '../access/credentials.ts';
import { arrivalOf } from '../framework/plugin-order.ts';
import { type RateLimits, tooMany } from '../access/rate-limits.ts';
import type { ApiApp } from '../framework/route.ts';
import type { AccessToken, Tokens } from '../access/tokens.ts';

const TokenRequest = Type.Object(
  {
    api_key: Type.String({ maxLength: 256 }),
    secret: Type.String({ maxLength: 256 }),
  },
  { additionalProperties: false },
);

const TokenData = Type.Object({
  access_token: Type.String(),
  /** The access token again, under another name. */
  token: Type.String(),
  token_type: Type.Literal('Bearer'),
  expires_in: Type.Integer(),
  expires_at: Type.String({ format: 'date-time' }),
});

export interface AuthParts {
  readonly credentials: Credentials;
  readonly tokens: Tokens;
  readonly rateLimits: RateLimits;
}

export function authRoutes(app: ApiApp, { credentials, tokens, rateLimits }: AuthParts): void {
  app.post(
    '/auth/token',
    {
      // The handler enforces the limit: a correct secret is accepted however many wrong ones come from the same machine.
      config: {
        scope: 'public',
        idempotent: false,
        limit: 'deferred',
      },
      schema: { body: TokenRequest, response: { 200: TokenData } },
    },
    async (request) => {
      const { api_key: apiKey, secret } = request.body;
      const credential = credentials.verify(apiKey, secret);
      if (credential !== undefined) return tokenData(await tokens.issue(credential));
      const { quota } = arrivalOf(request);
      if (!quota.accepted) throw tooMany('requests', quota);
      const refusing = rateLimits.takeFailedLogin(apiKey);
      if (refusing !== undefined) throw tooMany('failed logins', refusing);
      throw new ApiError('INVALID_CREDENTIALS', 'The API key or the secret is wrong', {
        hint: `Create new ones on the settings page or with "${holdfastForAnybody`credentials create`}".`,
      });
    },
  );
}

function tokenData({ text, lifetimeSeconds, expiresAt }: AccessToken): Static<typeof TokenData> {
  return {
    access_token: text,
    token: text,
    token_type: 'Bearer',
    expires_in: lifetimeSeconds,
    expires_at: new Date(expiresAt).toISOString(),
  };
}
