/**
 * Creates the secrets that webhooks are signed with. Each endpoint has one, and for a while after a rotation the
 * previous one as well.
 */
import { randomBytes } from 'node:crypto';
import { SECRET_PREFIX } from '../../base/web/standard-webhooks.ts';
import { Secret } from '../../config/secret.ts';

/** Standard Webhooks requires 24 to 64 bytes. */
const SECRET_BYTES = 32;

/** `whsec_` followed by base64, the format of Standard Webhooks. */
export function newWebhookSecret(): Secret {
  return new Secret(SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64'));
}
