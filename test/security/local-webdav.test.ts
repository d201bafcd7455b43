/** Snapshots as a folder: who gets in, what no browser may make of it, and where its secret is not. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { redactText } from '../../src/base/redact.ts';
import { openApiSite, type ApiSite } from '../support/api-site.ts';
import { signIn } from '../support/page-session.ts';
import { treeAgent, treeSnapshot } from '../support/tree-agent.ts';
import { addresses, dav, pathOf, type DavOptions, type DavReply } from '../support/webdav-client.ts';

const PAGE = '<script>fetch("/internal/v1/status")</script>';

let site: ApiSite;

beforeAll(async () => {
  site = await openSite();
});

afterAll(async () => {
  await site[Symbol.asyncDispose]();
});

async function openSite(options: Parameters<typeof openApiSite>[0] = {}): Promise<ApiSite> {
  const agent = treeAgent();
  agent.kept.push(
    treeSnapshot('a', '/home/ana', { etc: { shadow: 'root' }, home: { ana: { 'x.html': PAGE } } }),
  );
  const opened = await openApiSite({ ...options, agent: { ...agent, ...options.agent } });
  opened.settings = { ...opened.settings, timeZone: 'UTC' };
  return opened;
}

const FILE = 'home%2Bana%40desk/latest/x.html';

async function ask(target: string, options: DavOptions = {}, at: ApiSite = site): Promise<DavReply> {
  return await dav(at.port, target, options);
}

function basic(user: string, password: string): DavOptions {
  return { headers: { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` } };
}

describe('the folder of snapshots', () => {
  test('is closed until a person opens it, and when they close it again', async () => {
    await using closed = await openSite();
    const status = async (target: string): Promise<number> => (await ask(target, {}, closed)).status;
    for (const target of ['/dav', '/dav/', `/dav/${FILE}`, `/dav/hfw_${'A'.repeat(43)}/`])
      expect(await status(target), target).toBe(404);
    const opened = pathOf(closed.server.webdav.turnOn().address);
    expect(await status(opened + FILE)).toBe(200);
    closed.server.webdav.turnOff();
    expect(await status(opened + FILE)).toBe(404);
  });

  test('opens for the secret alone: in the path, or as a password', async () => {
    const { address, user, password } = site.server.webdav.turnOn();
    expect(pathOf(address)).toBe(`/dav/${password}/`);
    expect(Buffer.from(password.slice('hfw_'.length), 'base64url')).toHaveLength(32);
    expect((await ask(pathOf(address) + FILE)).text).toBe(PAGE);
    expect((await ask(`/dav/${FILE}`, basic(user, password))).text).toBe(PAGE);
    // A client that was given both.
    expect((await ask(pathOf(address) + FILE, basic(user, password))).text).toBe(PAGE);
    const wrong = [
      ask('/dav/'),
      ask(`/dav/${FILE}`),
      ask(`/dav/${password}x/${FILE}`),
      ask(`/dav/${password.toLowerCase()}/${FILE}`),
      ask(`/dav/hfw_${'A'.repeat(43)}/${FILE}`),
      ask(`/dav/${FILE}`, basic(user, `${password} `)),
      ask(`/dav/${FILE}`, basic('root', password)),
      ask(`/dav/${FILE}`, basic('', password)),
      ask(`/dav/${FILE}`, { headers: { authorization: `Bearer ${password}` } }),
      ask(`/dav/${FILE}`, { headers: { authorization: `Basic ${password}` } }),
      ask(`/dav/${FILE}?secret=${password}`),
      ask(`/dav/${FILE}`, { headers: { cookie: (await signIn(site)).cookie } }),
      ask(`/dav/${FILE}`, { headers: { authorization: `Bearer ${await site.token()}` } }),
    ];
    for (const [index, reply] of (await Promise.all(wrong)).entries()) {
      expect(reply.status, String(index)).toBe(401);
      expect(reply.headers['www-authenticate']).toBe('Basic realm="Holdfast snapshots", charset="UTF-8"');
      expect(reply.text).not.toContain('x.html');
    }
  });

  test('takes every method from nobody else', async () => {
    for (const method of ['OPTIONS', 'PROPFIND', 'GET', 'HEAD', 'PUT', 'DELETE', 'MKCOL', 'LOCK', 'REPORT'])
      expect((await ask('/dav/x/', { method })).status, method).toBe(401);
  });

  test('has a new secret each time it is turned on, which outlives the program', async () => {
    await using again = await openSite();
    const [first, second] = [again.server.webdav.turnOn(), again.server.webdav.turnOn()].map(({ address }) =>
      pathOf(address),
    );
    expect((await ask(String(first), {}, again)).status).toBe(401);
    expect((await ask(String(second), {}, again)).status).toBe(200);
    await again.restart();
    expect((await ask(String(first), {}, again)).status).toBe(401);
    expect((await ask(String(second), {}, again)).status).toBe(200);
    expect(again.server.webdav.status()).toMatchObject({ enabled: true });
  });

  test('lets nobody guess quickly, keeps nobody out, and spends nothing of the plan', async () => {
    await using tight = await openSite({
      plan: 'free_trial',
      limits: { anonymous: { requests: 5, windowMs: 60_000 } },
    });
    const base = pathOf(tight.server.webdav.turnOn().address);
    const statuses: number[] = [];
    for (let count = 0; count < 13; count += 1)
      statuses.push((await ask(`/dav/hfw_guess${count}/`, {}, tight)).status);
    // What the address has, and then what the user of the machine has.
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), 429, 429, 429]);
    for (let count = 0; count < 150; count += 1) expect((await ask(base + FILE, {}, tight)).status).toBe(200);
    const asked = await tight.inject('/v1/backup', { token: await tight.token() });
    expect(asked.headers['x-ratelimit-remaining']).toBe('99');
  });

  test('is answered to under our own names only, and to no page of another site', async () => {
    const base = pathOf(site.server.webdav.turnOn().address);
    const status = async (headers: Record<string, string>): Promise<number> =>
      (await ask(base, { headers })).status;
    expect(await status({ host: `localhost:${site.port}` })).toBe(200);
    expect(await status({ host: `evil.example:${site.port}` })).toBe(403);
    expect(await status({ host: '127.0.0.1' })).toBe(403);
    expect(await status({ origin: 'http://evil.example' })).toBe(403);
    expect(await status({ 'sec-fetch-site': 'cross-site' })).toBe(403);
    expect(await status({ origin: `http://127.0.0.1:${site.port}` })).toBe(200);
    const preflight = await ask(base, {
      method: 'OPTIONS',
      headers: { origin: 'http://evil.example', 'access-control-request-method': 'PROPFIND' },
    });
    expect(preflight.status).toBe(403);
    for (const name of Object.keys(preflight.headers)) expect(name).not.toMatch(/^access-control/);
    const absolute = await site.raw(
      `GET http://evil.example${base} HTTP/1.1\r\nHost: ${site.host}\r\nConnection: close\r\n\r\n`,
    );
    expect(absolute).toMatch(/^HTTP\/1\.1 (?:403|404) /);
  });

  test('leads nowhere but into snapshots', async () => {
    const base = pathOf(site.server.webdav.turnOn().address).slice(0, -1);
    const snapshot = `${base}/home%2Bana%40desk/latest`;
    const ways = [
      '..',
      '%2e%2e',
      '.%2E',
      '../..',
      '%2e%2e/%2e%2e',
      '..%2f..',
      '%2e%2e%2f',
      'x/../..',
      '%00',
      '%',
      '.',
    ];
    for (const way of ways) {
      for (const target of [`${snapshot}/${way}/etc/shadow`, `${snapshot}/${way}`, `${base}/${way}`]) {
        for (const method of ['GET', 'PROPFIND']) {
          const reply = await ask(target, { method, headers: { depth: '1' } });
          expect(reply.status, `${method} ${target}`).toBe(400);
          expect(reply.text).not.toContain('root');
        }
      }
    }
    // The snapshot has it, but the source does not.
    for (const target of [
      `${snapshot}/etc/shadow`,
      `${snapshot}//etc//shadow`,
      `${snapshot}/%5c..%5c..%5cetc%5cshadow`,
    ])
      expect((await ask(target)).status, target).toBe(404);
  });

  test('is nothing that a browser would show as a page of the agent', async () => {
    const base = pathOf(site.server.webdav.turnOn().address);
    const replies = [
      await ask(base + FILE),
      await ask(base + FILE, { headers: { range: 'bytes=0-3' } }),
      await ask(base),
      await ask(`${base}nothing`),
      await ask('/dav/<script>'),
      await ask(base, { method: 'PROPFIND', headers: { depth: '1' } }),
    ];
    for (const { headers } of replies) {
      expect(headers).toMatchObject({
        'content-security-policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-resource-policy': 'same-origin',
        'cache-control': expect.stringContaining('no-store'),
      });
      expect(headers['content-type']).toMatch(/^(?:application\/octet-stream|text\/plain|application\/xml)/);
      expect(headers['set-cookie']).toBeUndefined();
    }
    expect(replies[0]?.headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': 'attachment',
    });
  });

  test('is turned on and off by the page that is signed in, and by nothing else', async () => {
    await using paged = await openSite();
    const { ask: asPage } = await signIn(paged);
    const address = `http://127.0.0.1:${paged.port}/dav/`;
    expect((await asPage('/webdav')).json.data).toEqual({ enabled: false, created_at: null, address });
    const made = await asPage('/webdav', { method: 'POST' });
    const data = made.json.data ?? {};
    expect([made.status, data]).toEqual([
      200,
      {
        address: `${address}${String(data['password'])}/`,
        user: 'holdfast',
        password: expect.stringMatching(/^hfw_/),
      },
    ]);
    expect(await addresses(paged.port, pathOf(String(data['address'])))).toHaveLength(2);
    const shown = await asPage('/webdav');
    expect(shown.json.data).toEqual({
      enabled: true,
      created_at: new Date(paged.clock.now()).toISOString(),
      address,
    });
    expect(shown.text).not.toContain(String(data['password']));
    for (const method of ['GET', 'POST', 'DELETE']) {
      const headers = { origin: `http://${paged.host}` };
      const nobody = await paged.inject('/internal/v1/webdav', { method, headers });
      expect(nobody.status, method).toBe(401);
      const program = await paged.inject('/internal/v1/webdav', {
        method,
        headers,
        token: await paged.token(),
      });
      expect(program.status, method).toBe(401);
    }
    expect((await asPage('/webdav', { method: 'DELETE' })).json.data).toEqual({ enabled: false });
    expect((await ask(pathOf(String(data['address'])), {}, paged)).status).toBe(404);
  });

  test('has its secret in no log and no file', async () => {
    let log = '';
    const stream = new Writable({
      write: (chunk, _encoding, done) => {
        log += String(chunk);
        done();
      },
    });
    await using logged = await openSite({
      logger: pino({ level: 'trace' }, stream),
      agent: { entry: () => expect.fail('broken on purpose') },
    });
    const { address, password, user } = logged.server.webdav.turnOn();
    const failed = await ask(pathOf(address) + FILE, {}, logged);
    expect([failed.status, failed.text]).toEqual([500, expect.not.stringContaining('on purpose')]);
    expect((await ask(`/dav/${FILE}`, basic(user, password), logged)).status).toBe(500);
    await ask(`/v1/${password}`, {}, logged);
    await ask(`/dav/${password}/%zz`, {}, logged);
    expect(log).toContain('A request failed');
    const files = readdirSync(logged.directory).map((name) =>
      readFileSync(path.join(logged.directory, name)),
    );
    for (const text of [log, ...files.map((bytes) => bytes.toString('latin1'))])
      expect(text.includes(password.slice('hfw_'.length))).toBe(false);
    expect(redactText(`GET ${address}x failed for ${password}`)).not.toContain(password.slice(4, 20));
  });
});
