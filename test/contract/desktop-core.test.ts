/** What every request to the Desktop API meets, whatever it asks for. */
import { connect, type AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { errnoOf } from '../../src/base/errors.ts';
import { openApiSite, rawExchange, type ApiReply, type ApiSite } from '../support/api-site.ts';

let site: ApiSite;

beforeAll(async () => {
  site = await openApiSite({ limits: { anonymous: { requests: 100_000, windowMs: 60_000 } } });
});

afterAll(async () => {
  await site[Symbol.asyncDispose]();
});

function codeOf(reply: ApiReply): string | undefined {
  return reply.json.error?.code;
}

function outcomeOf(reply: ApiReply): [number, string | undefined] {
  return [reply.status, codeOf(reply)];
}

/** Each route once, with ids filled in. */
function everyRoute(): { readonly method: string; readonly path: string; readonly scope: string }[] {
  return site.server.routes.entries.map(({ method, url, facts }) => ({
    method,
    path: url.replaceAll(/:\w+/g, 'bkp_00000000000000000000000000'),
    scope: facts.scope,
  }));
}

async function canConnect(host: string, port: number): Promise<boolean> {
  const socket = connect({ host, port });
  try {
    await once(socket, 'connect');
    return true;
  } catch (error) {
    expect(errnoOf(error)).toBe('ECONNREFUSED');
    return false;
  } finally {
    socket.destroy();
  }
}

describe('the addresses', () => {
  test('L01: it answers on 127.0.0.1 and ::1, and on no other address of the machine', async () => {
    expect(await canConnect('127.0.0.1', site.port)).toBe(true);
    const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
    if (all.some(({ address }) => address === '::1')) expect(await canConnect('::1', site.port)).toBe(true);

    const outside = all.filter(({ internal, scopeid }) => !internal && !(scopeid ?? 0));
    for (const address of ['127.0.0.2', ...outside.map((one) => one.address)]) {
      expect(await canConnect(address, site.port), address).toBe(false);
    }
  });

  test('L01: a port that is taken is said plainly', async () => {
    const other = createServer();
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const second = await openApiSite();
    await second.server.close();
    await expect(second.server.listen(port)).rejects.toMatchObject({ code: 'PORT_TAKEN', details: { port } });
    await second[Symbol.asyncDispose]();
    other.close();
    await once(other, 'close');
  });
});

describe('the host', () => {
  const wrongHosts = (port: number): string[] => [
    'evil.example',
    `evil.example:${port}`,
    `localhost.:${port}`,
    `localhost.evil.example:${port}`,
    `127.0.0.1.evil.example:${port}`,
    `evil.example#127.0.0.1:${port}`,
    `user@127.0.0.1:${port}`,
    `0.0.0.0:${port}`,
    `127.0.0.2:${port}`,
    `127.1:${port}`,
    `127.0.1:${port}`,
    `2130706433:${port}`,
    `0x7f000001:${port}`,
    `0177.0.0.1:${port}`,
    `127.0.0.01:${port}`,
    `[::]:${port}`,
    `[::ffff:7f00:1]:${port}`,
    `[::ffff:127.0.0.1]:${port}`,
    `[0:0:0:0:0:0:0:1]:${port}`,
    `::1:${port}`,
    `[::1%25lo]:${port}`,
    'localhost',
    '127.0.0.1',
    '[::1]',
    'localhost:80',
    'localhost:443',
    `localhost:${port}0`,
    `localhost:0${port}`,
    `localhost:+${port}`,
    `localhost :${port}`,
    `localhost:${port},localhost:${port}`,
    `localhost:${port}/`,
    `http://localhost:${port}`,
    `xn--localhost:${port}`,
    `ip6-localhost:${port}`,
    '',
  ];

  test('L02: a foreign or odd Host is refused before anything else, whatever is asked for', async () => {
    expect(wrongHosts(site.port).length).toBeGreaterThanOrEqual(36);
    const targets = ['/v1/status', '/v1/backup', '/healthz', '/docs', '/nowhere', '/v1/%zz'];
    for (const [index, host] of wrongHosts(site.port).entries()) {
      const target = targets[index % targets.length] ?? '';
      const reply = await site.raw(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      expect(reply, host).toContain('HTTP/1.1 403 ');
      expect(reply, host).toContain('"HOST_NOT_ALLOWED"');
    }
  });

  test('L02: so is a missing or doubled one, an absolute target, an upgrade and a tunnel', async () => {
    const good = `Host: localhost:${site.port}`;
    const requests = [
      'GET /v1/status HTTP/1.1\r\nConnection: close\r\n\r\n',
      'GET /v1/status HTTP/1.0\r\n\r\n',
      `GET /v1/status HTTP/1.1\r\n${good}\r\n${good}\r\nConnection: close\r\n\r\n`,
      `GET /v1/status HTTP/1.1\r\n${good}\r\nHost: evil.example\r\nConnection: close\r\n\r\n`,
      `GET /v1/status HTTP/1.1\r\n${good}\r\n${'a:\r\n'.repeat(4_000)}Host: evil.example\r\nConnection: close\r\n\r\n`,
      `GET http://evil.example/v1/status HTTP/1.1\r\n${good}\r\nConnection: close\r\n\r\n`,
      `GET http://localhost:${site.port}/v1/status HTTP/1.1\r\n${good}\r\nConnection: close\r\n\r\n`,
      'GET /v1/events HTTP/1.1\r\nHost: evil.example\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n',
      `CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n`,
    ];
    for (const request of requests) {
      const reply = await rawExchange(site.port, request);
      expect(reply, request.slice(0, 200)).toContain('HTTP/1.1 403 ');
      expect(reply, request.slice(0, 200)).toContain('"HOST_NOT_ALLOWED"');
    }
  });

  test('L02: the three names of the agent are accepted, in any case', async () => {
    for (const name of ['localhost', '127.0.0.1', '[::1]', 'LocalHost']) {
      const reply = await site.call('/v1/status', { headers: { host: `${name}:${site.port}` } });
      expect(reply.status, name).toBe(200);
    }
  });

  test('L02: a request that is refused for its host spends nothing', async () => {
    const before = await site.call('/v1/status');
    for (let count = 0; count < 20; count += 1)
      await site.call('/v1/status', { headers: { host: 'evil.example' } });
    const after = await site.call('/v1/status');
    expect(
      Number(before.headers['x-ratelimit-remaining']) - Number(after.headers['x-ratelimit-remaining']),
    ).toBe(1);
  });
});

describe('the origin', () => {
  test('L03: no page of another site gets through to any route', async () => {
    const own = `http://127.0.0.1:${site.port}`;
    const origins = [undefined, own, 'null', 'http://evil.example', `https://127.0.0.1:${site.port}`];
    const sites = [undefined, 'same-origin', 'none', 'same-site', 'cross-site'];
    const token = await site.token();
    let asked = 0;
    for (const { method, path } of everyRoute()) {
      // Streams never end by themselves; their guard is the same.
      if (path.endsWith('/events')) continue;
      for (const origin of origins) {
        for (const fetchSite of sites) {
          const reply = await site.inject(path, {
            method,
            token,
            headers: {
              ...(origin === undefined ? {} : { origin }),
              ...(fetchSite === undefined ? {} : { 'sec-fetch-site': fetchSite }),
            },
          });
          const allowed = (origin === undefined || origin === own) && !fetchSite?.endsWith('site');
          const where = `${method} ${path} ${origin} ${fetchSite}`;
          if (method === 'HEAD') expect(reply.status === 403, where).toBe(!allowed);
          else expect(reply.text.includes('"code":"ORIGIN_NOT_ALLOWED"'), where).toBe(!allowed);
          asked += 1;
        }
      }
    }
    expect(asked).toBeGreaterThan(500);
  });

  test('L04: there are no CORS headers, not even for a preflight from our own page', async () => {
    for (const origin of ['http://evil.example', `http://127.0.0.1:${site.port}`]) {
      const headers = { origin, 'access-control-request-method': 'POST' };
      const reply = await site.call('/v1/backup', { method: 'OPTIONS', headers });
      expect([403, 405]).toContain(reply.status);
      const names = Object.keys(reply.headers);
      expect(names.filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
  });

  test('L04: bodies are JSON and nothing else', async () => {
    const token = await site.token();
    const before = site.agent.requested.length;
    const types = [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'text/json',
      'x',
    ];
    for (const type of types) {
      const options = { method: 'POST', token, body: '{"source":"/x"}', headers: { 'content-type': type } };
      const reply = await site.call('/v1/backup', options);
      expect([reply.status, codeOf(reply)], type).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
    }
    const untyped = await site.raw(
      `POST /v1/backup HTTP/1.1\r\nHost: ${site.host}\r\nAuthorization: Bearer ${token}\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`,
    );
    expect(untyped).toContain('UNSUPPORTED_MEDIA_TYPE');
    expect(site.agent.requested).toHaveLength(before);
  });
});

describe('who may ask', () => {
  test('L05: a cookie, a query parameter or a key of another form opens nothing', async () => {
    const token = await site.token();
    const ways = [
      { cookie: `token=${token}; session=${token}; access_token=${token}` },
      { 'x-api-key': token },
      { authorization: token },
      { authorization: `Basic ${Buffer.from(`x:${token}`).toString('base64')}` },
      { authorization: `Bearer ${token}, Bearer ${token}` },
      { authorization: 'Bearer' },
    ];
    for (const headers of ways) {
      const reply = await site.call('/v1/backup', { headers });
      expect([reply.status, codeOf(reply)], JSON.stringify(Object.keys(headers))).toEqual([
        401,
        'UNAUTHORIZED',
      ]);
      expect(reply.headers['www-authenticate']).toContain('Bearer');
    }
    expect((await site.call(`/v1/backup?access_token=${token}`)).status).toBe(401);
    const twice = `Authorization: Bearer ${token}\r\n`;
    const reply = await site.raw(
      `GET /v1/backup HTTP/1.1\r\nHost: ${site.host}\r\n${twice}${twice}Connection: close\r\n\r\n`,
    );
    expect(reply).toContain('HTTP/1.1 401 ');
  });

  test('L13: every route but the public ones needs a valid token', async () => {
    const expired = await site.token();
    await site.clock.advance(3_601_000);
    const revokedKey = site.credential();
    const revoked = await site.token(revokedKey);
    site.server.credentials.revoke(revokedKey.api_key);
    const open = new Set<string>();
    for (const { method, path, scope } of everyRoute()) {
      if (scope === 'public') {
        open.add(path.replace(/^\/(?:api\/)?v1/, ''));
        continue;
      }
      const answers = [
        [undefined, 'UNAUTHORIZED'],
        [expired, 'TOKEN_EXPIRED'],
        [revoked, 'INVALID_TOKEN'],
        ['rubbish', 'INVALID_TOKEN'],
      ] as const;
      for (const [token, code] of answers) {
        const reply = await site.inject(path, { method, token });
        expect(reply.status, `${method} ${path} ${code}`).toBe(401);
        if (method !== 'HEAD') expect(codeOf(reply), `${method} ${path}`).toBe(code);
      }
    }
    expect([...open].sort()).toEqual([
      '/auth/token',
      '/docs',
      '/healthz',
      '/openapi.json',
      '/readyz',
      '/status',
    ]);
  });

  test('L13: figures need a token, and are absent where none are kept', async () => {
    const metrics = async () => ({ type: 'text/plain; version=0.0.4', text: 'up 1\n' });
    await using counting = await openApiSite({ metrics });
    expect(outcomeOf(await counting.call('/metrics'))).toEqual([401, 'UNAUTHORIZED']);
    const reply = await counting.call('/metrics', { token: await counting.token() });
    expect([reply.status, reply.text, reply.headers['content-type']]).toEqual([
      200,
      'up 1\n',
      'text/plain; version=0.0.4',
    ]);
    expect(outcomeOf(await site.call('/metrics'))).toEqual([404, 'NOT_FOUND']);
  });

  test('/status shows more to whoever has a token, and refuses one that is no good', async () => {
    const anonymous = await site.call('/v1/status');
    expect(anonymous.status).toBe(200);
    expect(Object.keys(anonymous.json.data ?? {}).sort()).toEqual(
      [
        'api_version',
        'checks',
        'jobs',
        'last_backup',
        'next_run_at',
        'status',
        'time',
        'uptime_seconds',
        'version',
      ].sort(),
    );
    expect(anonymous.text).not.toContain('/home/ana');

    const full = await site.call('/api/v1/status', { token: await site.token() });
    expect(full.json.data).toMatchObject({
      plan: 'business',
      rate_limit: { limit: 10_000, window_seconds: 3_600 },
      sources: [{ path: '/home/ana', last_good_backup_at: '2020-09-13T12:26:40.000Z' }],
      destinations: [{ name: 'default', reachable: true }],
    });
    expect(codeOf(await site.call('/v1/status', { token: 'rubbish' }))).toBe('INVALID_TOKEN');
  });
});

describe('every response', () => {
  test('L06: carries the security headers, a request id and the rate limit, errors of every kind too', async () => {
    const token = await site.token();
    const json = { method: 'POST', token } as const;
    const replies = [
      await site.call('/v1/status'),
      await site.call('/v1/backup', { token }),
      await site.call('/v1/backup', { ...json, body: { source: '/x' } }),
      await site.call('/v1/backup'),
      await site.call('/v1/nowhere'),
      await site.call('/v1/%zz'),
      await site.call('/v1/backup', { ...json, body: '{' }),
      await site.call('/v1/backup', { ...json, body: { nothing: 1 } }),
      await site.call('/v1/status', { method: 'DELETE' }),
      await site.call('/v1/status', { headers: { host: 'evil.example' } }),
      await site.call('/v1/status', { headers: { origin: 'null' } }),
      await site.call('/healthz'),
      await site.call('/readyz'),
      await site.call('/openapi.json'),
      await site.call('/docs'),
    ];
    for (const { headers, status } of replies) {
      expect(headers['content-security-policy'], String(status)).toContain(
        "default-src 'self'; frame-ancestors 'none'",
      );
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers['referrer-policy']).toBe('no-referrer');
      expect(headers['x-request-id']).toMatch(/^req_[0-9A-Z]{26}$/);
      for (const name of ['limit', 'remaining', 'reset']) {
        expect(headers[`x-ratelimit-${name}`], `${status} ${name}`).toMatch(/^\d+$/);
      }
    }
  });

  test('L06: file names that look like markup come back as JSON text', async () => {
    const token = await site.token();
    const name = `/x/<script>alert(1)</script>\u202e\u001b[31m\n"'`;
    const reply = await site.call('/v1/backup', { method: 'POST', token, body: { source: name } });
    expect(reply.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(reply.json.data?.['source']).toBe(name);
    // oxlint-disable-next-line no-control-regex -- that is what must not be there
    expect(reply.text).not.toMatch(/[\u0000-\u001f]/);
  });

  test('is an envelope that names the request', async () => {
    for (const id of ['abc', 'A-b_c.9', 'x'.repeat(64)]) {
      const reply = await site.call('/v1/nowhere', { headers: { 'x-request-id': id } });
      expect(reply.headers['x-request-id']).toBe(id);
      expect(reply.json.meta?.request_id).toBe(id);
    }
    for (const id of ['', 'x'.repeat(65), 'a b', '<b>', 'a/b', 'é']) {
      const reply = await site.call('/v1/status', { headers: { 'x-request-id': id } });
      expect(reply.headers['x-request-id'], id).toMatch(/^req_/);
      expect(reply.json.meta?.request_id).toBe(reply.headers['x-request-id']);
    }
    const { json } = await site.call('/v1/status');
    expect(json).toMatchObject({
      success: true,
      meta: { timestamp: new Date(site.clock.now()).toISOString() },
    });
    expect(Object.keys(json)).toEqual(['success', 'data', 'meta']);
    const failed = (await site.call('/v1/nowhere')).json;
    expect(Object.keys(failed)).toEqual(['success', 'error', 'meta']);
    expect(failed.error?.details).toEqual({});
  });

  test('is the same under both prefixes, and Location keeps the one that was asked', async () => {
    const token = await site.token();
    for (const prefix of ['/v1', '/api/v1']) {
      const made = await site.call(`${prefix}/backup`, { method: 'POST', token, body: { source: '/x' } });
      expect(made.status).toBe(202);
      expect(made.headers['location']).toBe(`${prefix}/backup/${String(made.json.data?.['id'])}`);
      expect((await site.call(String(made.headers['location']), { token })).json.data).toEqual(
        made.json.data,
      );
    }
    const [short, long] = [await site.call('/v1/status'), await site.call('/api/v1/status')];
    expect(long.json.data).toEqual(short.json.data);
  });

  test('to an unknown route or method says which there are', async () => {
    for (const path of [
      '/',
      '/v1',
      '/v1/',
      '/v2/status',
      '/v1/backup/',
      '/v1/statu',
      '/v1/backup/a/b/c',
      '/.not-a-path',
    ]) {
      const reply = await site.call(path, {
        method: 'POST',
        body: '{{{',
        headers: { 'content-type': 'text/x' },
      });
      expect([reply.status, codeOf(reply)], path).toEqual([404, 'NOT_FOUND']);
    }
    const wrong = await site.call('/v1/status', { method: 'PATCH' });
    expect([wrong.status, codeOf(wrong), wrong.headers['allow']]).toEqual([
      405,
      'METHOD_NOT_ALLOWED',
      'GET, HEAD',
    ]);
    const other = await site.call('/api/v1/auth/token', { method: 'PROPFIND' });
    expect([other.status, other.headers['allow']]).toEqual([405, 'POST']);
  });
});

describe('the API description', () => {
  test('names every route once, with its parameters, and is a readable page that needs nothing from elsewhere', async () => {
    const { text, headers } = await site.call('/openapi.json');
    expect(headers['content-type']).toContain('application/json');
    const document = JSON.parse(text) as {
      openapi: string;
      paths: Record<
        string,
        Record<string, { operationId: string; parameters: { name: string; in: string }[] }>
      >;
    };
    expect(document.openapi).toBe('3.1.0');
    const described = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item)
        .filter((method) => method !== 'servers')
        .map((method) => `${method.toUpperCase()} ${path}`),
    );
    const known = site.server.routes.entries
      .filter(({ method, url }) => method !== 'HEAD' && !url.startsWith('/api/v1'))
      .map(({ method, url }) => `${method} ${url.replace(/^\/v1/, '').replaceAll(/:(\w+)/g, '{$1}')}`);
    expect(described.sort()).toEqual(known.sort());
    const operations = Object.values(document.paths).flatMap((item) =>
      Object.values(item).filter((operation) => operation.operationId !== undefined),
    );
    expect(new Set(operations.map((operation) => operation.operationId)).size).toBe(operations.length);
    expect(document.paths['/backup/{id}']?.['get']?.parameters).toMatchObject([{ name: 'id', in: 'path' }]);

    const page = await site.call('/docs');
    expect(page.headers['content-type']).toContain('text/html');
    expect(page.text).toContain('<code>/backup/{id}</code>');
    expect(page.text).not.toMatch(/<script|src=|@import|url\(|https?:\/\/(?!localhost)/);
    const hash = /'sha256-([^']+)'/.exec(String(page.headers['content-security-policy']))?.[1];
    const style = /<style>([\s\S]*?)<\/style>/.exec(page.text)?.[1] ?? '';
    const { createHash } = await import('node:crypto');
    expect(hash).toBe(createHash('sha256').update(style).digest('base64'));
  });

  test('health says that the process answers, readiness that the agent has started', async () => {
    expect((await site.call('/healthz')).text).toBe('{"status":"ok"}');
    expect((await site.call('/readyz')).status).toBe(200);
    await using starting = await openApiSite({
      agent: { publicStatus: () => ({ ...site.agent.publicStatus(), status: 'starting' }) },
    });
    expect((await starting.call('/readyz')).status).toBe(503);
    expect((await starting.call('/healthz')).status).toBe(200);
  });
});
