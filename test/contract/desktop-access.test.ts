/** Credentials, access tokens and rate limits of the Desktop API. */
import { createHmac } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { Writable } from 'node:stream';
import { SignJWT } from 'jose';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openApiKeys } from '../../src/api/token-key.ts';
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

  test('L09: is accepted only as it was issued: none of 60 forged ones is', async () => {
    const { api_key: sub } = site.credential();
    const { tokens: key } = await openApiKeys(site.directory);
    const now = Math.floor(site.clock.now() / 1000);
    const good = {
      iss: 'holdfast',
      aud: 'holdfast-desktop-api',
      sub,
      iat: now,
      exp: now + 3_600,
      jti: 'x',
      gen: 1,
    };
    const header = { alg: 'HS256', typ: 'at+jwt' };
    const sign = (
      head: object,
      claims: object,
      secret: Uint8Array | string = key,
      hash = 'sha256',
    ): string => {
      const text = [head, claims]
        .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
        .join('.');
      return `${text}.${createHmac(hash, secret).update(text).digest('base64url')}`;
    };
    const without = (name: keyof typeof good): object =>
      Object.fromEntries(Object.entries(good).filter(([field]) => field !== name));
    expect((await site.inject('/v1/backup', { token: sign(header, good) })).status).toBe(200);

    const [head, body, mark] = sign(header, good).split('.');
    const forged = [
      `${head}.${body}.`,
      `${head}.${body}`,
      `${head}.${body}.${mark}.x`,
      `${head}..${mark}`,
      `.${body}.${mark}`,
      ...['none', 'None', 'NONE', 'nOnE', ''].flatMap((alg) => [
        sign({ ...header, alg }, good),
        `${Buffer.from(JSON.stringify({ ...header, alg })).toString('base64url')}.${body}.`,
      ]),
      ...['HS384', 'HS512'].map((alg) => sign({ ...header, alg }, good, key, `sha${alg.slice(2)}`)),
      ...['RS256', 'ES256', 'PS256', 'EdDSA', 'hs256', 'HS256 '].map((alg) => sign({ ...header, alg }, good)),
      ...['', 'secret', site.directory, sub, 'holdfast', '\0'.repeat(32)].map((secret) =>
        sign(header, good, secret),
      ),
      sign({ alg: 'HS256' }, good),
      sign({ ...header, typ: 'JWT' }, good),
      sign({ ...header, typ: 'at+jwt2' }, good),
      sign({ ...header, kid: '../../dev/null' }, good),
      sign({ ...header, kid: '' }, good),
      sign({ ...header, jku: 'http://evil.example' }, good),
      sign({ ...header, jwk: { kty: 'oct', k: 'AA' } }, good),
      sign({ ...header, crit: ['exp'] }, good),
      sign({ ...header, crit: ['x'], x: 1 }, good),
      sign({ ...header, b64: false, crit: ['b64'] }, good),
      sign({ ...header, zip: 'DEF' }, good),
      ...(['iss', 'aud', 'sub', 'iat', 'exp', 'jti', 'gen'] as const).map((name) =>
        sign(header, without(name)),
      ),
      sign(header, { ...good, iss: 'other' }),
      sign(header, { ...good, aud: 'other' }),
      sign(header, { ...good, aud: [] }),
      sign(header, { ...good, sub: 'hfk_unknown' }),
      sign(header, { ...good, sub: [sub] }),
      sign(header, { ...good, gen: 2 }),
      sign(header, { ...good, gen: '1' }),
      sign(header, { ...good, exp: good.exp * 1000 }),
      sign(header, { ...good, exp: Number.MAX_SAFE_INTEGER }),
      sign(header, { ...good, exp: good.exp + 1 }),
      sign(header, { ...good, exp: String(good.exp) }),
      sign(header, { ...good, exp: null }),
      sign(header, { ...good, exp: 1e300 }),
      sign(header, { ...good, iat: now + 600, exp: now + 4_200 }),
      sign(header, { ...good, nbf: now + 600 }),
      sign(header, [good]),
      `${head}.${Buffer.from(JSON.stringify({ ...good, sub: 'x' })).toString('base64url')}.${mark}`,
      `${head}.${body}.${mark?.split('').toReversed().join('')}`,
    ];
    expect(forged.length).toBeGreaterThanOrEqual(60);
    for (const token of forged) {
      const reply = await site.inject('/v1/backup', { token });
      expect(reply.status, token).toBe(401);
    }
    const stolen = await new SignJWT({ gen: 1 })
      .setProtectedHeader(header)
      .setIssuer('holdfast')
      .setAudience('holdfast-desktop-api')
      .setSubject(sub)
      .setIssuedAt(now)
      .setExpirationTime(now + 3_600)
      .setJti('y')
      .sign(new Uint8Array(32));
    expect(outcome(await site.inject('/v1/backup', { token: stolen }))).toEqual([401, 'INVALID_TOKEN']);
  });
});

describe('a login', () => {
  test('L10: says the same of an unknown key and a wrong secret', async () => {
    const { api_key, secret } = site.credential();
    const other = site.credential();
    const pairs: readonly (readonly [string, string])[] = [
      [api_key, other.secret],
      [other.api_key, secret],
      ['hfk_unknown', secret],
      [api_key, ''],
      ['', ''],
      [secret, api_key],
      [api_key, `${secret} `],
    ];
    const bodies = new Set<string>();
    for (const pair of pairs) {
      const reply = await logIn(...pair, { 'x-request-id': 'same' });
      expect(outcome(reply)).toEqual([401, 'INVALID_CREDENTIALS']);
      bodies.add(reply.text);
    }
    expect(bodies.size).toBe(1);
  });

  test('L10: fails 10 times a minute for one key and 60 in all, while a right secret always gets in', async () => {
    const { api_key, secret } = site.credential();
    for (let count = 0; count < 10; count += 1) {
      expect(outcome(await logIn(api_key, `wrong${count}`))).toEqual([401, 'INVALID_CREDENTIALS']);
    }
    const eleventh = await logIn(api_key, 'wrong');
    expect(outcome(eleventh)).toEqual([429, 'RATE_LIMIT_EXCEEDED']);
    expect(eleventh.headers['retry-after']).toBe('60');
    expect((await logIn(api_key, secret)).status).toBe(200);

    for (let count = 0; count < 50; count += 1) {
      expect((await logIn(`hfk_${count}`, 'wrong')).status, String(count)).toBe(401);
    }
    expect((await logIn('hfk_last', 'wrong')).status).toBe(429);
    expect((await logIn(api_key, secret)).status).toBe(200);
    await site.clock.advance(60_000);
    expect((await logIn(api_key, 'wrong')).status).toBe(401);
  });

  test('L10: a valid client is served, and can log in, while somebody guesses without end', async () => {
    const credential = site.credential();
    const token = await site.token(credential);
    let refused = 0;
    for (let count = 0; count < 1_000; count += 1) {
      if ((await logIn(`hfk_${count}`, 'wrong')).status === 429) refused += 1;
    }
    expect(refused).toBe(1_000 - 60);
    expect((await site.inject('/v1/status')).status).toBe(429);
    expect((await logIn(credential.api_key, credential.secret)).status).toBe(200);
    expect((await site.inject('/v1/backup', { token })).status).toBe(200);
  });

  test('L10: takes as long for an unknown key as for a wrong secret', async () => {
    const failing = { requests: 1_000_000, windowMs: 60_000 };
    await using patient = await openApiSite({
      limits: { anonymous: failing, failedLogins: { perKey: failing, total: failing } },
    });
    const { api_key } = patient.credential();
    const secret = 'hfs_000000000000000000000000000000000000';
    const measure = async (apiKey: string): Promise<number> => {
      const start = performance.now();
      const reply = await patient.inject('/v1/auth/token', {
        method: 'POST',
        body: { api_key: apiKey, secret },
      });
      const ms = performance.now() - start;
      expect(reply.status).toBe(401);
      return ms;
    };
    const middle = (times: readonly number[]): number =>
      times.toSorted((a, b) => a - b)[times.length >> 1] ?? 0;
    // Scheduling can spoil a round, but not all of them; a real difference is there every time.
    let nearest = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 5 && nearest >= 0.05; round += 1) {
      const known: number[] = [];
      const unknown: number[] = [];
      for (let pair = 0; pair < 500; pair += 1) {
        known.push(await measure(api_key));
        unknown.push(await measure('hfk_000000000000000000000000000000000000'));
      }
      nearest = Math.min(nearest, Math.abs(middle(known) / middle(unknown) - 1));
    }
    expect(nearest).toBeLessThan(0.05);
  });
});

describe('what is stored', () => {
  test('L11: lets nobody log in who reads the database', async () => {
    const credential = site.credential();
    await site.token(credential);
    const stored = site.state.credentials
      .list()
      .flatMap(({ apiKey, secretHash, name }) => [
        apiKey,
        name,
        secretHash.toString('hex'),
        secretHash.toString('base64'),
        secretHash.toString('base64url'),
        secretHash.toString('latin1'),
        `hfs_${secretHash.toString('hex').slice(0, 36)}`,
      ]);
    expect(stored.length).toBeGreaterThan(5);
    for (const guess of stored) {
      expect((await logIn(credential.api_key, guess)).status, guess).toBeGreaterThanOrEqual(400);
    }
    const { secretHash } = site.state.credentials.list()[0] ?? expect.fail('there is no credential');
    const now = Math.floor(site.clock.now() / 1000);
    const signed = await new SignJWT({ gen: 1 })
      .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt' })
      .setIssuer('holdfast')
      .setAudience('holdfast-desktop-api')
      .setSubject(credential.api_key)
      .setIssuedAt(now)
      .setExpirationTime(now + 3_600)
      .setJti('x')
      .sign(new Uint8Array(secretHash));
    expect((await site.inject('/v1/backup', { token: signed })).status).toBe(401);
  });

  test('L19, L20: holds no secret and no token, and neither does the log; files are for their owner alone', async () => {
    let log = '';
    const stream = new Writable({
      write: (chunk, _encoding, done) => {
        log += String(chunk);
        done();
      },
    });
    await using logged = await openApiSite({
      logger: pino({ level: 'trace' }, stream),
      agent: { jobs: () => expect.fail('broken on purpose') },
    });
    const first = logged.credential();
    const second = logged.server.credentials.rotate(first.api_key);
    const token = await logged.token(second);
    const canaries = [first.secret, second.secret, token, 'hfs_canaryWrongSecret'];
    const calls = [
      logged.call('/v1/backup', { token }),
      logged.call(`/v1/status?token=${token}&secret=${second.secret}`),
      logged.call('/v1/auth/token', {
        method: 'POST',
        body: { api_key: second.secret, secret: first.secret },
      }),
      logged.call('/v1/auth/token', {
        method: 'POST',
        body: { api_key: 'x', secret: 'hfs_canaryWrongSecret' },
      }),
      logged.call('/v1/auth/token', { method: 'POST', body: `{"secret":"${second.secret}"` }),
      logged.call('/v1/auth/token', { method: 'POST', body: { api_key: 'x', secret: { x: second.secret } } }),
      logged.call('/v1/backup', { headers: { authorization: `Bearer x${token}` } }),
      logged.call('/v1/backup', { headers: { cookie: `session=${second.secret}` } }),
      logged.raw(`GET /v1/status HTTP/1.1\r\nX: ${second.secret}\r\nbroken ${token}\r\n\r\n`),
    ];
    const texts = (await Promise.all(calls)).map((reply) => (typeof reply === 'string' ? reply : reply.text));
    expect(log).toContain('A request failed');
    const files = readdirSync(logged.directory).map((name) => path.join(logged.directory, name));
    const stored = files.map((file) => readFileSync(file).toString('latin1'));
    for (const canary of canaries) {
      for (const text of [log, ...texts, ...stored])
        expect(text.includes(canary), text.slice(0, 200)).toBe(false);
    }
    expect(files.some((file) => file.endsWith('token.key'))).toBe(true);
    for (const file of files) expect(statSync(file).mode & 0o777, file).toBe(0o600);
    expect(texts[0]).toContain('INTERNAL_ERROR');
    expect(texts[0]).not.toContain('broken on purpose');
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
