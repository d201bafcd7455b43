/**
 * What a web page of somebody else, or another program of this machine, can do to the agent over HTTP: nothing. Lines
 * L01 to L05, L07, L12 and L13 of the security checklist, on real sockets and on every route.
 */
// Turn 3 of 8.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pageFiles } from '../../src/api/framework/page-files.ts';
import { DEFAULT_LIMITS } from '../../src/api/wire/limits.ts';
import { errnoOf } from '../../src/base/errors.ts';
import { openApiSite, rawExchange, type ApiReply, type ApiSite } from '../support/api-site.ts';
import { everyRoute, signIn } from '../support/page-session.ts';

let site: ApiSite;

beforeAll(async () => {
  site = await openApiSite({ limits: { anonymous: { requests: 20_000, windowMs: 60_000 } } });
});

afterAll(async () => {
  await site[Symbol.asyncDispose]();
});

function codeOf(reply: ApiReply): string | undefined {
  return reply.json.error?.code;
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

/** 42 of them. */
const wrongHosts = (port: number): readonly string[] => [
  'evil.example',
  `evil.example:${port}`,
  `localhost.:${port}`,
  `localhost.evil.example:${port}`,
  `localhost.localdomain:${port}`,
  `127.0.0.1.evil.example:${port}`,
  `127.0.0.1.nip.io:${port}`,
  `evil.example#127.0.0.1:${port}`,
  `user@127.0.0.1:${port}`,
  `0.0.0.0:${port}`,
  `0:${port}`,
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
  `[fe80::1]:${port}`,
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
  `localhost:${port}:${port}`,
  `localhost:${port},localhost:${port}`,
  `localhost:${port}/`,
  `http://localhost:${port}`,
  `xn--localhost:${port}`,
  `ip6-localhost:${port}`,
  'null',
  '',
];

/** Routes of every kind: open, closed, the page and its files, a stream, none, and no path at all. */
const TARGETS = [
  '/v1/status',
  '/v1/backup',
  '/api/v1/events',
  '/healthz',
  '/docs',
  '/',
  pageFiles().at(-1)?.path ?? '/',
  '/internal/v1/overview',
  '/nowhere',
  '/v1/%zz',
];

describe('the host', () => {
  test('L02: 42 foreign or odd hosts are refused before anything else, whatever is asked for', async () => {
    const hosts = wrongHosts(site.port);
    expect(hosts.length).toBeGreaterThanOrEqual(40);
    for (const host of hosts) {
      const replies = TARGETS.map(
        async (target) =>
          await site.raw(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`),
      );
      for (const reply of await Promise.all(replies)) {
        expect(reply, host).toContain('HTTP/1.1 403 ');
        expect(reply, host).toContain('"HOST_NOT_ALLOWED"');
      }
    }
  });

  test('L02: no handler of any route runs for a foreign host', async () => {
    let asked = 0;
    const count = async (): Promise<never> => {
      asked += 1;
      throw new Error('a handler has run');
    };
    await using guarded = await openApiSite({
      agent: {
        requestBackup: count,
        submit: count,
        fullStatus: count,
        pause: count,
        resume: count,
        publicStatus: () => expect.fail('a handler has run'),
        jobs: () => expect.fail('a handler has run'),
        job: () => expect.fail('a handler has run'),
      },
    });
    const token = await guarded.token();
    for (const { method, path } of everyRoute(guarded)) {
      const reply = await guarded.inject(path, { method, token, headers: { host: 'evil.example' } });
      expect(reply.status, `${method} ${path}`).toBe(403);
    }
    expect(asked).toBe(0);
  });

  test('L02: so is a missing or doubled one, an absolute target, an upgrade and a tunnel', async () => {
    const good = `Host: localhost:${site.port}`;
    const requests = [
      'GET /v1/status HTTP/1.1\r\nConnection: close\r\n\r\n',
      'GET / HTTP/1.1\r\nConnection: close\r\n\r\n',
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
  test('L03: in 25 combinations, no page of another site gets through to any route', async () => {
    const own = `http://127.0.0.1:${site.port}`;
    const origins = [undefined, own, 'null', 'http://evil.example', `https://127.0.0.1:${site.port}`];
    const sites = [undefined, 'same-origin', 'none', 'same-site', 'cross-site'];
    const token = await site.token();
    const session = await signIn(site);
    let asked = 0;
    for (const { method, path, scope } of everyRoute(site)) {
      // Once signed out, the session would be no good for the rest.
      if (method === 'DELETE' && path === '/internal/v1/session') continue;
      const reads = method === 'GET' || method === 'HEAD';
      const ofPage = scope === 'page' || scope === 'entry';
      for (const origin of origins) {
        for (const fetchSite of sites) {
          const unsaid = origin === undefined && (reads || !ofPage);
          const allowed = (unsaid || origin === own) && !fetchSite?.endsWith('site');
          // Streams never end by themselves.
          if (allowed && path.endsWith('/events')) continue;
          const reply = await site.inject(path, {
            method,
            token: ofPage ? undefined : token,
            headers: {
              ...(ofPage ? { cookie: session.cookie } : {}),
              ...(origin === undefined ? {} : { origin }),
              ...(fetchSite === undefined ? {} : { 'sec-fetch-site': fetchSite }),
            },
          });
          const where = `${method} ${path} ${origin} ${fetchSite}`;
          if (method === 'HEAD') expect(reply.status === 403, where).toBe(!allowed);
          else expect(reply.text.includes('"code":"ORIGIN_NOT_ALLOWED"'), where).toBe(!allowed);
          asked += 1;
        }
      }
    }
    expect(asked).toBeGreaterThan(2_000);
  });

  test('L04: there are no CORS headers, not even for a preflight from our own page, on any route', async () => {
    let asked = 0;
    for (const { path } of everyRoute(site)) {
      for (const origin of ['http://evil.example', `http://127.0.0.1:${site.port}`]) {
        const headers = {
          origin,
          'access-control-request-method': 'POST',
          'access-control-request-private-network': 'true',
        };
        const reply = await site.inject(path, { method: 'OPTIONS', headers });
        expect([403, 405], path).toContain(reply.status);
        const names = Object.keys(reply.headers);
        expect(names.filter((name) => name.startsWith('access-control'))).toEqual([]);
        asked += 1;
      }
    }
    expect(asked).toBeGreaterThan(100);
  });

  test('L04: bodies are JSON and nothing else', async () => {
    const token = await site.token();
    const session = await signIn(site);
    const before = site.agent.requested.length;
    const types = [
      'text/plain',
      'text/plain; charset=application/json',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'text/json',
      'application/json-patch+json',
      'x',
    ];
    for (const type of types) {
      const options = { method: 'POST', body: '{"source":"/x"}', headers: { 'content-type': type } };
      for (const reply of [
        await site.call('/v1/backup', { ...options, token }),
        await session.ask('/backup', options),
      ])
        expect([reply.status, codeOf(reply)], type).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
    }
    const untyped = await site.raw(
      `POST /v1/backup HTTP/1.1\r\nHost: ${site.host}\r\nAuthorization: Bearer ${token}\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`,
    );
    expect(untyped).toContain('UNSUPPORTED_MEDIA_TYPE');
    expect(site.agent.requested).toHaveLength(before);
  });

  test('L07: what is refused, is refused to a plain socket that says what a browser would', async () => {
    const { cookie } = await signIn(site);
    const attacks = [
      ['Host: evil.example', 'GET /internal/v1/overview'],
      [`Host: ${site.host}\r\nOrigin: http://evil.example`, 'GET /internal/v1/overview'],
      [`Host: ${site.host}\r\nOrigin: null`, 'DELETE /internal/v1/session'],
      [`Host: ${site.host}\r\nSec-Fetch-Site: cross-site`, 'GET /internal/v1/overview'],
      [`Host: ${site.host}\r\nSec-Fetch-Site: same-site`, 'GET /internal/v1/overview'],
      // A form of another port of this machine: the same site, and the cookie goes along.
      [`Host: ${site.host}\r\nOrigin: http://127.0.0.1:${site.port + 1}`, 'POST /internal/v1/pause'],
      [`Host: ${site.host}`, 'POST /internal/v1/pause'],
    ];
    for (const [headers, request] of attacks) {
      const reply = await site.raw(
        `${request} HTTP/1.1\r\n${headers}\r\nCookie: ${cookie}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
      );
      expect(reply, `${request} ${headers}`).toContain('HTTP/1.1 403 ');
      expect(reply.toLowerCase()).not.toContain('access-control');
    }
    const form = await site.raw(
      `POST /internal/v1/backup HTTP/1.1\r\nHost: ${site.host}\r\nOrigin: http://${site.host}\r\nCookie: ${cookie}\r\nContent-Type: text/plain\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`,
    );
    expect(form).toContain('HTTP/1.1 415 ');
  });
});

describe('who may ask', () => {
  test('L05: a cookie, a query parameter or a key of another form opens no route of the API', async () => {
    const token = await site.token();
    const { cookie } = await signIn(site);
    const ways = [
      { cookie },
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

  test('L13: every route but the public ones needs a valid token, and one of the page its session', async () => {
    const expired = await site.token();
    await site.clock.advance(3_601_000);
    const revokedKey = site.credential();
    const revoked = await site.token(revokedKey);
    site.server.credentials.revoke(revokedKey.api_key);
    const valid = await site.token();
    const { cookie } = await signIn(site);
    const open = new Set<string>();
    const seen = { api: 0, page: 0 };
    for (const { method, path, scope } of everyRoute(site)) {
      if (scope === 'public' || scope === 'entry') {
        open.add(path.replace(/^\/(?:api\/)?v1/, ''));
        continue;
      }
      seen[scope as 'api' | 'page'] += 1;
      const origin = `http://${site.host}`;
      const answers =
        scope === 'api'
          ? ([
              [{ token: undefined }, 'UNAUTHORIZED'],
              [{ token: expired }, 'TOKEN_EXPIRED'],
              [{ token: revoked }, 'INVALID_TOKEN'],
              [{ token: 'rubbish' }, 'INVALID_TOKEN'],
              [{ headers: { cookie } }, 'UNAUTHORIZED'],
            ] as const)
          : ([
              [{ headers: { origin } }, 'UNAUTHORIZED'],
              [{ headers: { origin }, token: valid }, 'UNAUTHORIZED'],
              [{ headers: { origin, cookie: `${cookie}x` } }, 'UNAUTHORIZED'],
              [{ headers: { origin, cookie: cookie.replace(/_\d+=/, '_1=') } }, 'UNAUTHORIZED'],
              [{ headers: { origin, cookie: `${cookie}; ${cookie}` } }, 'UNAUTHORIZED'],
            ] as const);
      for (const [options, code] of answers) {
        const reply = await site.inject(path, { method, ...options });
        expect(reply.status, `${method} ${path} ${code}`).toBe(401);
        if (method !== 'HEAD') expect(codeOf(reply), `${method} ${path}`).toBe(code);
      }
    }
    expect([...open].filter((file) => !/^\/(?:assets|docs)\//.test(file)).sort()).toEqual([
      '/',
      '/app-icon-192.png',
      '/app-icon-512.png',
      '/app-icon-maskable.svg',
      '/app-icon.svg',
      '/auth/token',
      '/docs',
      '/healthz',
      '/internal/v1/session',
      '/manifest.webmanifest',
      '/openapi.json',
      '/readyz',
      '/status',
    ]);
    const built = pageFiles()
      .filter(({ isLasting }) => isLasting)
      .map((file) => file.path);
    expect(built.length).toBeGreaterThan(5);
    expect([...open].filter((file) => file.startsWith('/assets/')).toSorted()).toEqual(built.toSorted());
    // The reference of the API has some of these files below its own address.
    const ofReference = [...open].filter((file) => file.startsWith('/docs/'));
    expect(ofReference).toHaveLength(3);
    for (const file of ofReference) expect(built).toContain(file.replace('/docs/', '/assets/'));
    expect(seen.api).toBeGreaterThan(50);
    expect(seen.page).toBeGreaterThan(25);
  });
});

describe('what is large or slow', () => {
  test('L12: has the limits of the checklist, in force as they are delivered', async () => {
    expect(DEFAULT_LIMITS).toMatchObject({
      bodyBytes: 1_048_576,
      headerBytes: 16_384,
      maxConnections: 512,
      requestTimeoutMs: 30_000,
      connectionTimeoutMs: 15_000,
      handlerTimeoutMs: 30_000,
    });
    const token = await site.token();
    const body = JSON.stringify({ source: `/${'x'.repeat(1_048_576)}` });
    const large = await site.call('/v1/backup', { method: 'POST', token, body });
    expect([large.status, codeOf(large)]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
    const padded = await site.raw(
      `GET /healthz HTTP/1.1\r\nHost: ${site.host}\r\nX: ${'x'.repeat(17_000)}\r\n\r\n`,
    );
    expect(padded).toContain('HTTP/1.1 431 ');
    expect(padded).toContain('"HEADERS_TOO_LARGE"');
  });
});
