/** Whether a message to a webhook comes from the Partner service, by Standard Webhooks 1.0. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { WebhookMessage } from '../../dist/client/partner-api.d.ts';
import { HoldfastError } from './holdfast-error.ts';

export interface ReceivedWebhook {
  /** As `POST /webhooks` or `rotate-secret` gave it. */
  readonly secret: string;
  /** Of the request, as `node:http` or `fetch` has them. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** As it came: what a parser made of it has another signature. */
  readonly body: string | Uint8Array;
}

/** `id` is the same when a message comes again, which happens: keep those that you have handled. */
export type VerifiedWebhook = WebhookMessage & { readonly id: string };

/** Older or newer ones may be replayed. */
const TOLERANCE_SECONDS = 300;

/**
 * The message, once its signature and time are right.
 * @throws {HoldfastError} `INVALID_SIGNATURE` or `INVALID_TIMESTAMP`: answer with 400 and do nothing
 */
export function verifyWebhook(received: ReceivedWebhook): VerifiedWebhook {
  const header = (name: string): string => headerOf(received.headers, name);
  const [id, timestamp] = [header('webhook-id'), header('webhook-timestamp')];
  const body = typeof received.body === 'string' ? Buffer.from(received.body) : received.body;
  const key = Buffer.from(received.secret.replace(/^whsec_/, ''), 'base64');
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
  // While a secret is replaced there are two.
  if (
    !header('webhook-signature')
      .split(' ')
      .some((signature) => isEqual(signature, expected))
  )
    throw new HoldfastError({
      code: 'INVALID_SIGNATURE',
      message:
        'The message was not signed with this secret. Answer with 400, and check that this is the secret of the endpoint.',
    });
  const age = Date.now() / 1_000 - Number(timestamp);
  if (!/^\d+$/.test(timestamp) || Math.abs(age) > TOLERANCE_SECONDS)
    throw new HoldfastError({
      code: 'INVALID_TIMESTAMP',
      message:
        'The message was sent more than five minutes ago, or a clock is wrong. Answer with 400; the service sends it again.',
    });
  const message = JSON.parse(Buffer.from(body).toString()) as WebhookMessage;
  return { ...message, id };
}

function headerOf(headers: ReceivedWebhook['headers'], name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : headers[name];
  return typeof value === 'string' ? value : '';
}

function isEqual(signature: string, expected: Uint8Array): boolean {
  const [version, text = ''] = signature.split(',');
  const given = Buffer.from(text, 'base64');
  return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected);
}
