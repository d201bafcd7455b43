/** Signatures, judged by the reference implementation of Standard Webhooks as an independent receiver. */
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { webhookHeaders } from '../../../../src/base/web/standard-webhooks.ts';
import { newWebhookSecret } from '../../../../src/partner/webhooks/secrets.ts';

const secret = newWebhookSecret().reveal();
const other = newWebhookSecret().reveal();
const payload = {
  type: 'backup.failed',
  timestamp: '2026-11-21T16:40:00.000Z',
  data: { name: 'Bäckerei Ü' },
};
const body = JSON.stringify(payload);
const message = (ageMs = 0) => ({ id: 'evt_01JD0K7W3V8X5Q2N6M4T9R1B0C', sentAt: Date.now() - ageMs, body });

function verify(headers: Readonly<Record<string, string>>, text = body, key = secret): unknown {
  return new Webhook(key).verify(text, { ...headers });
}

describe('a receiver of Standard Webhooks', () => {
  it('accepts a message', () => {
    expect(verify(webhookHeaders(message(), [secret]))).toEqual(payload);
  });

  it('accepts the vector of the specification', () => {
    const headers = webhookHeaders(
      { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', sentAt: 1_614_265_330_000, body: '{"test": 2432232314}' },
      ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    );
    expect(headers).toEqual({
      'content-type': 'application/json',
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    });
  });

  it('accepts it by the new secret and by the old one while it is rotated', () => {
    const headers = webhookHeaders(message(), [other, secret]);
    expect(headers['webhook-signature']).toMatch(/^v1,[A-Za-z0-9+/]{43}= v1,[A-Za-z0-9+/]{43}=$/);
    expect(verify(headers)).toEqual(payload);
    expect(verify(headers, body, other)).toEqual(payload);
  });

  const good = () => webhookHeaders(message(), [secret]);
  it.each([
    ['another body', () => verify(good(), body.replace('failed', 'completed'))],
    ['another id', () => verify({ ...good(), 'webhook-id': 'evt_01JD0K7W3V8X5Q2N6M4T9R1B0D' })],
    [
      'another timestamp',
      () => verify({ ...good(), 'webhook-timestamp': String(Math.floor(Date.now() / 1000) - 1) }),
    ],
    ['another secret', () => verify(good(), body, other)],
    ['a signature of six minutes ago', () => verify(webhookHeaders(message(360_000), [secret]))],
    ['no signature', () => verify(webhookHeaders(message(), []))],
  ])('refuses %s', (_what, refused) => {
    expect(refused).toThrow(WebhookVerificationError);
  });
});
