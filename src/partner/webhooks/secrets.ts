/** Secrets that webhooks are signed with: one for each endpoint, and the one before it for a while after a rotation. */
import { randomBytes } from 'node:crypto';
import { SECRET_PREFIX } from '../../base/standard-webhooks.ts';
import { Secret } from '../../config/secret.ts';

/** Standard Webhooks asks for 24 to 64. */
const SECRET_BYTES = 32;

/** `whsec_` and base64, as receivers of Standard Webhooks take it. */
export function newWebhookSecret(): Secret {
  return new Secret(SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64'));
}

export interface EndpointSecrets {
  readonly secret: Secret;
  /** The one that was replaced last; null when none was. */
  readonly previous: Secret | null;
  /** Until when messages are signed with it too, milliseconds since 1970. */
  readonly previousUntil: number | null;
}

/** Those that a message of this moment is signed with, the newest first. */
export function signingSecrets(
  { secret, previous, previousUntil }: EndpointSecrets,
  now: number,
): readonly Secret[] {
  return previous !== null && previousUntil !== null && now < previousUntil ? [secret, previous] : [secret];
}
