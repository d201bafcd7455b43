/** What a client sends, what it gives back, and when it asks again. */
import { describe, expect, test } from 'vitest';
import { desktopClient } from '../../../src/client/desktop-client.ts';
import { HoldfastError } from '../../../src/client/holdfast-error.ts';
import { partnerClient } from '../../../src/client/partner-client.ts';
import { data, openClientSite, refusal } from '../../support/client-site.ts';
import { openJudge } from '../../support/openapi-documents.ts';
import { startScriptedServer } from '../../support/scripted-server.ts';

const STATUS = 'GET /v1/status';

describe('a request', () => {
  test('has its path, query, headers and body, and gives the data of the reply', async () => {
    await using site = await openClientSite(() => data({ id: 'bkp_1' }));
    const { client } = site;
    await client.get('/backup/{id}', { path: { id: 'a/b c' } });
    await client.get('/files', { query: { path: '/tmp/ä&b', q: undefined } });
    const backup = await client.post('/backup', {
      body: { source: '/a' },
      idempotencyKey: 'k',
      waitSeconds: 30,
    });
    await client.put('/settings', { headers: { 'If-Match': 'r' }, body: { settings: {} } });
    expect(backup).toEqual({ id: 'bkp_1' });
    const [one, files, post, put] = site.asked();
    expect(one?.target).toBe('GET /v1/backup/a%2Fb%20c');
    expect(files?.target).toBe('GET /v1/files?path=%2Ftmp%2F%C3%A4%26b');
    expect(post).toMatchObject({
      target: 'POST /v1/backup',
      body: '{"source":"/a"}',
      headers: { 'idempotency-key': 'k', prefer: 'wait=30', 'content-type': 'application/json' },
    });
    expect(put?.headers).toMatchObject({ 'if-match': 'r', authorization: 'Bearer token-1' });
    for (const { headers } of [one, files, put].map((request) => request ?? expect.fail('not asked')))
      expect(headers['idempotency-key']).toBeUndefined();
  });

  test('to start something has a key of its own, so that it counts once', async () => {
    await using site = await openClientSite(() => data({}));
    await site.client.post('/pause');
    await site.client.post('/pause');
    const keys = site.asked().map(({ headers }) => headers['idempotency-key']);
    expect(new Set(keys).size).toBe(2);
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('gives the reply itself where it is no JSON', async () => {
    await using site = await openClientSite(() => ({ body: 'bytes' }));
    const content = await site.client.get('/files/content', { query: { path: '/a' } });
    expect(await content.text()).toBe('bytes');
  });

  test.each(['', '/', '/v1', '/v1/'])(
    'goes to the same place for an address with %j behind it',
    async (end) => {
      await using server = await startScriptedServer(() => data({ access_token: 't', expires_in: 3_600 }));
      await desktopClient({ address: `${server.address}${end}`, apiKey: 'a', secret: 'b' }).get('/status');
      expect(server.asked.map(({ target }) => target)).toEqual(['POST /v1/auth/token', STATUS]);
    },
  );

  test('of a partner carries the key', async () => {
    await using server = await startScriptedServer(() => data({ id: 'acct_1' }));
    const partner = partnerClient({ address: server.address, apiKey: 'hfp_x' });
    expect(await partner.get('/account')).toEqual({ id: 'acct_1' });
    expect(server.asked).toMatchObject([
      { target: 'GET /api/partner/v1/account', headers: { authorization: 'Bearer hfp_x' } },
    ]);
  });
});

describe('an error', () => {
  test('has what the service said, and the id of the request', async () => {
    await using site = await openClientSite(() => refusal(400, 'INVALID_SOURCE'));
    const asked = site.client.post('/backup', { body: { source: '/a' } });
    await expect(asked).rejects.toBeInstanceOf(HoldfastError);
    await expect(asked).rejects.toMatchObject({
      code: 'INVALID_SOURCE',
      message: 'This is INVALID_SOURCE.',
      details: { path: '/a' },
      status: 400,
      requestId: 'req_2',
    });
    expect(site.asked()).toHaveLength(1);
  });

  test.each([
    { status: 200, body: { hello: 1 } },
    { status: 404, body: '<html>' },
    { status: 302, headers: { location: '/login' } },
    { status: 500, body: { error: 'x' } },
  ])('says when something else answers: %j', async (reply) => {
    await using site = await openClientSite(() => ({
      ...reply,
      headers: { ...reply.headers, 'x-request-id': 'r' },
    }));
    const asked = site.client.get('/status');
    await expect(asked).rejects.toMatchObject({
      code: 'UNEXPECTED_REPLY',
      status: reply.status,
      requestId: 'r',
    });
  });

  test('says when nobody answers', async () => {
    const server = await startScriptedServer(() => data({}));
    await server[Symbol.asyncDispose]();
    const client = desktopClient({ address: server.address, apiKey: 'a', secret: 'b' });
    await expect(client.get('/status')).rejects.toMatchObject({
      code: 'CONNECTION_FAILED',
      message: expect.stringContaining(server.address),
      status: undefined,
    });
  });

  test('says when an answer breaks off', async () => {
    const headers = { 'content-type': 'application/json' };
    await using site = await openClientSite(() => ({ headers, body: ['{"success": true, '] }));
    await expect(site.client.get('/status')).rejects.toMatchObject({ code: 'CONNECTION_FAILED' });
  });

  test('of an interrupted call is the reason of its signal, also while it signs in or reads', async () => {
    for (const part of ['auth', 'status']) {
      await using server = await startScriptedServer(({ target }) => {
        if (!target.includes(part)) return data({ access_token: 't', expires_in: 3_600 });
        return { headers: { 'content-type': 'application/json' }, body: ['{"success": '], hold: true };
      });
      const client = desktopClient({ address: server.address, apiKey: 'a', secret: 'b' });
      const signal = AbortSignal.timeout(100);
      await expect(client.get('/status', { signal })).rejects.toMatchObject({ name: 'TimeoutError' });
    }
  });

  test('of an interrupted pause is the reason of its signal', async () => {
    await using site = await openClientSite(() => refusal(503, 'SHUTTING_DOWN'));
    const signal = AbortSignal.timeout(100);
    await expect(site.client.get('/status', { signal })).rejects.toMatchObject({ name: 'TimeoutError' });
  });
});

describe('a pause', () => {
  test('is as long as the service asks for, and the request is the same then', async () => {
    await using site = await openClientSite((_, count) =>
      count < 3 ? refusal(429, 'RATE_LIMIT_EXCEEDED', { headers: { 'retry-after': '7' } }) : data({}),
    );
    const asked = site.client.post('/resume');
    expect(await site.secondsUntil(asked)).toBe(14);
    await asked;
    const keys = site.asked().map(({ headers }) => headers['idempotency-key']);
    expect([keys.length, new Set(keys).size]).toEqual([3, 1]);
  });

  test('grows where nobody says how long, up to a minute in all', async () => {
    await using site = await openClientSite(() => refusal(503, 'SERVICE_UNAVAILABLE'));
    const asked = site.client.get('/status');
    asked.catch(() => undefined);
    expect(await site.secondsUntil(asked)).toBe(31);
    await expect(asked).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: undefined });
    expect(site.asked()).toHaveLength(6);
  });

  test('that would be too long is none: the error says when to come back', async () => {
    await using site = await openClientSite(() =>
      refusal(429, 'RATE_LIMIT_EXCEEDED', { headers: { 'retry-after': '61' } }),
    );
    await expect(site.client.get('/status')).rejects.toMatchObject({
      code: 'RATE_LIMIT_EXCEEDED',
      retryAfterSeconds: 61,
    });
    expect(site.asked()).toHaveLength(1);
  });

  test('is made while the first of two equal requests is still at work', async () => {
    await using site = await openClientSite((_, count) =>
      count < 3 ? refusal(409, 'IDEMPOTENCY_IN_PROGRESS') : data({}),
    );
    expect(await site.secondsUntil(site.client.post('/pause', { idempotencyKey: 'k' }))).toBe(3);
  });

  test('does not help against any other refusal', async () => {
    await using site = await openClientSite(() =>
      refusal(409, 'QUEUE_FULL', { headers: { 'retry-after': '1' } }),
    );
    await expect(site.client.post('/pause')).rejects.toMatchObject({ code: 'QUEUE_FULL' });
    expect(site.asked()).toHaveLength(1);
  });
});

describe('a token', () => {
  test('is shared by requests that begin together, and used until shortly before it ends', async () => {
    await using site = await openClientSite(() => data({}));
    await Promise.all([site.client.get('/status'), site.client.get('/status')]);
    await site.clock.advance(3_539_000);
    await site.client.get('/status');
    await site.clock.advance(1_000);
    await site.client.get('/status');
    expect(site.asked().map(({ headers }) => headers.authorization)).toEqual([
      'Bearer token-1',
      'Bearer token-1',
      'Bearer token-1',
      'Bearer token-2',
    ]);
    expect(site.server.asked[0]).toMatchObject({ body: '{"api_key":"hfk_a","secret":"hfs_b"}' });
    expect(site.server.asked[0]?.headers.authorization).toBeUndefined();
  });

  test.each(['TOKEN_EXPIRED', 'INVALID_TOKEN'])('is renewed once when it is refused: %s', async (code) => {
    await using site = await openClientSite(({ headers }) =>
      headers.authorization === 'Bearer token-1' ? refusal(401, code) : data({ fine: true }),
    );
    expect(await site.client.get('/status')).toEqual({ fine: true });
    await using never = await openClientSite(() => refusal(401, code));
    await expect(never.client.get('/status')).rejects.toMatchObject({ code });
    expect(never.asked()).toHaveLength(2);
  });

  test('is asked for again after credentials were refused', async () => {
    let known = false;
    await using server = await startScriptedServer(({ target }) => {
      if (target.endsWith('/status')) return data({});
      return known ? data({ access_token: 't', expires_in: 60 }) : refusal(401, 'INVALID_CREDENTIALS');
    });
    const client = desktopClient({ address: server.address, apiKey: 'a', secret: 'b' });
    await expect(client.get('/status')).rejects.toMatchObject({ code: 'INVALID_CREDENTIALS' });
    known = true;
    expect(await client.get('/status')).toEqual({});
  });
});

describe('a list', () => {
  test('is read page by page, with the same filters', async () => {
    await using site = await openClientSite(({ target }) =>
      target.includes('cursor=')
        ? data({ items: [3], has_more: false, next_cursor: null })
        : data({ items: [1, 2], has_more: true, next_cursor: 'c&1' }),
    );
    const found: unknown[] = [];
    for await (const item of site.client.items('/backup', { query: { status: 'failed' } })) found.push(item);
    expect(found).toEqual([1, 2, 3]);
    expect(site.asked().map(({ target }) => target)).toEqual([
      'GET /v1/backup?limit=100&status=failed',
      'GET /v1/backup?limit=100&status=failed&cursor=c%261',
    ]);
  });

  test('asks for no more pages than are read', async () => {
    await using site = await openClientSite(() => data({ items: [1], has_more: true, next_cursor: 'c' }));
    for await (const item of site.client.items('/files', { query: { limit: 5 } })) {
      expect(item).toBe(1);
      break;
    }
    expect(site.asked().map(({ target }) => target)).toEqual(['GET /v1/files?limit=5']);
  });

  test.each(['desktop', 'partner'] as const)('has pages as large as %s.yaml allows', async (name) => {
    const none = data({
      items: [],
      has_more: false,
      next_cursor: null,
      access_token: 't',
      expires_in: 3_600,
    });
    await using server = await startScriptedServer(() => none);
    const client =
      name === 'desktop'
        ? desktopClient({ address: server.address, apiKey: 'a', secret: 'b' })
        : partnerClient({ address: server.address, apiKey: 'a' });
    // Of any path: this is about what is sent.
    const items = client.items as (path: string) => AsyncGenerator;
    const paged = openJudge(name, /^\//).routes.filter(
      ({ path, parameters }) => !path.includes('/self/') && parameters.some(({ name }) => name === 'cursor'),
    );
    expect(paged.length).toBeGreaterThan(5);
    for (const { path, parameters } of paged) {
      await items(path).next();
      const [, words] = (server.asked.at(-1)?.target ?? '').split('?');
      const largest = parameters.find(({ name }) => name === 'limit')?.schema['maximum'];
      expect([path, new URLSearchParams(words).get('limit')]).toEqual([path, String(largest)]);
    }
  });
});
