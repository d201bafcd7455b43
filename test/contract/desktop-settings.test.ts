/** `GET` and `PUT /settings` of the Desktop API; every reply is judged by docs/api/desktop.yaml. */
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ConfigError } from '../../src/config/config-error.ts';
import { StateError } from '../../src/base/errors.ts';
import { type ApiReply, type ApiSite, type CallOptions, openApiSite } from '../support/api-site.ts';
import { judge } from '../support/openapi-judge.ts';
import { testSettingsFile } from '../support/settings-file.ts';

let site: ApiSite;
let token: string;
let file: string;

let siteToken: string;

beforeAll(async () => {
  site = await openApiSite();
  siteToken = await site.token();
  file = path.join(site.directory, 'config.json');
});

beforeEach(() => {
  rmSync(file, { force: true });
  token = siteToken;
});

afterAll(async () => {
  await site[Symbol.asyncDispose]();
});

async function ask(method: string, options: CallOptions = {}, where = site): Promise<ApiReply> {
  const reply = await where.call('/v1/settings', { method, token, ...options });
  judge(method, '/v1/settings', reply);
  return reply;
}

interface Report {
  readonly revision: string;
  readonly settings: Readonly<Record<string, unknown>>;
}

async function read(): Promise<Report> {
  const reply = await ask('GET');
  expect(reply.status).toBe(200);
  return reply.json.data as unknown as Report;
}

async function put(settings: unknown, revision = '*', where = site): Promise<ApiReply> {
  return await ask('PUT', { body: { settings }, headers: { 'if-match': revision } }, where);
}

function write(text: string): void {
  writeFileSync(file, text);
  chmodSync(file, 0o600);
}

function codeOf(reply: ApiReply): [number, string | undefined] {
  return [reply.status, reply.json.error?.code];
}

function without(value: unknown, [name = '', ...below]: readonly string[]): object {
  const { [name]: part, ...rest } = value as Readonly<Record<string, unknown>>;
  return below.length === 0 ? rest : { ...rest, [name]: without(part, below) };
}

describe('the settings', () => {
  test('are read with every default and a revision, which is the ETag too', async () => {
    const none = await ask('GET');
    expect(none.json.data).toMatchObject({ revision: 'none', settings: { plan: 'free_trial', sources: [] } });
    write('{"plan": "pro", "$schema": "x"}');
    const { headers, json } = await ask('GET');
    expect(json.data).toMatchObject({ settings: { plan: 'pro', retention: { keepDaily: 7 } } });
    expect(headers['etag']).toBe(`"${String(json.data?.['revision'])}"`);
    expect(json.data?.['settings']).not.toHaveProperty('$schema');
  });

  test('are replaced under both prefixes, and comments stay', async () => {
    write('{\n  // mine\n  "sources": [{ "path": "/a" }] // first\n}\n');
    const { revision, settings } = await read();
    const reply = await put({ ...settings, retention: { keepDaily: 14 } }, revision);
    expect(reply.status).toBe(200);
    expect(readFileSync(file, 'utf8')).toBe(
      '{\n  // mine\n  "sources": [{ "path": "/a" }], // first\n  "retention": {\n    "keepDaily": 14\n  }\n}\n',
    );
    const now = await read();
    expect(reply.json.data).toEqual(now);
    expect(now.revision).not.toBe(revision);
    const other = await site.call('/api/v1/settings', {
      method: 'PUT',
      token,
      headers: { 'if-match': `W/"x", "${now.revision}"` },
      body: { settings: {} },
    });
    judge('PUT', '/api/v1/settings', other);
    expect((await read()).settings).toMatchObject({ sources: [], retention: { keepDaily: 7 } });
  });

  test('are made where there was no file', async () => {
    expect((await put({ sources: [{ path: '/a' }] }, 'none')).status).toBe(200);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ version: 1, sources: [{ path: '/a' }] });
  });

  test('are not replaced by somebody who read others, or does not say which', async () => {
    write('{"plan": "pro"}');
    const { revision, settings } = await read();
    write('{"plan": "pro", "log": {"level": "warn"}}');
    const stale = await put(settings, `"${revision}"`);
    expect(codeOf(stale)).toEqual([412, 'REVISION_MISMATCH']);
    expect(stale.json.error?.details).toEqual({ revision: (await read()).revision });
    expect(codeOf(await ask('PUT', { body: { settings } }))).toEqual([400, 'MISSING_FIELD']);
    expect(codeOf(await put(settings, '"a b"'))).toEqual([400, 'INVALID_REQUEST']);
    expect(readFileSync(file, 'utf8')).toBe('{"plan": "pro", "log": {"level": "warn"}}');
  });

  test.each([
    [{ retention: { keepDaily: 0 } }, 'INVALID_REQUEST', 'retention.keepDaily'],
    [{ retentoin: {} }, 'UNKNOWN_FIELD', 'retentoin'],
    [{ sources: [{ watch: true }] }, 'MISSING_FIELD', 'sources[0]'],
    [{ sources: [{ path: '/a' }, { path: '/a' }] }, 'INVALID_REQUEST', 'sources[1].path'],
    [{ destinations: { n: { url: 'https://u:p@x/' } } }, 'SECRET_IN_URL', 'destinations.n.url'],
    [{ log: { level: 'loud' } }, 'INVALID_REQUEST', 'log.level'],
    [{ sources: 'all' }, 'INVALID_REQUEST', 'sources'],
  ])('%j are refused, and the mistake has a path', async (settings, code, where) => {
    write('{}');
    const reply = await put(settings);
    expect(codeOf(reply)).toEqual([400, code]);
    expect(reply.json.error?.details['path']).toBe(where);
    expect(readFileSync(file, 'utf8')).toBe('{}');
  });

  test.each([[undefined], [{}], [[]], ['x'], [{ settings: 5 }], [{ settings: {}, more: 1 }]])(
    'a body of another form is refused: %j',
    async (body) => {
      const reply = await ask('PUT', { body, headers: { 'if-match': '*' } });
      expect(reply.status).toBe(400);
    },
  );

  const SECRET = { file: '/etc/holdfast/secret' };
  test.each([
    ['commands', { sources: [{ path: '/a', hooks: { before: 'id' } }] }, 'sources[0].hooks.before'],
    ['a new place of a secret', { destinations: { n: { url: '/n', passphrase: SECRET } } }, 'destinations.n'],
    [
      'a command for a secret of the access',
      {
        destinations: {
          n: { url: 'webdavs://h.example/x', access: { webdav: { token: { command: 'id' } } } },
        },
      },
      'destinations.n',
    ],
    [
      'a secret of the access, sent elsewhere',
      { destinations: { n: { url: 'sftp://a@evil.example/x', access: { sftp: { password: SECRET } } } } },
      'destinations.n',
    ],
    [
      'the program that reaches a destination',
      { destinations: { n: { url: 'rclone:a:b', access: { rclone: { program: '/tmp/x' } } } } },
      'destinations.n',
    ],
    [
      'where a secret is sent',
      { notices: { ntfy: { url: 'https://evil.example/x', token: SECRET } } },
      'notices.ntfy',
    ],
    [
      'a mail server that gets a password',
      { notices: { email: { host: 'evil.example', from: 'a@b.c', to: ['a@b.c'], password: SECRET } } },
      'notices.email',
    ],
    [
      'a webhook with a secret',
      { notices: { webhook: { url: 'https://evil.example', secret: SECRET } } },
      'notices.webhook',
    ],
    ['the plan', { plan: 'business' }, 'plan'],
    ['where restores may go', { restore: { allowedRoots: [] } }, 'restore.allowedRoots'],
    ['the end of enforced encryption', { requireEncryption: false }, 'requireEncryption'],
  ])('never change %s', async (_what, change, where) => {
    const text = JSON.stringify({
      plan: 'pro',
      requireEncryption: true,
      restore: { allowedRoots: ['/back'] },
      notices: { ntfy: { url: 'https://ntfy.sh/x', token: SECRET } },
    });
    write(text);
    const { settings } = await read();
    const reply = await put({ ...settings, ...change });
    expect(codeOf(reply)).toEqual([403, 'FORBIDDEN']);
    expect(reply.json.error?.details).toEqual({ path: where });
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  test.each([
    ['plan', 'plan', 'set it back to free_trial'],
    ['requireEncryption', 'requireEncryption', 'set it back to false'],
    ['restore', 'restore.allowedRoots', 'set it back to its default'],
    [
      'destinations.n.untested',
      'destinations.n',
      'leaves out destinations.n.untested, which would set it back',
    ],
  ])('a request that leaves out %s is told so, and what to send', async (name, where, text) => {
    write(
      JSON.stringify({
        plan: 'pro',
        requireEncryption: true,
        restore: { allowedRoots: ['/back'] },
        destinations: { n: { url: '/n', passphrase: SECRET, untested: true } },
      }),
    );
    const { settings } = await read();
    const { error } = (await put(without(settings, name.split('.')))).json;
    expect([error?.code, error?.details]).toEqual(['FORBIDDEN', { path: where }]);
    expect(error?.message).toContain(text);
    expect(error?.message).toMatch(/^The request leaves out .*\. Send back what GET \/settings gave\.$/);
  });

  test('keep the commands and secrets that are there while others change', async () => {
    write(
      JSON.stringify({
        sources: [{ path: '/a', hooks: { before: 'dump' } }, { path: '/b' }],
        destinations: { n: { url: '/n', passphrase: SECRET } },
        notices: { ntfy: { url: 'https://ntfy.sh/x', token: SECRET } },
      }),
    );
    const { settings } = await read();
    const [first, second] = settings['sources'] as [object, object];
    const sources = [second, { ...first, schedule: 'daily' }];
    expect((await put({ ...settings, sources, requireEncryption: true })).status).toBe(200);
    expect((await read()).settings).toMatchObject({
      requireEncryption: true,
      sources: [{ path: '/b' }, { path: '/a', schedule: 'daily', hooks: { before: 'dump' } }],
    });
  });

  test('need a token', async () => {
    expect((await ask('GET', { token: undefined })).status).toBe(401);
    expect((await ask('PUT', { token: undefined, body: { settings: {} } })).status).toBe(401);
  });
});

describe('a configuration file', () => {
  async function failing(error: Error): Promise<ApiSite> {
    const known = testSettingsFile(site.directory);
    return await openApiSite({
      settingsFile: {
        document: known.document,
        async edit() {
          throw error;
        },
        async check() {
          throw error;
        },
      },
    });
  }

  test('that is broken is said to be, without its path', async () => {
    const problem = { code: 'CONFIG_SYNTAX', path: '', line: 3, column: 7, message: 'x', hint: 'y' } as const;
    await using broken = await failing(
      new ConfigError('CONFIG_SYNTAX', '/state/config.json, line 3: x', { problems: [problem] }),
    );
    token = await broken.token();
    const reply = await put({ log: { level: 'warn' } }, '*', broken);
    expect(codeOf(reply)).toEqual([409, 'CONFIG_INVALID']);
    expect(reply.json.error?.details).toEqual({ line: 3, column: 7, path: '' });
    expect(reply.text).not.toContain('/state');
  });

  test('that cannot be written is said to be', async () => {
    await using full = await failing(new StateError('WRITE_ERROR', 'Cannot write /state/config.json'));
    token = await full.token();
    const reply = await put({ log: { level: 'warn' } }, '*', full);
    expect(codeOf(reply)).toEqual([503, 'SERVICE_UNAVAILABLE']);
    expect(reply.text).not.toContain('/state');
  });
});
