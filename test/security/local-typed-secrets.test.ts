/** Secrets that are typed on the page: they get where the page puts them, and those that are there already get nowhere else. */
// Turn 2 of 8.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ProtectParts } from '../../src/api/page/protect-parts.ts';
import { openApiSite, type ApiReply, type ApiSite, type CallOptions } from '../support/api-site.ts';
import { signIn, type PageSession } from '../support/page-session.ts';
import { testProtectParts } from '../support/protect-parts.ts';

const FRESH = { file: '/state/secrets/0123456789abcdef0123456789abcdef' };
const KEPT = { file: '/etc/holdfast/nas' };
const OTHER = { file: '/etc/holdfast/other' };

/** As they are before each change. */
const SETTINGS = {
  plan: 'pro',
  requireEncryption: true,
  restore: { allowedRoots: ['/back'] },
  sources: [{ path: '/a', hooks: { before: 'dump' } }],
  destinations: {
    nas: {
      url: 'webdavs://ana@nas.example/backup',
      passphrase: OTHER,
      access: { webdav: { password: KEPT, caFile: '/etc/ca.pem' } },
    },
    store: {
      url: 's3://bucket/prefix?endpoint=https://s3.example',
      access: { s3: { accessKeyId: 'A', secretAccessKey: KEPT } },
    },
    box: { url: 'sftp://ana@box.example/backup', access: { sftp: { password: KEPT } } },
    cloud: {
      url: 'rclone:remote:path',
      access: { rclone: { program: '/usr/bin/rclone', configPassword: KEPT } },
    },
    disk: { url: '/mnt/disk' },
  },
  notices: {
    ntfy: { url: 'https://ntfy.example/topic', token: KEPT },
    webhook: { url: 'https://hooks.example/a', secret: KEPT },
    email: { host: 'mail.example', user: 'ana', password: KEPT, from: 'a@b.example', to: ['c@d.example'] },
  },
} as const;

let site: ApiSite;
let page: PageSession;
let file: string;

beforeAll(async () => {
  site = await openApiSite({ pageProtect: { isFreshSecret: (name) => name === FRESH.file } });
  page = await signIn(site);
  file = path.join(site.directory, 'config.json');
});

beforeEach(() => {
  writeFileSync(file, JSON.stringify(SETTINGS), { mode: 0o600 });
});

afterAll(async () => {
  await site[Symbol.asyncDispose]();
});

type Ask = (target: string, options: CallOptions) => Promise<ApiReply>;

async function put(settings: object, ask: Ask = page.ask): Promise<ApiReply> {
  return await ask('/settings', { method: 'PUT', headers: { 'if-match': '*' }, body: { settings } });
}

async function byToken(): Promise<Ask> {
  const token = await site.token();
  return async (target, options) => await site.inject(`/v1${target}`, { ...options, token });
}

const { destinations: D, notices: N } = SETTINGS;

function withDestinations(changes: Readonly<Record<string, object | undefined>>): object {
  return { ...SETTINGS, destinations: { ...D, ...changes } };
}

function withNotices(changes: object): object {
  return { ...SETTINGS, notices: { ...N, ...changes } };
}

const WEBDAV = { webdav: { password: FRESH } };

describe('the page may put a secret that was typed there', () => {
  test.each<readonly [what: string, settings: object]>([
    ['into a new destination', withDestinations({ more: { url: '/more', passphrase: FRESH } })],
    ['into its access', withDestinations({ more: { url: 'webdavs://h.example/x', access: WEBDAV } })],
    ['into one that had none', withDestinations({ disk: { ...D.disk, passphrase: FRESH } })],
    [
      'in the place of another',
      withDestinations({ box: { ...D.box, access: { sftp: { password: FRESH } } } }),
    ],
    [
      'into one that moves, when each secret of it is typed anew',
      withDestinations({
        nas: { url: 'webdavs://ana@new.example/backup', passphrase: FRESH, access: WEBDAV },
      }),
    ],
    ['beside one that stays', withDestinations({ nas: { ...D.nas, passphrase: FRESH } })],
    [
      'with another name of the access key',
      withDestinations({
        store: { ...D.store, access: { s3: { accessKeyId: 'B', secretAccessKey: FRESH } } },
      }),
    ],
    ['into a notice', withNotices({ ntfy: { url: 'https://other.example/x', token: FRESH } })],
    ['into a webhook', withNotices({ webhook: { url: 'https://other.example/x', secret: FRESH } })],
    ['into mail', withNotices({ email: { ...N.email, host: 'new.example', password: FRESH } })],
  ])('%s', async (_what, settings) => {
    const reply = await put(settings);
    expect(reply.status, reply.text).toBe(200);
    expect(readFileSync(file, 'utf8')).toContain(FRESH.file);
    writeFileSync(file, JSON.stringify(SETTINGS), { mode: 0o600 });
    const checked = await page.ask('/settings/validate', { method: 'POST', body: { settings } });
    expect(checked.json.data).toEqual({ problems: [] });
  });
});

describe('the page may change a destination or notice whose secret stays', () => {
  test.each<readonly [what: string, settings: object]>([
    [
      'in what says how it is stored',
      withDestinations({
        store: { ...D.store, access: { s3: { ...D.store.access.s3, storageClass: 'STANDARD_IA' } } },
      }),
    ],
    [
      'in how many connections it takes',
      withDestinations({ box: { ...D.box, access: { sftp: { password: KEPT, connections: 2 } } } }),
    ],
    ['in who gets the mail', withNotices({ email: { ...N.email, to: ['e@f.example'] } })],
    ['by taking it out', withDestinations({ nas: { url: D.nas.url, access: D.nas.access } })],
    ['by removing it', withDestinations({ nas: undefined })],
    ['and others that have none, to anywhere', withDestinations({ disk: { url: '/mnt/other' } })],
  ])('%s', async (_what, settings) => {
    const reply = await put(settings);
    expect(reply.status, reply.text).toBe(200);
  });
});

/** Each way to have a secret sent elsewhere, a command run, or a limit lifted. */
const AROUND: readonly (readonly [what: string, settings: object, where: string])[] = [
  [
    'move a secret to a new destination',
    withDestinations({ evil: { url: 'webdavs://evil.example/x', access: { webdav: { password: KEPT } } } }),
    'destinations.evil.access.webdav.password',
  ],
  [
    'move a secret to a destination that had none',
    withDestinations({ disk: { ...D.disk, passphrase: OTHER } }),
    'destinations.disk.passphrase',
  ],
  [
    'rename a destination together with its secret',
    withDestinations({ box: undefined, evil: D.box }),
    'destinations.evil.access.sftp.password',
  ],
  [
    'move a secret to another place of the same destination',
    withDestinations({ nas: { ...D.nas, access: { webdav: { ...D.nas.access.webdav, token: OTHER } } } }),
    'destinations.nas.access.webdav.token',
  ],
  [
    'change the host of the URL and keep the secret',
    withDestinations({ box: { ...D.box, url: 'sftp://ana@evil.example/backup' } }),
    'destinations.box.access.sftp.password',
  ],
  [
    'change the folder of the URL and keep the secret',
    withDestinations({ box: { ...D.box, url: 'sftp://ana@box.example/other' } }),
    'destinations.box.access.sftp.password',
  ],
  [
    'change the user in the URL and keep the secret',
    withDestinations({ nas: { ...D.nas, url: 'webdavs://eve@nas.example/backup' } }),
    'destinations.nas.passphrase',
  ],
  [
    'change the endpoint in the URL of S3 and keep the secret',
    withDestinations({ store: { ...D.store, url: 's3://bucket/prefix?endpoint=https://evil.example' } }),
    'destinations.store.access.s3.secretAccessKey',
  ],
  [
    'type one secret anew, and send the other one elsewhere with it',
    withDestinations({
      nas: { ...D.nas, url: 'webdavs://ana@evil.example/backup', passphrase: FRESH },
    }),
    'destinations.nas.access.webdav.password',
  ],
  [
    'have another server trusted with the secret by its certificate',
    withDestinations({
      nas: { ...D.nas, access: { webdav: { password: KEPT, caFile: '/tmp/evil.pem' } } },
    }),
    'destinations.nas.passphrase',
  ],
  [
    'have another server trusted with the secret by its host key',
    withDestinations({
      box: { ...D.box, access: { sftp: { password: KEPT, hostKeyFile: '/tmp/evil' } } },
    }),
    'destinations.box.access.sftp.password',
  ],
  [
    'run another program with the secret',
    withDestinations({
      cloud: { ...D.cloud, access: { rclone: { program: '/tmp/evil', configPassword: FRESH } } },
    }),
    'destinations.cloud.access.rclone.program',
  ],
  [
    'run a program without any secret',
    withDestinations({ evil: { url: 'rclone:a:b', access: { rclone: { program: '/tmp/evil' } } } }),
    'destinations.evil.access.rclone.program',
  ],
  [
    'have a program read another configuration, which may name commands',
    withDestinations({ evil: { url: 'rclone:a:b', access: { rclone: { configFile: '/tmp/evil' } } } }),
    'destinations.evil.access.rclone.configFile',
  ],
  [
    'have a command asked for a secret',
    withDestinations({ evil: { url: '/evil', passphrase: { command: 'id' } } }),
    'destinations.evil.passphrase',
  ],
  [
    'have a command asked for a secret of the access',
    withDestinations({
      evil: { url: 'webdavs://evil.example/x', access: { webdav: { password: { command: 'id' } } } },
    }),
    'destinations.evil.access.webdav.password',
  ],
  [
    'send a variable of the agent elsewhere',
    withDestinations({
      evil: { url: 'webdavs://evil.example/x', access: { webdav: { token: { env: 'TOKEN' } } } },
    }),
    'destinations.evil.access.webdav.token',
  ],
  [
    'send a credential of systemd elsewhere',
    withNotices({ ntfy: { url: 'https://evil.example/x', token: { credential: 'nas' } } }),
    'notices.ntfy.token',
  ],
  [
    'send any file elsewhere',
    withDestinations({
      evil: {
        url: 'webdavs://evil.example/x',
        access: { webdav: { token: { file: '/state/machine.key' } } },
      },
    }),
    'destinations.evil.access.webdav.token',
  ],
  [
    'spell another file as one that was typed',
    withDestinations({
      evil: {
        url: 'webdavs://evil.example/x',
        access: { webdav: { token: { file: `${FRESH.file}/../../machine.key` } } },
      },
    }),
    'destinations.evil.access.webdav.token',
  ],
  [
    'change the topic and keep the token',
    withNotices({ ntfy: { ...N.ntfy, url: 'https://evil.example/topic' } }),
    'notices.ntfy.token',
  ],
  [
    'change the address of the webhook and keep its secret',
    withNotices({ webhook: { ...N.webhook, url: 'https://evil.example/a' } }),
    'notices.webhook.secret',
  ],
  [
    'change the mail server and keep the password',
    withNotices({ email: { ...N.email, host: 'evil.example' } }),
    'notices.email.password',
  ],
  [
    'change the port of the mail server and keep the password',
    withNotices({ email: { ...N.email, port: 2525 } }),
    'notices.email.password',
  ],
  [
    'move the secret of a notice to another notice',
    withNotices({ webhook: { url: 'https://evil.example', secret: OTHER } }),
    'notices.webhook.secret',
  ],
  [
    'run a command before a backup',
    { ...SETTINGS, sources: [{ path: '/b', hooks: { before: 'id' } }] },
    'sources[0].hooks.before',
  ],
  ['have a higher plan', { ...SETTINGS, plan: 'business' }, 'plan'],
  ['restore anywhere', { ...SETTINGS, restore: { allowedRoots: [] } }, 'restore.allowedRoots'],
  ['end the enforced encryption', { ...SETTINGS, requireEncryption: false }, 'requireEncryption'],
];

describe('the page may not', () => {
  test.each(AROUND)('%s', async (_what, settings, where) => {
    const text = readFileSync(file, 'utf8');
    const reply = await put(settings);
    expect([reply.status, reply.json.error?.code], reply.text).toEqual([403, 'FORBIDDEN']);
    expect(reply.json.error?.details).toEqual({ path: where });
    expect(readFileSync(file, 'utf8')).toBe(text);
    const checked = await page.ask('/settings/validate', { method: 'POST', body: { settings } });
    expect(checked.json.data).toMatchObject({ problems: [{ field: where }] });
  });

  test('try a destination out with a secret that would be sent elsewhere', async () => {
    const tried: string[] = [];
    await using watched = await openApiSite({
      pageProtect: {
        isFreshSecret: (name) => name === FRESH.file,
        testDestination: async ({ name }) => {
          tried.push(name);
          const findings = { usable: true, findings: [], write_speed: null, read_speed: null };
          return await Promise.resolve({ ...findings, clock_skew_seconds: null });
        },
      },
    });
    writeFileSync(path.join(watched.directory, 'config.json'), JSON.stringify(SETTINGS), { mode: 0o600 });
    const { ask } = await signIn(watched);
    const trial = async (name: string | undefined, destination: object): Promise<number> => {
      const body = { destination, ...(name === undefined ? {} : { name }) };
      return (await ask('/destinations/test', { method: 'POST', body })).status;
    };
    const evil = { url: 'sftp://ana@evil.example/backup', access: { sftp: { password: KEPT } } };
    expect(await trial(undefined, evil)).toBe(403);
    expect(await trial('box', evil)).toBe(403);
    expect(await trial('new', D.box)).toBe(403);
    expect(await trial('evil', { url: 'rclone:a:b', access: { rclone: { program: '/tmp/evil' } } })).toBe(
      403,
    );
    expect(await trial('evil', { url: '/x', passphrase: { command: 'id' } })).toBe(403);
    expect(tried).toEqual([]);
    expect(await trial('box', D.box)).toBe(200);
    expect(await trial(undefined, { ...evil, access: { sftp: { password: FRESH } } })).toBe(200);
    expect(tried).toEqual(['box', 'new']);
  });
});

describe('a token', () => {
  test('may not put a secret that was typed on the page anywhere', async () => {
    const ask = await byToken();
    for (const settings of [
      withDestinations({ more: { url: '/more', passphrase: FRESH } }),
      withNotices({ ntfy: { url: 'https://other.example/x', token: FRESH } }),
      withNotices({ email: { ...N.email, to: ['e@f.example'] } }),
    ])
      expect((await put(settings, ask)).status).toBe(403);
  });
});

describe('the routes for choosing what to protect, and where to', () => {
  const asked: string[] = [];
  const watched = Object.fromEntries(
    Object.keys(testProtectParts()).map((name) => [
      name,
      () => {
        asked.push(name);
        return Promise.reject(new Error('asked'));
      },
    ]),
  ) as Partial<ProtectParts>;
  const routes: readonly (readonly [method: string, target: string, body: object | undefined])[] = [
    ['GET', '/suggestions', undefined],
    ['GET', '/directories', undefined],
    ['POST', '/estimate', { path: '/a' }],
    ['GET', '/destinations', undefined],
    ['POST', '/destinations/test', { name: 'a' }],
    ['POST', '/secrets', { secret: 'a' }],
    ['GET', '/recovery-kit', undefined],
    ['GET', '/recovery-kit/text', undefined],
    ['POST', '/recovery-kit/confirm', undefined],
    ['POST', '/passphrase-check', { destination: 'a', secret: 'b' }],
  ];

  test.each(routes)('%s %s takes a session, and neither a token nor nobody', async (method, target, body) => {
    await using closed = await openApiSite({ pageProtect: watched });
    const origin = `http://${closed.host}`;
    const options = { method, headers: { origin }, body };
    const token = await closed.token();
    const nobody = await closed.inject(`/internal/v1${target}`, options);
    expect([nobody.status, nobody.json.error?.code]).toEqual([401, 'UNAUTHORIZED']);
    const program = await closed.inject(`/internal/v1${target}`, { ...options, token });
    expect([program.status, program.json.error?.code]).toEqual([401, 'UNAUTHORIZED']);
    for (const prefix of ['/v1', '/api/v1'])
      expect((await closed.inject(`${prefix}${target}`, { ...options, token })).status).toBe(404);
    const { cookie, ask } = await signIn(closed);
    if (method !== 'GET') {
      const foreign = await closed.inject(`/internal/v1${target}`, { ...options, headers: { cookie } });
      expect([foreign.status, foreign.json.error?.code]).toEqual([403, 'ORIGIN_NOT_ALLOWED']);
    }
    expect(asked.splice(0)).toEqual([]);
    await ask(target, { method, body });
    expect(asked.splice(0)).toHaveLength(1);
  });

  test('a destination that does not answer is waited for a minute', async () => {
    const given = Promise.withResolvers<AbortSignal>();
    await using slow = await openApiSite({
      pageProtect: {
        testDestination: async (_wish, tested) => {
          given.resolve(tested);
          return await new Promise(() => undefined);
        },
      },
    });
    const { ask } = await signIn(slow);
    const answer = ask('/destinations/test', { method: 'POST', body: { name: 'a' } });
    const signal = await given.promise;
    await slow.clock.advance(59_999);
    expect(signal.aborted).toBe(false);
    await slow.clock.advance(1);
    const { status, json } = await answer;
    expect([status, json.data]).toMatchObject([200, { usable: false, findings: [{ check: 'time' }] }]);
    expect(signal.aborted).toBe(true);
  });
});

test('a secret that is no text is not kept', async () => {
  for (const secret of ['', 'a\0b', '\ud800', 5, null, 'x'.repeat(65_537)])
    expect((await page.ask('/secrets', { method: 'POST', body: { secret } })).status).toBe(400);
});
