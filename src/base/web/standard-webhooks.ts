/**
 * Signs messages to other programs according to Standard Webhooks 1.0: the agent's notices and the events of the
 * Partner service.
 */
import { createHmac } from 'node:crypto';

export interface WebhookMessage {
  /** The same for each try to deliver the message: receivers recognise repeated deliveries by it. */
  readonly id: string;
  /** When this try is made, milliseconds since 1970. Receivers refuse messages that are five minutes old. */
  readonly sentAt: number;
  /** JSON, exactly as it is sent. */
  readonly body: string;
}

/**
 * The headers of a message. It carries one signature for each secret, and a receiver accepts any of them; without
 * secrets it is unsigned.
 */
export function webhookHeaders(
  { id, sentAt, body }: WebhookMessage,
  secrets: readonly string[],
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(sentAt / 1000));
  const signatures = secrets.map((secret) => signatureOf(secret, `${id}.${timestamp}.${body}`));
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    ...(signatures.length === 0 ? {} : { 'webhook-signature': signatures.join(' ') }),
  };
}

/** A secret that begins with `whsec_` is base64 after it; any other is used as its UTF-8 bytes. */
function signatureOf(secret: string, signed: string): string {
  const key = secret.startsWith(SECRET_PREFIX)
    ? Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
    : Buffer.from(secret, 'utf8');
  return `v1,${createHmac('sha256', key).update(signed, 'utf8').digest('base64')}`;
}

export const SECRET_PREFIX = 'whsec_';
