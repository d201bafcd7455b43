/** The product's own page: how it is signed in, and that names of files are text in it. Lines L05 and L06. */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { once } from 'node:events';
import path from 'node:path';
import { Writable } from 'node:stream';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pageFiles } from '../../src/api/framework/page-files.ts';
import { peerUser } from '../../src/api/access/page-peer.ts';
import { callProgram } from '../../src/base/holdfast-command.ts';
import { PING_MS } from '../../src/api/routes/event-stream.ts';
import { withProgram } from '../../src/api/page/page-routes.ts';
import { createPageSessions, PAGE_LIMITS } from '../../src/api/access/page-sessions.ts';
import type { Job } from '../../src/jobs/job.ts';
import { openApiSite, type ApiReply, type ApiSite } from '../support/api-site.ts';
import { manualClock } from '../support/manual-clock.ts';
import { signIn } from '../support/page-session.ts';

let site: ApiSite;

beforeAll(async () => {
  site = await openApiSite();
});

afterAll(async () => {
  await site[Symbol.asyncDispose]();
});

/** For choosing what to protect, and where to. */
const PROTECT_ROUTES = [
  'GET /suggestions',
  'GET /directories',
  'POST /estimate',
  'GET /destinations',
  'POST /destinations/test',
  'POST /passphrase-check',
  'POST /secrets',
  'GET /recovery-kit',
  'GET /recovery-kit/text',
  'POST /recovery-kit/confirm',
] as const;

function outcome(reply: ApiReply): [number, string | undefined] {
  return [reply.status, reply.json.error?.code];
}

/** Routes of the page's settings. */
const OF_SETTINGS: readonly string[] = [
  'POST /settings/validate',
  'POST /schedule-preview',
  'POST /retention-preview',
  'POST /notices/test',
  ...['/credentials', '/account', '/about', '/agent-log', '/diagnostics'].flatMap((path) => [
    `GET ${path}`,
    `HEAD ${path}`,
  ]),
  'POST /credentials',
  'POST /credentials/:key/rotate',
  'DELETE /credentials/:key',
  'POST /account/enroll',
  'DELETE /account/enrollment',
];

async function swap(code: unknown, headers = {}, at: ApiSite = site): Promise<ApiReply> {
  return await at.inject('/internal/v1/session', {
    method: 'POST',
    headers: { origin: `http://${at.host}`, ...headers },
    body: { code },
  });
}

describe('signing in', () => {
  test('L05: a code of 256 bits works once, and a second use fails', async () => {
    const code = site.server.sessions.newCode(null);
    expect(Buffer.from(code, 'base64url')).toHaveLength(32);
    const first = await swap(code);
    expect(first.status).toBe(200);
    const cookie = String(first.headers['set-cookie']);
    expect(cookie).toMatch(
      new RegExp(`^holdfast_session_${site.port}=[\\w-]{43}; Path=/internal/; HttpOnly; SameSite=Strict$`),
    );
    expect(first.text).not.toContain(cookie.slice(30, 60));
    expect(outcome(await swap(code))).toEqual([401, 'INVALID_CREDENTIALS']);
    const both = site.server.sessions.newCode(null);
    const race = await Promise.all([swap(both), swap(both), swap(both)]);
    expect(race.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  test('L05: a code is good for 60 seconds, and no other text is one', async () => {
    const late = site.server.sessions.newCode(null);
    const soon = site.server.sessions.newCode(null);
    await site.clock.advance(59_999);
    expect((await swap(soon)).status).toBe(200);
    await site.clock.advance(1);
    expect(outcome(await swap(late))).toEqual([401, 'INVALID_CREDENTIALS']);
    for (const wrong of ['', 'x', late.slice(1), late.toUpperCase(), `${late} `, 'hfs_x'])
      expect(outcome(await swap(wrong)), wrong).toEqual([401, 'INVALID_CREDENTIALS']);
    for (const wrong of [null, 1, [late], { code: late }]) expect((await swap(wrong)).status).toBe(400);
  });

  test('L05: guessing is limited, and does not keep the right code out', async () => {
    await using guessed = await openApiSite();
    const code = guessed.server.sessions.newCode(null);
    let refused = 0;
    for (let count = 0; count < 700; count += 1)
      if ((await swap(`x${count}`, {}, guessed)).status === 429) refused += 1;
    expect(refused).toBe(100);
    expect((await swap(code, {}, guessed)).status).toBe(200);
  });

  test('L05: a page of another site cannot sign a browser in, nor use its session', async () => {
    const code = site.server.sessions.newCode(null);
    for (const origin of ['http://evil.example', 'null', `http://127.0.0.1:${site.port + 1}`])
      expect(outcome(await swap(code, { origin }))).toEqual([403, 'ORIGIN_NOT_ALLOWED']);
    const unsaid = await site.inject('/internal/v1/session', { method: 'POST', body: { code } });
    expect(outcome(unsaid)).toEqual([403, 'ORIGIN_NOT_ALLOWED']);
    expect((await swap(code)).status).toBe(200);
  });

  test('L05: a session opens the routes of the page and none of the API; a bearer token the other way round', async () => {
    const { ask, cookie } = await signIn(site);
    const token = await site.token();
    const full = await ask('/status');
    expect(full.json.data).toMatchObject({ sources: [{ path: '/home/ana' }] });
    expect(outcome(await site.inject('/v1/backup', { headers: { cookie } }))).toEqual([401, 'UNAUTHORIZED']);
    expect(outcome(await site.inject('/internal/v1/backup', { token }))).toEqual([401, 'UNAUTHORIZED']);
    const made = await ask('/backup', { method: 'POST', body: { source: '/home/ana' } });
    expect([made.status, made.headers['location']]).toEqual([
      202,
      `/internal/v1/backup/${String(made.json.data?.['id'])}`,
    ]);
    expect(site.agent.requested.at(-1)?.trigger).toBe('ui');
  });

  test('L05: the page has every route of the API but the one that gives tokens, and a few of its own', async () => {
    const { entries, pageEntries } = site.server.routes;
    const below = (prefix: string, all: typeof entries): readonly string[] =>
      all
        .filter(({ url }) => url.startsWith(`${prefix}/`))
        .map(({ method, url }) => `${method} ${url.slice(prefix.length)}`);
    const api = below('/v1', entries).filter((route) => !route.endsWith('/auth/token'));
    const read = [
      'overview',
      'jobs',
      'jobs/:id',
      'jobs/:id/log',
      'alarms',
      'restore-preview/:id',
      'search',
      'entries',
      'webdav',
    ];
    const own = [
      'POST /session',
      'DELETE /session',
      ...read.flatMap((route) => [`GET /${route}`, `HEAD /${route}`]),
      'GET /archive',
      'HEAD /archive',
      'POST /jobs/:id/cancel',
      'POST /drill',
      'POST /alarms/acknowledge',
      'POST /webdav',
      'DELETE /webdav',
      ...OF_SETTINGS,
      ...PROTECT_ROUTES.flatMap((route) =>
        route.startsWith('GET ') ? [route, route.replace('GET', 'HEAD')] : [route],
      ),
    ];
    expect(below('/internal/v1', pageEntries).toSorted()).toEqual([...api, ...own].toSorted());
    expect(api.length).toBeGreaterThan(25);
  });

  test('L05: the page can follow events', async () => {
    const { cookie } = await signIn(site);
    const socket = connect({ host: '127.0.0.1', port: site.port });
    socket.write(`GET /internal/v1/events HTTP/1.1\r\nHost: ${site.host}\r\nCookie: ${cookie}\r\n\r\n`);
    const [start] = (await once(socket, 'data')) as [Buffer];
    expect(start.toString()).toContain('HTTP/1.1 200 ');
    expect(start.toString()).toContain('text/event-stream');
    socket.destroy();
  });

  test('L05: what the page follows ends with its session', async () => {
    const { cookie, ask } = await signIn(site);
    const socket = connect({ host: '127.0.0.1', port: site.port });
    socket.write(`GET /internal/v1/events HTTP/1.1\r\nHost: ${site.host}\r\nCookie: ${cookie}\r\n\r\n`);
    let text = '';
    socket.setEncoding('utf8').on('data', (part: string) => (text += part));
    await expect.poll(() => text).toContain('retry: ');
    await ask('/session', { method: 'DELETE' });
    await site.clock.advance(PING_MS);
    // The last chunk of the response.
    await expect.poll(() => text).toContain('\r\n0\r\n\r\n');
    expect(text).not.toContain(': ping');
    socket.destroy();
  });

  test('L05: a session ends when it is signed out, has been idle, is old, and with the agent', async () => {
    const first = await signIn(site);
    const out = await first.ask('/session', { method: 'DELETE' });
    expect(String(out.headers['set-cookie'])).toContain('Max-Age=0');
    expect(outcome(await first.ask('/status'))).toEqual([401, 'UNAUTHORIZED']);

    const idle = await signIn(site);
    await site.clock.advance(PAGE_LIMITS.idleMs - 1);
    expect((await idle.ask('/status')).status).toBe(200);
    await site.clock.advance(PAGE_LIMITS.idleMs);
    expect(outcome(await idle.ask('/status'))).toEqual([401, 'UNAUTHORIZED']);

    const old = await signIn(site);
    for (let ms = 0; ms < PAGE_LIMITS.sessionMs; ms += PAGE_LIMITS.idleMs / 2) {
      expect((await old.ask('/status')).status).toBe(200);
      await site.clock.advance(PAGE_LIMITS.idleMs / 2);
    }
    expect(outcome(await old.ask('/status'))).toEqual([401, 'UNAUTHORIZED']);

    const last = await signIn(site);
    await site.restart();
    const cookie = last.cookie.replace(/_\d+=/, `_${site.port}=`);
    const after = await site.inject('/internal/v1/status', { headers: { cookie } });
    expect(outcome(after)).toEqual([401, 'UNAUTHORIZED']);
  });

  test('L05: the page spends nothing of the plan, and gets in while others use all of theirs', async () => {
    await using tight = await openApiSite({
      plan: 'free_trial',
      limits: { anonymous: { requests: 5, windowMs: 60_000 } },
    });
    const token = await tight.token();
    for (let count = 0; count < 10; count += 1) await tight.inject('/v1/status');
    const page = await signIn(tight);
    for (let count = 0; count < 300; count += 1) expect((await page.ask('/status')).status).toBe(200);
    for (const { path: file } of pageFiles()) expect((await tight.inject(file)).status).toBe(200);
    const asked = await tight.inject('/v1/backup', { token });
    expect(asked.headers['x-ratelimit-remaining']).toBe('99');
    for (let count = 0; count < 120; count += 1) await tight.inject('/v1/backup', { token });
    expect((await tight.inject('/v1/backup', { token })).status).toBe(429);
    expect((await page.ask('/status')).status).toBe(200);
  });

  test('L05: neither codes nor sessions are in the log, the database or any file', async () => {
    let log = '';
    const stream = new Writable({
      write: (chunk, _encoding, done) => {
        log += String(chunk);
        done();
      },
    });
    await using logged = await openApiSite({
      logger: pino({ level: 'trace' }, stream),
      agent: { fullStatus: () => expect.fail('broken on purpose') },
    });
    const code = logged.server.sessions.newCode(null);
    const { ask, cookie } = await signIn(logged, code);
    expect((await ask('/overview')).status).toBe(500);
    await logged.call(`/?code=${code}`);
    await logged.call(`/nowhere/${code}`);
    expect(log).toContain('A request failed');
    const files = readdirSync(logged.directory).map((name) =>
      readFileSync(path.join(logged.directory, name)),
    );
    for (const canary of [code, cookie.split('=')[1] ?? '']) {
      expect(canary).toHaveLength(43);
      for (const text of [log, ...files.map((bytes) => bytes.toString('latin1'))])
        expect(text.includes(canary)).toBe(false);
    }
  });

  test('L05: codes and sessions are kept in small number', async () => {
    const sessions = createPageSessions(manualClock());
    const codes = Array.from({ length: PAGE_LIMITS.most + 1 }, () => sessions.newCode(null));
    const nobody = async () => undefined;
    expect(await sessions.open(codes[0] ?? '', nobody)).toBeUndefined();
    const tokens: string[] = [];
    for (const code of codes.slice(1)) tokens.push((await sessions.open(code, nobody)) ?? '');
    tokens.push((await sessions.open(sessions.newCode(null), nobody)) ?? '');
    const open = await Promise.all(tokens.map(async (token) => await sessions.use(token, nobody)));
    expect(open).toEqual([false, ...tokens.slice(1).map(() => true)]);
  });

  test('L05: a code that another user has seen, as in the list of processes, is no good to them', async () => {
    const sessions = createPageSessions(manualClock());
    const code = sessions.newCode(1_000);
    expect(await sessions.open(code, async () => 1_001)).toBeUndefined();
    expect(await sessions.open(code, async () => undefined)).toBeUndefined();
    // They have not used it up either.
    const token = (await sessions.open(code, async () => 1_000)) ?? '';
    expect(await sessions.open(code, async () => 1_000)).toBeUndefined();
    // Nor is the session, should their server be sent its cookie.
    expect(await sessions.use(token, async () => 1_001)).toBe(false);
    expect(await sessions.use(token, async () => undefined)).toBe(false);
    expect(await sessions.use(token, async () => 1_000)).toBe(true);
  });

  test.runIf(process.platform === 'linux')('L05: the system tells whose browser it is', async () => {
    const { server } = site;
    const { host, port } = { host: '127.0.0.1', port: site.port };
    const own = server.sessions.newCode(process.geteuid?.() ?? 0);
    const reply = await site.call('/internal/v1/session', {
      method: 'POST',
      headers: { origin: `http://${host}:${port}` },
      body: { code: own },
    });
    expect(reply.status).toBe(200);
    const other = server.sessions.newCode((process.geteuid?.() ?? 0) + 1);
    const refused = await site.call('/internal/v1/session', {
      method: 'POST',
      headers: { origin: `http://${host}:${port}` },
      body: { code: other },
    });
    expect(outcome(refused)).toEqual([401, 'INVALID_CREDENTIALS']);
    for (const address of ['127.0.0.1', '::1']) {
      const socket = connect({ host: address, port });
      const failed = once(socket, 'error').then(() => false);
      if (!(await Promise.race([once(socket, 'connect').then(() => true), failed]))) continue;
      const { localAddress, localPort, remoteAddress, remotePort } = socket;
      const seen = { localAddress: remoteAddress, localPort: remotePort };
      expect(
        await peerUser({ ...seen, remoteAddress: localAddress, remotePort: localPort } as typeof socket),
      ).toBe(process.geteuid?.());
      socket.destroy();
    }
  });

  test.runIf(process.getuid?.() === 0 && existsSync('/usr/bin/setpriv') && existsSync('/usr/bin/curl'))(
    'L05: a program of another user is refused a code that is bound to this one, and a session of this one',
    async () => {
      const code = site.server.sessions.newCode(0);
      const words = [
        '--reuid=65534',
        '--clear-groups',
        'curl',
        '--silent',
        '--header',
        `Origin: http://${site.host}`,
        '--json',
        JSON.stringify({ code }),
        `http://${site.host}/internal/v1/session`,
      ];
      const { stdout } = await promisify(execFile)('setpriv', words);
      expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'INVALID_CREDENTIALS' } });
      const bound = await promisify(execFile)('curl', ['--include', ...words.slice(3)]);
      const cookie = /set-cookie: ([^;]+)/i.exec(bound.stdout)?.[1] ?? '';
      const look = ['curl', '--silent', '--cookie', cookie, `http://${site.host}/internal/v1/overview`];
      const stolen = await promisify(execFile)('setpriv', [...words.slice(0, 2), ...look]);
      expect(JSON.parse(stolen.stdout)).toMatchObject({ error: { code: 'UNAUTHORIZED' } });
      const own = await promisify(execFile)('curl', look.slice(1));
      expect(JSON.parse(own.stdout)).toMatchObject({ success: true });
    },
  );
});

describe('the files of the page', () => {
  test('L06: what the program is called is text in the page', async () => {
    callProgram('sh "-c" <b>&');
    try {
      const { text } = await site.call('/');
      expect(text).toContain('<meta name="program" content="sh &#34;-c&#34; &#60;b&#62;&#38;" />');
      expect(text).toContain('<code>sh &#34;-c&#34; &#60;b&#62;&#38; status</code>');
    } finally {
      callProgram('holdfast');
    }
  });

  test('L06: where an agent keeps its state is shown to its own user alone', () => {
    callProgram('HOLDFAST_STATE_DIR=/home/ana/x holdfast', 'holdfast');
    try {
      const own = process.getuid?.();
      expect(withProgram('{{PROGRAM}} ui', own)).toBe('HOLDFAST_STATE_DIR=/home/ana/x holdfast ui');
      expect(withProgram('{{PROGRAM}} ui', 4242)).toBe('holdfast ui');
      expect(withProgram('{{PROGRAM}} ui', undefined)).toBe('holdfast ui');
    } finally {
      callProgram('holdfast');
    }
  });

  test('L06: the policy of the page forbids what its script does not do', async () => {
    const files = pageFiles();
    expect(files.map(({ path: file }) => file)).toContain('/');
    for (const { path: file, type, isLasting, read } of files) {
      const reply = await site.call(file);
      const text = (await read()).toString('utf8').replaceAll('{{PROGRAM}}', 'holdfast');
      expect([reply.status, reply.text], file).toEqual([200, text]);
      expect(reply.headers).toMatchObject({
        'content-type': type === 'image/png' ? type : `${type}; charset=utf-8`,
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cache-control': isLasting ? 'public, max-age=31536000, immutable' : 'no-store',
        'cross-origin-opener-policy': 'same-origin',
      });
      const policy = String(reply.headers['content-security-policy']);
      expect(policy).toContain("default-src 'self'; frame-ancestors 'none'");
      expect(policy).toContain("img-src 'self' blob:;");
      expect(policy).toContain("require-trusted-types-for 'script'; trusted-types 'none'");
      expect(policy).not.toContain('unsafe');
      if (type === 'text/html')
        expect(text).not.toMatch(
          /<script(?! type="module" crossorigin src="\.\/assets\/)|<style|style=| on\w+=|https?:/,
        );
      if (type === 'text/javascript')
        expect(text).not.toMatch(
          /insertAdjacentHTML|document\.write|\beval\(|\bFunction\(|indexedDB|document\.cookie/,
        );
    }
  });
});

test('a job is shown with what it is about', async () => {
  const job = (await site.agent.requestBackup({ source: '/a', options: {} }, 'api')) satisfies Job;
  const { ask } = await signIn(site);
  const reply = await ask('/overview');
  expect(reply.json.data).toMatchObject({
    headline: { level: 'good' },
    sources: [{ path: '/home/ana' }],
  });
  const jobs = reply.json.data?.['active'] as readonly object[];
  expect(jobs.at(-1)).toMatchObject({
    id: job.id,
    type: 'backup',
    source: '/a',
    status: 'queued',
    error: null,
  });
});
