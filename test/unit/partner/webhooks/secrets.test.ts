import { describe, expect, it } from 'vitest';
import { newWebhookSecret } from '../../../../src/partner/webhooks/secrets.ts';

describe('a webhook secret', () => {
  it('is whsec_ and the base64 of 32 random bytes', () => {
    const text = newWebhookSecret().reveal();
    expect(text).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(Buffer.from(text.slice(6), 'base64')).toHaveLength(32);
    expect(new Set(Array.from({ length: 100 }, () => newWebhookSecret().reveal())).size).toBe(100);
  });

  it('does not show itself by accident', () => {
    const secret = newWebhookSecret();
    const text = secret.reveal();
    expect(`${String(secret)} ${JSON.stringify({ secret })}`).not.toContain(text.slice(6));
  });
});
