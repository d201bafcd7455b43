/** The page of the real agent: where backups go, secrets that are typed, the recovery kit, and what opens a repository. */
// Turn 5 of 8.
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Overview } from '../../src/api/schemas/page/overview.ts';
import {
  Destinations,
  DestinationTest,
  PassphraseCheck,
  RecoveryKit,
  SecretReference,
} from '../../src/api/schemas/page/protect.ts';
import { requirePrivateState } from '../../src/daemon/state/private-state.ts';
import { openPage, type DaemonPage } from '../support/daemon-page.ts';
import { eventually, openDaemonSite, type DaemonSite } from '../support/daemon-site.ts';

let site: DaemonSite;
let page: DaemonPage;
let disk: string;

beforeEach(async () => {
  site = await openDaemonSite();
  page = await openPage(site.daemon);
  disk = join(site.directory, 'disk');
  mkdirSync(disk);
});

afterEach(async () => {
  await site[Symbol.asyncDispose]();
});

async function get<T>(schema: object, path: string): Promise<T> {
  return (await page.ask<T>('GET', path, schema)).data;
}

async function keep(secret: string): Promise<string> {
  return (await page.ask<{ file: string }>('POST', '/secrets', SecretReference, { secret })).data.file;
}

async function put(settings: object): Promise<number> {
  return (await page.fetch('PUT', '/settings', { headers: { 'if-match': '*' }, body: { settings } })).status;
}

async function trial(body: object): Promise<DestinationTest> {
  return (await page.ask<DestinationTest>('POST', '/destinations/test', DestinationTest, body)).data;
}

async function backUpTo(destination: string): Promise<void> {
  site.write({ a: 'a' });
  const job = await site.agent.requestBackup({ source: site.source, destination, options: {} }, 'ui');
  expect(await site.ended(job.id)).toMatchObject({ status: 'completed' });
}

async function listening(listener: RequestListener): Promise<{ readonly port: number } & AsyncDisposable> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

async function opens(destination: string, secret: string): Promise<boolean> {
  const body = { destination, secret };
  return (await page.ask<{ opens: boolean }>('POST', '/passphrase-check', PassphraseCheck, body)).data.opens;
}

describe('destinations', () => {
  test('have the embedded repository from the beginning', async () => {
    const known = async () => (await get<Destinations>(Destinations, '/destinations')).items[0];
    expect(await known()).toMatchObject({ name: 'default', is_embedded: true, repository_id: null });
    writeFileSync(join(site.state, 'repository-id'), `${'e'.repeat(32)}\n`, { mode: 0o600 });
    expect(await known()).toMatchObject({ name: 'default', repository_id: 'e'.repeat(32) });
  });

  test('are those of the settings, with what is known of them', async () => {
    await site.configure({
      destinations: { disk: { url: disk }, far: { url: 'webdavs://127.0.0.1:1/x' } },
      sources: [{ path: site.source, destination: 'disk' }],
    });
    site.write({ a: 'a' });
    expect((await site.backUp()).status).toBe('completed');
    const check = await site.agent.submit({ type: 'check', destination: 'disk', read_data: 0 }, 'cli');
    await site.ended(check.id);
    const { items } = await get<Destinations>(Destinations, '/destinations');
    expect(items).toMatchObject([
      // Nothing went there: the settings send the source elsewhere.
      { name: 'default', is_default: true, is_embedded: true, reachable: null, last_check: null },
      { name: 'disk', url: disk, is_default: false, is_embedded: false, reachable: true },
      { name: 'far', reachable: null, used_bytes: null, free_bytes: null, repository_id: null },
    ]);
    const [, stored] = items;
    expect(stored?.repository_id).toMatch(/^[0-9a-f]{32}$/);
    expect(stored?.free_bytes).toBeGreaterThan(0);
    expect(stored?.last_check).toMatchObject({ status: 'completed', result: 'success' });
    rmSync(disk, { recursive: true });
    const later = await get<Destinations>(Destinations, '/destinations');
    expect(later.items[1]).toMatchObject({ name: 'disk', reachable: false, free_bytes: null });
  });

  test('are reachable only once they were reached, and say why they are not', async () => {
    const away = '/mnt/holdfast-nothing-is-mounted-here/h';
    const later = join(site.directory, 'later');
    await site.configure({
      destinations: { away: { url: away, untested: true }, later: { url: later }, disk: { url: disk } },
      defaultDestination: 'disk',
    });
    const { items } = await get<Destinations>(Destinations, '/destinations');
    expect(items).toMatchObject([
      { name: 'away', reachable: false, unreachable_reason: 'not_mounted', untested: true, free_bytes: null },
      { name: 'later', reachable: null, unreachable_reason: null, untested: false, free_bytes: null },
      { name: 'disk', reachable: true, unreachable_reason: null, untested: false },
    ]);
    expect(existsSync(later)).toBe(false);
  });
});

describe('a destination is tried out', () => {
  test('and must not lie where no disk is mounted', async () => {
    const url = '/mnt/holdfast-nothing-is-mounted-here/h';
    const { usable, findings } = await trial({ destination: { url } });
    expect([usable, findings.map(({ check, status }) => [check, status])]).toEqual([
      false,
      [['mounted', 'error']],
    ]);
    // Of one that is in the settings already that is what is missing.
    await site.configure({ destinations: { nas: { url } } });
    const known = await trial({ name: 'nas' });
    expect(known).toMatchObject({ usable: false, findings: [{ check: 'open', status: 'error' }] });
    expect(known.findings[0]?.hint).toContain('Nothing seems to be mounted at /mnt/holdfast-nothing');
  });

  test('and counts as tested when it has passed', async () => {
    await site.configure({ destinations: { disk: { url: disk, untested: true } } });
    const untested = async () => (await get<Destinations>(Destinations, '/destinations')).items[1]?.untested;
    expect(await untested()).toBe(true);
    expect((await trial({ name: 'disk' })).usable).toBe(true);
    expect(await untested()).toBe(false);
    expect(readFileSync(site.configFile, 'utf8')).not.toContain('untested');
  });

  test('by its name, with how fast it is, and leaves nothing there', async () => {
    await site.configure({ destinations: { disk: { url: disk } } });
    const { usable, findings, ...measured } = await trial({ name: 'disk' });
    expect(usable).toBe(true);
    expect(findings.map(({ check }) => check)).toEqual([
      'open',
      'store',
      'list',
      'read',
      'range',
      'no replacing',
      'one of several',
      'delete',
      'speed',
      'space',
      'same disk',
      'repository',
    ]);
    expect(measured.write_speed).toBeGreaterThan(1_000);
    expect(measured.read_speed).toBeGreaterThan(1_000);
    expect(measured.clock_skew_seconds).toBe(0);
    expect(readdirSync(disk)).toEqual([]);
  });

  test('before it is saved, with a passphrase that was typed', async () => {
    await site.configure({ destinations: { disk: { url: disk } } });
    await backUpTo('disk');
    const told = async (secret: string): Promise<DestinationTest['findings'][number] | undefined> => {
      const destination = { url: disk, passphrase: { file: await keep(secret) } };
      return (await trial({ destination })).findings.at(-1);
    };
    expect(await told('correct horse battery staple')).toMatchObject({ check: 'repository', status: 'ok' });
    expect(await told('not the passphrase')).toMatchObject({ check: 'passphrase', status: 'error' });
  });

  test('before it is saved, and without a passphrase opens as a backup would: with that of the agent', async () => {
    await site.configure({ destinations: { disk: { url: disk } } });
    await backUpTo('disk');
    const last = async (): Promise<DestinationTest['findings'][number] | undefined> =>
      (await trial({ destination: { url: disk } })).findings.at(-1);
    expect(await last()).toMatchObject({ check: 'repository', status: 'ok' });
    writeFileSync(join(site.state, 'passphrase'), 'that of another machine\n', { mode: 0o600 });
    expect(await last()).toMatchObject({
      check: 'passphrase',
      status: 'error',
      message: expect.stringContaining('so a backup would fail') as string,
    });
  });

  test('with at most 10 wrong passphrases in a minute, as many as may be checked', async () => {
    await site.configure({ destinations: { disk: { url: disk } } });
    await backUpTo('disk');
    const guess = async (secret: string): Promise<string | undefined> => {
      const destination = { url: disk, passphrase: { file: await keep(secret) } };
      return (await trial({ destination })).findings.at(-1)?.message;
    };
    for (let count = 0; count < 5; count += 1) {
      expect(await guess('not the passphrase')).toContain('Wrong passphrase');
      expect(await opens('disk', 'not the passphrase')).toBe(false);
    }
    expect(await guess('correct horse battery staple')).toBe('Too many wrong passphrases were tried');
    const body = { destination: 'disk', secret: 'correct horse battery staple' };
    expect((await page.fetch('POST', '/passphrase-check', { body })).status).toBe(429);
  });

  test('two at once, the others in their turn', async () => {
    const waiting: ServerResponse[] = [];
    await using server = await listening((_request, response) => waiting.push(response));
    const client = new AbortController();
    const body = { destination: { url: `webdav://127.0.0.1:${server.port}/x` } };
    const trials = [1, 2, 3].map(
      async () => await page.fetch('POST', '/destinations/test', { body, signal: client.signal }),
    );
    await eventually(() => waiting.length >= 2, 'two trials');
    await setTimeout(300);
    expect(waiting).toHaveLength(2);
    client.abort();
    await Promise.allSettled(trials);
    const { usable } = await trial({ destination: { url: disk } });
    expect(usable).toBe(true);
  });

  test('and what is wrong with it is a finding', async () => {
    const { usable, findings } = await trial({ destination: { url: join(site.directory, 'nowhere') } });
    expect(usable).toBe(false);
    expect(findings).toMatchObject([{ check: 'open', status: 'error' }]);
    expect(findings[0]?.hint).toContain('mkdir');
    const far = await trial({ destination: { url: 'sftp://nobody@127.0.0.1:1/x' } });
    expect(far).toMatchObject({ usable: false, findings: [{ check: 'open', status: 'error' }] });
  });

  test.each([
    [{}, 'MISSING_FIELD'],
    [{ name: 'nowhere' }, 'INVALID_DESTINATION'],
    [{ name: '/etc' }, 'INVALID_DESTINATION'],
    [{ destination: {} }, 'MISSING_FIELD'],
    [{ destination: { url: 'https://u:p@h/' } }, 'SECRET_IN_URL'],
    [{ destination: { url: 'nonsense://x' } }, 'INVALID_DESTINATION'],
    [{ destination: { url: '/x', passphrase: 'in the open' } }, 'INVALID_REQUEST'],
    [{ destination: { url: '/x', more: 1 } }, 'UNKNOWN_FIELD'],
    [{ destination: { url: '/x', access: { s3: {} } } }, 'INVALID_DESTINATION'],
    [{ name: 'a name', destination: { url: '/x' } }, 'INVALID_REQUEST'],
  ])('%j is none', async (body, code) => {
    const { status, error } = await page.refused('POST', '/destinations/test', body);
    expect([status, error?.code], error?.message).toEqual([400, code]);
  });
});

describe('a secret that was typed', () => {
  test('is kept in a private file of its own, and opens the destination that refers to it', async () => {
    const file = await keep('four  words with blanks');
    expect(file).toMatch(new RegExp(`^${join(site.state, 'secrets')}/[0-9a-f]{32}$`));
    expect(statSync(file).mode & 0o7777).toBe(0o600);
    expect(statSync(join(site.state, 'secrets')).mode & 0o7777).toBe(0o700);
    expect(await put({ destinations: { disk: { url: disk, passphrase: { file } } } })).toBe(200);
    await backUpTo('disk');
    expect(await opens('disk', 'four  words with blanks')).toBe(true);
    expect(await opens('disk', 'four words with blanks')).toBe(false);
    expect(await trial({ name: 'disk' })).toMatchObject({ usable: true });
  });

  test('may be put into one place, and from then on stays there', async () => {
    const file = await keep('something secret');
    const disks = (url: string) => ({ destinations: { disk: { url, passphrase: { file } } } });
    expect(await put(disks(disk))).toBe(200);
    expect(await put(disks('/mnt/elsewhere'))).toBe(403);
    expect(await put({ destinations: { other: { url: '/mnt/other', passphrase: { file } } } })).toBe(403);
    // Not by way of settings without it either.
    expect(await put({})).toBe(200);
    expect(await put(disks('/mnt/elsewhere'))).toBe(403);
    const body = { destination: { url: 'sftp://a@127.0.0.1:1/x', access: { sftp: { password: { file } } } } };
    expect((await page.refused('POST', '/destinations/test', body)).status).toBe(403);
  });

  test('is not fresh after a restart', async () => {
    const file = await keep('something secret');
    await site.restart();
    page = await openPage(site.daemon);
    expect(existsSync(file)).toBe(true);
    expect(await put({ destinations: { disk: { url: disk, passphrase: { file } } } })).toBe(403);
  });

  test('is in no log, database or answer', async () => {
    const canary = 'canary-7f3a9c-secret';
    const file = await keep(canary);
    await put({ destinations: { disk: { url: disk, passphrase: { file } } } });
    await opens('default', canary).catch(() => false);
    const answers = await Promise.all(
      ['/settings', '/destinations', '/overview', '/status'].map(
        async (path) => await (await page.fetch('GET', path)).text(),
      ),
    );
    const files = readdirSync(site.state, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && join(entry.parentPath, entry.name) !== file)
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'));
    for (const text of [...answers, ...files, ...site.log]) expect(text.includes(canary)).toBe(false);
  });

  test('goes when no setting refers to it, an hour after it was made', async () => {
    const [used, unused] = [await keep('used somewhere'), await keep('used nowhere')];
    const inComment = await keep('named in a comment');
    writeFileSync(
      site.configFile,
      `{ // was ${inComment}\n "destinations": {"disk": {"url": "${disk}", "passphrase": {"file": "${used}"}}}}`,
      { mode: 0o600 },
    );
    await site.daemon.config.reload();
    await site.restart();
    expect(readdirSync(join(site.state, 'secrets'))).toHaveLength(3);
    const old = Date.now() / 1_000 - 3_700;
    for (const file of [used, unused, inComment]) utimesSync(file, old, old);
    await site.restart();
    await eventually(() => !existsSync(unused), 'the end of the unused secret');
    expect([existsSync(used), existsSync(inComment)]).toEqual([true, true]);
    const fresh = await keepAfterRestart('typed just now');
    await site.configure({});
    await eventually(() => !existsSync(used) && !existsSync(inComment), 'the end of the others');
    expect(existsSync(fresh)).toBe(true);
  });

  test('stays while the configuration that refers to it is broken', async () => {
    const file = await keep('used somewhere');
    expect(await put({ destinations: { disk: { url: disk, passphrase: { file } } } })).toBe(200);
    const text = readFileSync(site.configFile, 'utf8');
    const old = Date.now() / 1_000 - 3_700;
    utimesSync(file, old, old);
    await site.restart(() => writeFileSync(site.configFile, text.slice(0, -3), { mode: 0o600 }));
    page = await openPage(site.daemon);
    await get<Destinations>(Destinations, '/destinations');
    expect(existsSync(file)).toBe(true);
  });

  test('is part of what must be private for the agent to start', async () => {
    const file = await keep('something secret');
    await expect(requirePrivateState(site.state)).resolves.toBeUndefined();
    chmodSync(file, 0o644);
    await expect(requirePrivateState(site.state)).rejects.toMatchObject({ code: 'STATE_NOT_PRIVATE' });
    chmodSync(file, 0o600);
    chmodSync(join(site.state, 'secrets'), 0o755);
    await expect(requirePrivateState(site.state)).rejects.toMatchObject({ code: 'STATE_NOT_PRIVATE' });
    chmodSync(join(site.state, 'secrets'), 0o700);
  });

  async function keepAfterRestart(secret: string): Promise<string> {
    page = await openPage(site.daemon);
    return await keep(secret);
  }
});

describe('the recovery kit', () => {
  test('lies on this machine until it is confirmed, and then is gone for good', async () => {
    const file = join(site.state, 'recovery-kit.txt');
    const none = await get<RecoveryKit>(RecoveryKit, '/recovery-kit');
    expect(none).toEqual({ state: 'none', made_at: null, saved_at: null });
    const missing = await page.refused('GET', '/recovery-kit/text');
    expect([missing.status, missing.error?.code]).toEqual([404, 'NOT_FOUND']);
    expect(missing.error?.message).toContain('holdfast keys add --recovery-code');

    writeFileSync(file, 'HOLDFAST RECOVERY KIT\n  Ä secret\n', { mode: 0o600 });
    utimesSync(file, 1_700_000_000, 1_700_000_000);
    const made = '2023-11-14T22:13:20.000Z';
    const unsaved = await get<RecoveryKit>(RecoveryKit, '/recovery-kit');
    expect(unsaved).toEqual({ state: 'unsaved', made_at: made, saved_at: null });
    const text = await page.fetch('GET', '/recovery-kit/text');
    expect([text.status, await text.text()]).toEqual([200, 'HOLDFAST RECOVERY KIT\n  Ä secret\n']);
    expect(Object.fromEntries(text.headers)).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'content-disposition': `attachment; filename="holdfast-recovery-kit.txt"; filename*=UTF-8''holdfast-recovery-kit.txt`,
      'cache-control': 'no-store',
    });
    // Whoever has lost the computer reads in it where the backups are.
    await site.configure({ destinations: { nas: { url: join(site.directory, 'nas'), untested: true } } });
    expect(await (await page.fetch('GET', '/recovery-kit/text')).text()).toContain(
      `WHERE THE BACKUPS OF THIS COMPUTER GO\n  nas: ${join(site.directory, 'nas')}\n`,
    );
    await site.configure({});
    // Looking at it changes nothing.
    expect(existsSync(file)).toBe(true);

    const confirm = async (): Promise<RecoveryKit> =>
      (await page.ask<RecoveryKit>('POST', '/recovery-kit/confirm', RecoveryKit)).data;
    const saved = await confirm();
    expect(saved).toMatchObject({ state: 'saved', made_at: made });
    expect(saved.saved_at).not.toBeNull();
    expect(existsSync(file)).toBe(false);
    expect(await confirm()).toEqual(saved);
    expect((await page.fetch('GET', '/recovery-kit/text')).status).toBe(404);
    await site.restart();
    page = await openPage(site.daemon);
    expect(await get<RecoveryKit>(RecoveryKit, '/recovery-kit')).toEqual(saved);
  });

  test('is handed out with the names of what it does not open', async () => {
    writeFileSync(join(site.state, 'recovery-kit.txt'), 'HOLDFAST RECOVERY KIT\n', { mode: 0o600 });
    const file = await keep('of another computer');
    const destinations = { own: { url: join(disk, 'own') }, other: { url: disk, passphrase: { file } } };
    expect(await put({ destinations })).toBe(200);
    const text = await (await page.fetch('GET', '/recovery-kit/text')).text();
    expect(text).toContain(
      'It does not open other. Keep what does as well: the recovery kit of the computer',
    );
    const { data } = await page.ask<Overview>('GET', '/overview', Overview);
    expect(
      data.destinations.flatMap(({ name, opened_by_kit: isOpened }) => (isOpened ? [] : [name])),
    ).toEqual(['other']);
  });
});

describe('a passphrase', () => {
  test('or recovery code is tried on the destination; wrong ones are limited to 10 a minute', async () => {
    await site.configure({ destinations: { disk: { url: disk } } });
    const empty = await page.refused('POST', '/passphrase-check', { destination: 'disk', secret: 'x' });
    expect([empty.status, empty.error?.code]).toEqual([502, 'DESTINATION_ERROR']);
    await backUpTo('disk');
    expect(await opens('disk', 'correct horse battery staple')).toBe(true);
    const wrong = await Promise.all(
      Array.from({ length: 10 }, async (_, index) => await opens('disk', `wrong ${index}`)),
    );
    expect(wrong).toEqual(Array.from({ length: 10 }, () => false));
    const body = { destination: 'disk', secret: 'correct horse battery staple' };
    const refused = await page.refused('POST', '/passphrase-check', body);
    expect([refused.status, refused.error?.code]).toEqual([429, 'RATE_LIMIT_EXCEEDED']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    site.clock.skip(60_000);
    expect(await opens('disk', 'correct horse battery staple')).toBe(true);
  });

  test('is not tried on what is no destination', async () => {
    const body = { destination: 'nowhere', secret: 'x' };
    const { status, error } = await page.refused('POST', '/passphrase-check', body);
    expect([status, error?.code]).toEqual([400, 'INVALID_DESTINATION']);
  });
});
