/** Access tokens and rate limits of the Desktop API. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openApiSite, type ApiReply, type ApiSite } from '../support/api-site.ts';

let site: ApiSite;

beforeEach(async () => {
  site = await openApiSite();
});

afterEach(async () => {
  await site[Symbol.asyncDispose]();
});

async function logIn(apiKey: string, secret: string, headers = {}): Promise<ApiReply> {
  return await site.inject('/v1/auth/token', { method: 'POST', headers, body: { api_key: apiKey, secret } });
}

function outcome(reply: ApiReply): [number, string | undefined] {
  return [reply.status, reply.json.error?.code];
}

describe('a token', () => {
  test('is given for key and secret, under both names, for an hour, and is never to be kept', async () => {
    const { api_key, secret } = site.credential();
    expect(api_key).toMatch(/^hfk_[0-9A-Za-z]{36}$/);
    expect(secret).toMatch(/^hfs_[0-9A-Za-z]{36}$/);
    const reply = await site.call('/api/v1/auth/token', { method: 'POST', body: { api_key, secret } });
    expect(reply.status).toBe(200);
    const { data = {} } = reply.json;
    expect(Object.keys(data)).toEqual(['access_token', 'token', 'token_type', 'expires_in', 'expires_at']);
    expect(data).toMatchObject({
      token: data['access_token'],
      token_type: 'Bearer',
      expires_in: 3_600,
      expires_at: new Date(site.clock.now() + 3_600_000).toISOString(),
    });
    expect(reply.headers['cache-control']).toBe('no-store');
    expect((await site.call('/v1/backup', { token: String(data['access_token']) })).status).toBe(200);
  });

  test('ends after an hour, and at once when its credential is rotated or revoked', async () => {
    const first = site.credential();
    const token = await site.token(first);
    await site.clock.advance(3_599_000);
    expect((await site.inject('/v1/backup', { token })).status).toBe(200);
    await site.clock.advance(2_000);
    expect(outcome(await site.inject('/v1/backup', { token }))).toEqual([401, 'TOKEN_EXPIRED']);

    const second = await site.token(first);
    const rotated = site.server.credentials.rotate(first.api_key);
    expect(rotated.api_key).toBe(first.api_key);
    expect(outcome(await site.inject('/v1/backup', { token: second }))).toEqual([401, 'INVALID_TOKEN']);
    expect(outcome(await logIn(first.api_key, first.secret))).toEqual([401, 'INVALID_CREDENTIALS']);

    const third = await site.token(rotated);
    expect((await site.inject('/v1/backup', { token: third })).status).toBe(200);
    site.server.credentials.revoke(first.api_key);
    expect(outcome(await site.inject('/v1/backup', { token: third }))).toEqual([401, 'INVALID_TOKEN']);
    expect(outcome(await logIn(rotated.api_key, rotated.secret))).toEqual([401, 'INVALID_CREDENTIALS']);
    expect(() => site.server.credentials.rotate(first.api_key)).toThrow(/no active credential/);
  });

  test('survives a restart', async () => {
    const token = await site.token();
    await site.restart();
    expect((await site.call('/v1/backup', { token })).status).toBe(200);
  });
});

describe('the rate limit', () => {
  test('of a free trial accepts 100 requests in an hour; the next is told when to come back, and then gets in', async () => {
    site.settings = { ...site.settings, plan: 'free_trial' };
    const token = await site.token();
    for (let count = 1; count <= 100; count += 1) {
      const reply = await site.inject('/v1/backup', { token });
      expect(reply.status).toBe(200);
      expect(reply.headers['x-ratelimit-limit']).toBe('100');
      expect(reply.headers['x-ratelimit-remaining']).toBe(String(100 - count));
      await site.clock.advance(1_000);
    }
    const refused = await site.inject('/v1/backup', { token });
    expect(outcome(refused)).toEqual([429, 'RATE_LIMIT_EXCEEDED']);
    const wait = Number(refused.headers['retry-after']);
    expect(wait).toBe(3_500);
    expect(refused.headers['x-ratelimit-remaining']).toBe('0');
    expect(Number(refused.headers['x-ratelimit-reset']) * 1000).toBe(site.clock.now() + wait * 1000);
    await site.clock.advance(wait * 1000 - 1);
    expect((await site.inject('/v1/backup', { token: await site.token() })).status).toBe(429);
    await site.clock.advance(1);
    expect((await site.inject('/v1/backup', { token: await site.token() })).status).toBe(200);
    expect((await site.inject('/v1/backup', { token: await site.token() })).status).toBe(429);
  });

  test('never lets more than its number through in any window, not even across restarts', async () => {
    await using small = await openApiSite({
      limits: {
        plans: {
          free_trial: { requests: 5, windowMs: 10_000 },
          pro: { requests: 5, windowMs: 10_000 },
          business: { requests: 5, windowMs: 10_000 },
        },
      },
    });
    const token = await small.token();
    const accepted: number[] = [];
    for (let step = 0; step < 120; step += 1) {
      const reply = await small.inject('/v1/backup', { token });
      const retry = Number(reply.headers['retry-after'] ?? 0);
      if (reply.status === 200) accepted.push(small.clock.now());
      else expect(retry).toBeGreaterThanOrEqual(1);
      if (step % 40 === 39) await small.restart();
      await small.clock.advance([0, 130, 700, 1_900, 90][step % 5] ?? 0);
    }
    expect(accepted.length).toBeGreaterThan(20);
    for (const end of accepted) {
      const inWindow = accepted.filter((at) => at > end - 10_000 && at <= end);
      expect(inWindow.length).toBeLessThanOrEqual(5);
    }
  });

  test('follows a change of plan at once, on the same log', async () => {
    site.settings = { ...site.settings, plan: 'pro' };
    const token = await site.token();
    for (let count = 0; count < 150; count += 1) await site.inject('/v1/backup', { token });
    const pro = await site.inject('/v1/backup', { token });
    expect([pro.status, pro.headers['x-ratelimit-limit'], pro.headers['x-ratelimit-remaining']]).toEqual([
      200,
      '1000',
      '849',
    ]);
    site.settings = { ...site.settings, plan: 'free_trial' };
    expect((await site.inject('/v1/backup', { token })).status).toBe(429);
  });

  test('is one for all tokens of the installation, and another one for calls without', async () => {
    const [first, second] = [await site.token(), await site.token()];
    const before = await site.inject('/v1/backup', { token: first });
    const after = await site.inject('/v1/status', { token: second });
    expect(before.headers['x-ratelimit-remaining']).toBe('9999');
    expect(after.headers['x-ratelimit-remaining']).toBe('9998');
    expect((await site.inject('/v1/backup')).headers['x-ratelimit-limit']).toBe('600');
    expect((await site.inject('/v1/backup', { token: 'rubbish' })).headers['x-ratelimit-limit']).toBe('600');
  });

  test('comes before validation, and after who it is', async () => {
    await using small = await openApiSite({ limits: { anonymous: { requests: 3, windowMs: 60_000 } } });
    for (const _ of [1, 2, 3]) expect((await small.inject('/v1/status')).status).toBe(200);
    for (const target of ['/v1/status', '/v1/status?x=1', '/v1/nowhere', '/v1/backup', '/healthz', '/docs']) {
      expect(outcome(await small.inject(target)), target).toEqual([429, 'RATE_LIMIT_EXCEEDED']);
    }
    const login = await small.inject('/v1/auth/token', { method: 'POST', body: { nothing: 1 } });
    expect(outcome(login)).toEqual([429, 'RATE_LIMIT_EXCEEDED']);
    expect(Number(login.headers['retry-after'])).toBe(60);
  });
});
