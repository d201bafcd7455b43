/** The page's own routes for its settings, API access, account and support: what each takes and gives. */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  About,
  Account,
  AgentLog,
  Credentials,
  NewCredential,
  NoticeTest,
  RetentionPreview,
  SchedulePreview,
  Validation,
} from '../../src/api/schemas/page/settings.ts';
import { ConfigError } from '../../src/config/config-error.ts';
import { openApiSite, type ApiReply, type ApiSite } from '../support/api-site.ts';
import { requireSchema } from '../support/daemon-page.ts';
import { signIn, type PageSession } from '../support/page-session.ts';
import { testSettingsFile } from '../support/settings-file.ts';

let site: ApiSite;
let page: PageSession;

beforeAll(async () => {
  site = await openApiSite({ plan: 'free_trial' });
  page = await signIn(site);
});

afterAll(async () => {
  await site[Symbol.asyncDispose]();
});

function outcome(reply: ApiReply): [number, string | undefined] {
  return [reply.status, reply.json.error?.code];
}

async function post(path: string, body?: unknown): Promise<ApiReply> {
  return await page.ask(path, { method: 'POST', ...(body === undefined ? {} : { body }) });
}

describe('POST /settings/validate', () => {
  let file: string;

  beforeEach(() => {
    file = join(site.directory, 'config.json');
    writeFileSync(file, '{"plan": "pro", "requireEncryption": true}', { mode: 0o600 });
  });

  async function validate(settings: unknown): Promise<Validation['problems']> {
    const before = readFileSync(file, 'utf8');
    const reply = await post('/settings/validate', { settings });
    expect(reply.status, reply.text).toBe(200);
    requireSchema(Validation, reply.json.data);
    expect(readFileSync(file, 'utf8')).toBe(before);
    return reply.json.data?.['problems'] as Validation['problems'];
  }

  test('says nothing of what PUT would take, and changes nothing', async () => {
    const { settings } = (await page.ask('/settings')).json.data as { settings: object };
    expect(await validate(settings)).toEqual([]);
    expect(await validate({ ...settings, sources: [{ path: '/home/ana', schedule: 'daily' }] })).toEqual([]);
  });

  test.each([
    [{ retention: { keepDaily: 0 } }],
    [{ retentoin: {} }],
    [{ sources: [{ watch: true }] }],
    [{ sources: [{ path: '/a' }, { path: '/a' }] }],
    [{ sources: [{ path: '/a', encryption: false }] }],
    [{ destinations: { n: { url: 'https://u:p@x/' } } }],
    [{ log: { level: 'loud' }, plan: 'gold' }],
    [{ sources: 'all' }],
    [{ plan: 'business' }],
    [{ requireEncryption: false }],
  ])('says of %j what PUT says', async (change) => {
    const { settings } = (await page.ask('/settings')).json.data as { settings: object };
    const wanted = { ...settings, ...change };
    const problems = await validate(wanted);
    const refused = await page.ask('/settings', {
      method: 'PUT',
      headers: { 'if-match': '*' },
      body: { settings: wanted },
    });
    expect(refused.status).toBeGreaterThanOrEqual(400);
    const { message = '', details = {} } = refused.json.error ?? {};
    const [first] = problems;
    expect(first?.field).toBe(details['path']);
    const isGuarded = refused.json.error?.code === 'FORBIDDEN';
    if (!isGuarded) expect(problems).toEqual(details['problems']);
    expect(first?.guarded ?? false).toBe(isGuarded);
    const place = first?.field === '' || message.startsWith('The setting') ? '' : `${first?.field}: `;
    expect(message.startsWith(`${place}${first?.message}`), message).toBe(true);
    expect(message.endsWith(first?.hint ?? '?'), message).toBe(true);
  });

  test('says all that is wrong at once, each at its field', async () => {
    const sources = [
      { path: '/a', encryption: false },
      { path: '/b', destination: 'nowhere' },
      { path: '/a' },
    ];
    const { settings } = (await page.ask('/settings')).json.data as { settings: object };
    expect((await validate({ ...settings, sources })).map(({ field }) => field)).toEqual([
      'sources[0].encryption',
      'sources[1].destination',
      'sources[2].path',
    ]);
  });

  test('tells of a file that is broken as PUT does', async () => {
    const known = testSettingsFile(site.directory);
    const problem = { code: 'CONFIG_SYNTAX', path: '', line: 3, column: 7, message: 'x', hint: 'y' } as const;
    const fail = async (): Promise<never> => {
      throw new ConfigError('CONFIG_SYNTAX', '/state/config.json: x', { problems: [problem] });
    };
    const settingsFile = { document: known.document, edit: fail, check: fail };
    await using broken = await openApiSite({ settingsFile });
    const { ask } = await signIn(broken);
    const body = { settings: { plan: 'pro', requireEncryption: true } };
    const said = await ask('/settings/validate', { method: 'POST', body });
    const put = await ask('/settings', {
      method: 'PUT',
      headers: { 'if-match': '*' },
      body,
    });
    expect(outcome(said)).toEqual(outcome(put));
    expect(outcome(put)).toEqual([409, 'CONFIG_INVALID']);
    expect(said.json.error?.details).toEqual({ line: 3, column: 7, path: '' });
  });
});

describe('previews', () => {
  test('a schedule has its next runs, or what is wrong with it', async () => {
    const good = await post('/schedule-preview', { schedule: 'daily', time_zone: 'Europe/Berlin' });
    requireSchema(SchedulePreview, good.json.data);
    expect(good.json.data).toEqual({
      next: ['2026-11-20T00:00:00.000Z', '2026-11-21T00:00:00.000Z'],
      problem: null,
    });
    const bad = await post('/schedule-preview', { schedule: 'sometimes', time_zone: null });
    expect(bad.status).toBe(200);
    requireSchema(SchedulePreview, bad.json.data);
    expect(bad.json.data).toEqual({
      next: [],
      problem: { message: "'sometimes' is not a schedule", hint: 'Write daily.' },
    });
  });

  test('retention is read as that of the settings is', async () => {
    const reply = await post('/retention-preview', { retention: { keepLast: 4 }, destination: 'nas' });
    requireSchema(RetentionPreview, reply.json.data);
    expect(reply.json.data).toMatchObject({ destination: 'nas', removed: 4, items: [{ keep: true }] });
    const refused = await post('/retention-preview', { retention: { keepLast: 0, keepwithin: '1d' } });
    expect(refused.status).toBe(400);
    expect(refused.json.error?.details['problems']).toMatchObject([
      { field: 'retention.keepwithin' },
      { field: 'retention.keepLast' },
    ]);
  });

  test('a notice is sent, or was not, and why', async () => {
    const sent = await post('/notices/test', { channel: 'ntfy' });
    requireSchema(NoticeTest, sent.json.data);
    expect(sent.json.data).toEqual({ sent: true, problem: null });
    const failed = await post('/notices/test', { channel: 'email' });
    expect(failed.json.data).toEqual({ sent: false, problem: 'There is no email' });
    expect((await post('/notices/test', { channel: 'pigeon' })).status).toBe(400);
  });
});

describe('credentials', () => {
  test('are made, listed, given a new secret and ended; each secret is in one reply', async () => {
    const made = await post('/credentials', { name: 'phone' });
    expect(made.status).toBe(201);
    requireSchema(NewCredential, made.json.data);
    expect(made.headers['cache-control']).toBe('no-store');
    const { api_key: key, secret } = made.json.data as NewCredential;
    expect(await site.token({ api_key: key, name: '', secret })).toMatch(/^eyJ/);

    const listed = await page.ask('/credentials');
    requireSchema(Credentials, listed.json.data);
    expect(listed.json.data).toMatchObject({ items: [{ api_key: key, name: 'phone' }] });
    expect(listed.text).not.toContain(secret);

    const token = await site.token({ api_key: key, name: '', secret });
    const rotated = await post(`/credentials/${key}/rotate`);
    requireSchema(NewCredential, rotated.json.data);
    expect(rotated.json.data?.['secret']).not.toBe(secret);
    expect((await site.inject('/v1/backup', { token })).status).toBe(401);

    const ended = await page.ask(`/credentials/${key}`, { method: 'DELETE' });
    expect([ended.status, ended.json.data]).toEqual([200, {}]);
    expect((await page.ask('/credentials')).json.data).toEqual({ items: [] });
    expect(outcome(await post(`/credentials/${key}/rotate`))).toEqual([404, 'NOT_FOUND']);
    expect(outcome(await page.ask(`/credentials/${key}`, { method: 'DELETE' }))).toEqual([404, 'NOT_FOUND']);
  });

  test.each(['', ' ', 'a\nb', '\u001b[31m', 'x'.repeat(101)])('none is called %j', async (name) => {
    expect(outcome(await post('/credentials', { name }))).toEqual([400, 'INVALID_REQUEST']);
  });
});

describe('the account', () => {
  test('shows the plan and its limit, and spends nothing of it', async () => {
    for (let count = 0; count < 3; count += 1) {
      const reply = await page.ask('/account');
      requireSchema(Account, reply.json.data);
      expect(reply.json.data).toMatchObject({
        plan: 'free_trial',
        rate_limit: { limit: 100, remaining: 100, window_seconds: 3_600 },
        partner: null,
      });
      const status = await page.ask('/status');
      expect(reply.json.data?.['rate_limit']).toEqual(status.json.data?.['rate_limit']);
    }
  });

  test('enrolls with a Partner service, and leaves it', async () => {
    const wish = { service: 'https://partner.example', token: 'hfe_good', name: 'desk' };
    expect(outcome(await post('/account/enroll', { ...wish, token: 'hfe_bad' }))).toEqual([
      400,
      'ENROLLMENT_TOKEN_INVALID',
    ]);
    const enrolled = await post('/account/enroll', wish);
    expect(enrolled.status, enrolled.text).toBe(200);
    requireSchema(Account, enrolled.json.data);
    expect(enrolled.json.data?.['partner']).toMatchObject({
      service: 'https://partner.example',
      name: 'desk',
      status: 'active',
      last_report_at: null,
    });
    expect(enrolled.text).not.toContain('hfe_');
    expect(outcome(await post('/account/enroll', wish))).toEqual([400, 'INVALID_REQUEST']);
    const left = await page.ask('/account/enrollment', { method: 'DELETE' });
    requireSchema(Account, left.json.data);
    expect(left.json.data?.['partner']).toBeNull();
    expect(outcome(await page.ask('/account/enrollment', { method: 'DELETE' }))).toEqual([404, 'NOT_FOUND']);
  });
});

describe('support', () => {
  test('has the facts of the agent and the end of its log', async () => {
    const about = await page.ask('/about');
    requireSchema(About, about.json.data);
    expect(about.json.data).toMatchObject({ version: '9.8.7', config_error: { line: 3 } });
    const log = await page.ask('/agent-log');
    requireSchema(AgentLog, log.json.data);
    expect(log.json.data?.['lines']).toMatchObject([{ level: 'info', text: '200 lines' }]);
    const asked = await page.ask('/agent-log?lines=3&level=error');
    expect(asked.json.data?.['lines']).toMatchObject([{ level: 'error', text: '3 lines' }]);
    for (const query of ['lines=0', 'lines=2001', 'level=all', 'file=/etc/passwd'])
      expect((await page.ask(`/agent-log?${query}`)).status, query).toBe(400);
  });

  test('has one bundle to download', async () => {
    const reply = await page.ask('/diagnostics');
    expect([reply.status, reply.text]).toEqual([200, 'All of it\n']);
    expect(reply.headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(reply.headers['content-disposition']).toContain('filename="holdfast-diagnostics-2026-11-20.txt"');
    expect(reply.headers['cache-control']).toBe('no-store');
  });
});

const ROUTES: readonly (readonly [method: string, path: string, body: object | undefined])[] = [
  ['POST', '/settings/validate', { settings: {} }],
  ['POST', '/schedule-preview', { schedule: 'daily' }],
  ['POST', '/retention-preview', {}],
  ['POST', '/notices/test', { channel: 'ntfy' }],
  ['GET', '/credentials', undefined],
  ['POST', '/credentials', { name: 'x' }],
  ['POST', '/credentials/hfk_x/rotate', undefined],
  ['DELETE', '/credentials/hfk_x', undefined],
  ['GET', '/account', undefined],
  ['POST', '/account/enroll', { service: 'https://x', token: 'hfe_good' }],
  ['DELETE', '/account/enrollment', undefined],
  ['GET', '/about', undefined],
  ['GET', '/agent-log', undefined],
  ['GET', '/diagnostics', undefined],
];

describe('each of these routes', () => {
  test.each(ROUTES)('%s %s is for the page alone', async (method, path, body) => {
    const options = { method, ...(body === undefined ? {} : { body }) };
    const origin = `http://${site.host}`;
    const url = `/internal/v1${path}`;
    expect(outcome(await site.inject(url, { ...options, headers: { origin } }))).toEqual([
      401,
      'UNAUTHORIZED',
    ]);
    const token = await site.token();
    expect(outcome(await site.inject(url, { ...options, headers: { origin }, token }))).toEqual([
      401,
      'UNAUTHORIZED',
    ]);
    const headers = { cookie: page.cookie, origin: 'http://evil.example' };
    expect(outcome(await site.inject(url, { ...options, headers }))[0]).toBe(403);
    for (const prefix of ['/v1', '/api/v1'])
      expect([404, 405]).toContain((await site.inject(`${prefix}${path}`, { ...options, token })).status);
  });

  test('changes nothing when it is only asked', async () => {
    const before = snapshot();
    for (const [method, path] of ROUTES)
      if (method === 'GET') expect((await page.ask(path)).status, path).toBe(200);
    expect(snapshot()).toEqual(before);
  });

  function snapshot(): unknown {
    const files = readdirSync(site.directory).filter((name) => !name.startsWith('state.db'));
    return [
      files.map((name) => [name, readFileSync(join(site.directory, name), 'utf8')]),
      site.server.credentials.list(),
      site.agent.requested,
    ];
  }
});
