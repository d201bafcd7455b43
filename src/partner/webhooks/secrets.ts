/** Secrets that webhooks are signed with: one for each endpoint, and the one before it for a while after a rotation. */
import { randomBytes } from 'node:crypto';
import { SECRET_PREFIX } from '../../base/web/standard-webhooks.ts';
import { Secret } from '../../config/secret.ts';

/** Standard Webhooks asks for 24 to 64. */
const SECRET_BYTES = 32;

/** `whsec_` and base64, as receivers of Standard Webhooks take it. */
export function newWebhookSecret(): Secret {
  return new Secret(SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64'));
}
