/** Messages to webhooks, signed by the library of Standard Webhooks. */
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { verifyWebhook } from '../../../src/client/webhook-messages.ts';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const OTHER = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
const BODY = JSON.stringify({
  type: 'webhook.test',
  timestamp: '2026-11-21T02:31:08.000Z',
  data: { webhook_id: 'whk_ä' },
});

function signed(secrets: readonly string[], at = new Date(), id = 'evt_1'): Record<string, string> {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, at, BODY)).join(' '),
  };
}

describe('a message to a webhook', () => {
  test.each([
    ['as text', BODY, signed([SECRET])],
    ['as bytes', Buffer.from(BODY), signed([SECRET])],
    ['while the secret is replaced', BODY, signed([OTHER, SECRET])],
    ['with the headers of fetch', BODY, new Headers(signed([SECRET]))],
  ])('is taken when it is signed, %s', (_, body, headers) => {
    expect(verifyWebhook({ secret: SECRET, headers, body })).toEqual({ ...JSON.parse(BODY), id: 'evt_1' });
  });

  test.each([
    ['another secret', { headers: signed([OTHER]) }],
    ['another body', { body: `${BODY} ` }],
    ['another id', { headers: { ...signed([SECRET]), 'webhook-id': 'evt_2' } }],
    ['another time', { headers: { ...signed([SECRET]), 'webhook-timestamp': '1700000000' } }],
    ['no signature', { headers: { ...signed([SECRET]), 'webhook-signature': '' } }],
    [
      'another kind of signature',
      {
        headers: {
          ...signed([SECRET]),
          'webhook-signature': signed([SECRET])['webhook-signature']?.replace('v1,', 'v2,'),
        },
      },
    ],
    ['nothing', { headers: {} }],
  ])('is refused for %s', (_, change) => {
    const received = { secret: SECRET, headers: signed([SECRET]), body: BODY, ...change };
    expect(() => verifyWebhook(received)).toThrow(expect.objectContaining({ code: 'INVALID_SIGNATURE' }));
  });

  test.each([-301, 302])('is refused when it was sent %i seconds from now', (seconds) => {
    const headers = signed([SECRET], new Date(Date.now() + seconds * 1_000));
    expect(() => verifyWebhook({ secret: SECRET, headers, body: BODY })).toThrow(
      expect.objectContaining({ code: 'INVALID_TIMESTAMP' }),
    );
  });
});
