/** Credentials and access tokens: what is not given out opens nothing. Lines L09 to L11 and L20 of the security checklist. */
import { createHmac } from 'node:crypto';
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Writable } from 'node:stream';
import { SignJWT } from 'jose';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { cookieName } from '../../src/api/access/page-guard.ts';
import { openApiKeys } from '../../src/api/access/token-key.ts';
import { openDatabase } from '../../src/db/database.ts';
import { openApiSite, type ApiReply, type ApiSite } from '../support/api-site.ts';
import { signIn } from '../support/page-session.ts';

/** `HOLDFAST_LONG=1`: the number of pairs of the checklist. */
const [PAIRS, ROUNDS] = process.env['HOLDFAST_LONG'] === '1' ? [10_000, 3] : [500, 5];

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

/** As the agent would issue it, if this were its key. */
async function tokenFor(apiKey: string, { clock }: ApiSite, key: Uint8Array): Promise<string> {
  const now = Math.floor(clock.now() / 1000);
  return await new SignJWT({ gen: 1 })
    .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt' })
    .setIssuer('holdfast')
    .setAudience('holdfast-desktop-api')
    .setSubject(apiKey)
    .setIssuedAt(now)
    .setExpirationTime(now + 3_600)
    .setJti('x')
    .sign(key);
}

/** Every value of every row of every table, once; those that are too short to be a secret left out. */
function everythingIn(file: string): readonly Buffer[] {
  // The agent has it for itself: a thief takes the files, the log of what is not written back yet too.
  const stolen = mkdtempSync(path.join(tmpdir(), 'holdfast-stolen-'));
  for (const end of ['', '-wal'])
    if (existsSync(file + end)) copyFileSync(file + end, path.join(stolen, `state.db${end}`));
  const database = openDatabase(path.join(stolen, 'state.db'));
  try {
    const tables = database.prepare<[], { readonly name: string }>(
      "SELECT name FROM sqlite_master WHERE type = 'table'",
    );
    const values = tables.all().flatMap(({ name }) =>
      database
        .prepare<[], Record<string, unknown>>(`SELECT * FROM "${name}"`)
        .all()
        .flatMap((row) => Object.values(row))
        .map((value) => (Buffer.isBuffer(value) ? value : Buffer.from(String(value)))),
    );
    const different = new Map(values.map((value) => [value.toString('latin1'), value]));
    return [...different.values()].filter((value) => value.length >= 6);
  } finally {
    database.close();
    rmSync(stolen, { recursive: true });
  }
}

describe('a token', () => {
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
    const stolen = await tokenFor(sub, site, new Uint8Array(32));
    expect(outcome(await site.inject('/v1/backup', { token: stolen }))).toEqual([401, 'INVALID_TOKEN']);
  });

  test('L09: of a credential that is revoked is refused from the next request on', async () => {
    const credential = site.credential();
    const tokens = await Promise.all(Array.from({ length: 5 }, async () => await site.token(credential)));
    for (const token of tokens) expect((await site.inject('/v1/backup', { token })).status).toBe(200);
    site.server.credentials.revoke(credential.api_key);
    for (const token of tokens)
      expect(outcome(await site.inject('/v1/backup', { token }))).toEqual([401, 'INVALID_TOKEN']);
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

  test(`L10: takes as long for an unknown key as for a wrong secret, in ${PAIRS} pairs`, async () => {
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
    for (let round = 0; round < ROUNDS && nearest >= 0.05; round += 1) {
      const known: number[] = [];
      const unknown: number[] = [];
      for (let pair = 0; pair < PAIRS; pair += 1) {
        known.push(await measure(api_key));
        unknown.push(await measure('hfk_000000000000000000000000000000000000'));
      }
      nearest = Math.min(nearest, Math.abs(middle(known) / middle(unknown) - 1));
    }
    expect(nearest).toBeLessThan(0.05);
  });
});

describe('what is stored', () => {
  test('L11: a thief of the database logs in with nothing that is in it', async () => {
    const plenty = { requests: 10_000, windowMs: 60_000 };
    await using robbed = await openApiSite({
      limits: { anonymous: plenty, failedLogins: { perKey: plenty, total: plenty } },
    });
    const credential = robbed.credential();
    const token = await robbed.token(credential);
    await signIn(robbed);
    await robbed.inject('/v1/backup', {
      method: 'POST',
      token,
      headers: { 'idempotency-key': 'a' },
      body: { source: '/x' },
    });
    await robbed.inject('/v1/auth/token', { method: 'POST', body: { api_key: 'x', secret: 'y' } });
    const loot = everythingIn(path.join(robbed.directory, 'state.db'));
    expect(loot.length).toBeGreaterThan(10);
    const origin = `http://${robbed.host}`;
    let tried = 0;
    for (const bytes of loot) {
      const shown = (['utf8', 'hex', 'base64', 'base64url', 'latin1'] as const).map((encoding) =>
        bytes.toString(encoding),
      );
      for (const text of new Set([...shown, `hfs_${shown[1]?.slice(0, 36)}`])) {
        if (text.length > 256) continue;
        const guess = { api_key: credential.api_key, secret: text };
        const reply = await robbed.inject('/v1/auth/token', { method: 'POST', body: guess });
        expect(reply.status, text).toBe(401);
        const swapped = await robbed.inject('/internal/v1/session', {
          method: 'POST',
          headers: { origin },
          body: { code: text },
        });
        expect(swapped.status, text).toBe(401);
        tried += 1;
        if (!/^[\w.~+/=-]+$/.test(text)) continue;
        for (const headers of [
          { authorization: `Bearer ${text}` },
          { cookie: `${cookieName(robbed.port)}=${text}` },
        ])
          expect((await robbed.inject('/internal/v1/jobs', { headers })).status).not.toBe(200);
        expect((await robbed.inject('/v1/backup', { token: text })).status).toBe(401);
      }
      if (bytes.length === 0) continue;
      const forged = await tokenFor(credential.api_key, robbed, new Uint8Array(bytes));
      expect((await robbed.inject('/v1/backup', { token: forged })).status).toBe(401);
    }
    expect(tried).toBeGreaterThan(50);
    expect((await robbed.inject('/v1/backup', { token })).status).toBe(200);
  });

  test('L20: holds no secret and no token, and neither does the log; files are for their owner alone', async () => {
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
