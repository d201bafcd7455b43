/**
 * Secrets that go into a running agent by every way there is, and do not come out again. Lines L19 and L20 of the
 * security checklist. The program must be built.
 */
// Turn 2 of 8.
import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRedactor, redactText } from '../../src/base/redact.ts';
import { Secret } from '../../src/config/secret.ts';
import { jsonLines, openPlace, type Place } from '../support/cli.ts';
import { namesBelow } from '../support/names-below.ts';

const PATIENCE_MS = 60_000;
const HOOK_BEGINS = 'echo password=';

const canaries = new Map<string, string>();

/** A secret that is nowhere else. */
function canary(name: string): string {
  const text = canaries.get(name) ?? `canary${randomBytes(12).toString('hex')}`;
  canaries.set(name, text);
  return text;
}

interface Reply {
  readonly status: number;
  readonly text: string;
  readonly data: Record<string, unknown> | undefined;
}

let place: Place;
let receiver: Server;
let agent: ChildProcess;
let address = '';
/** Everything that the agent has said. */
let output = '';
const replies: string[] = [];
const received: { readonly path: string; readonly body: string }[] = [];

async function ask(method: string, target: string, more: RequestInit = {}): Promise<Reply> {
  const response = await fetch(`${address}${target}`, { method, ...more });
  const text = await response.text();
  replies.push(text, JSON.stringify([...response.headers].filter(([name]) => name !== 'set-cookie')));
  const parsed: { readonly data?: Record<string, unknown> } = text.startsWith('{') ? JSON.parse(text) : {};
  return { status: response.status, text, data: parsed.data };
}

const json = (body: unknown): { headers: Record<string, string>; body: string } => ({
  headers: { 'content-type': 'application/json' },
  body: typeof body === 'string' ? body : JSON.stringify(body),
});

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let waitedMs = 0; !(await holds()); waitedMs += 50) {
    if (waitedMs > PATIENCE_MS) throw new Error(`${what} did not come about:\n${output}`);
    await delay(50);
  }
}

/** Ids of the processes below one. */
function descendants(pid: number): readonly number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'latin1');
      parents.set(Number(name), Number(/\) \S (\d+)/.exec(stat)?.[1]));
    } catch {
      // It has ended.
    }
  }
  const found = [pid];
  for (const one of found) for (const [child, parent] of parents) if (parent === one) found.push(child);
  return found;
}

/** What can be seen of a process from outside, as far as it still lives. */
function seenOf(pid: number): string {
  return ['cmdline', 'environ', 'comm']
    .map((name) => {
      try {
        return readFileSync(`/proc/${pid}/${name}`, 'latin1');
      } catch {
        return '';
      }
    })
    .join('\n');
}

/** In which of these texts a canary is, in any spelling. */
function hits(texts: ReadonlyMap<string, string>): readonly string[] {
  return [...canaries].flatMap(([name, secret]) => {
    const bytes = Buffer.from(secret);
    const spellings = [secret, bytes.toString('base64').slice(0, -4), bytes.toString('hex')];
    return [...texts]
      .filter(([, text]) => spellings.some((spelling) => text.includes(spelling)))
      .map(([where]) => `${name} in ${where}`);
  });
}

function filesBelow(directory: string): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const name of namesBelow(directory)) {
    const file = path.join(directory, name);
    if (lstatSync(file).isFile()) texts.set(name, readFileSync(file, 'latin1'));
  }
  return texts;
}

let token = '';
const seenProcesses = new Map<string, string>();

async function backUp(source: string, destination: string): Promise<Record<string, unknown>> {
  const { headers } = { headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' } };
  const body = JSON.stringify({ source, destination });
  const made = await ask('POST', '/v1/backup', { headers, body });
  expect(made.status, made.text).toBe(202);
  const id = String(made.data?.['id']);
  let job: Record<string, unknown> = {};
  await until(`the end of ${id}`, async () => {
    for (const pid of descendants(agent.pid ?? 0)) {
      const seen = seenOf(pid);
      // What a hook of the settings says for itself is in the arguments of its shell, where whoever wrote it has put it.
      const shown = seen.includes(HOOK_BEGINS) ? seen.slice(seen.indexOf('\n')) : seen;
      if (shown !== '\n\n') seenProcesses.set(`process ${pid}`, shown);
    }
    job = (await ask('GET', `/v1/backup/${id}`, { headers })).data ?? {};
    return ['completed', 'failed', 'canceled'].includes(String(job['status']));
  });
  await ask('GET', `/v1/backup/${id}/log`, { headers });
  return job;
}

beforeAll(async () => {
  place = await openPlace();
  receiver = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      received.push({ path: request.url ?? '', body: Buffer.concat(parts).toString() });
      response.end('ok');
    });
  });
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const hooks = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;

  const secrets = path.join(place.directory, 'secrets');
  mkdirSync(secrets, { mode: 0o700 });
  const secretFile = (name: string): string => {
    const file = path.join(secrets, name.replaceAll(' ', '-'));
    writeFileSync(file, canary(name), { mode: 0o600 });
    return file;
  };
  const sources = ['env', 'command', 'file', 'hook', 'broken'].map((name) =>
    path.join(place.directory, name),
  );
  for (const source of sources) {
    mkdirSync(source);
    writeFileSync(path.join(source, 'a'), 'a');
  }
  const [ofEnv = '', ofCommand = '', ofFile = '', ofHook = '', broken = ''] = sources;
  const never = { watch: false, schedule: 'off' };
  const print = path.join(place.directory, 'child-environment');
  const hook = [
    `env >> ${print}`,
    `${HOOK_BEGINS}${canary('hook output')}`,
    `echo see https://ann:${canary('hook user info')}@host.example/x?key=${canary('hook query')}`,
    `echo the passphrase is ${canary('env passphrase')}`,
    `PGPASSWORD=${canary('hook command')} false`,
  ].join('; ');
  writeFileSync(path.join(place.directory, 'hook.sh'), hook, { mode: 0o700 });
  mkdirSync(place.state, { mode: 0o700 });
  const settings = {
    version: 1,
    plan: 'business',
    sources: [
      { path: ofEnv, destination: 'env', ...never },
      { path: ofCommand, destination: 'command', ...never },
      { path: ofFile, destination: 'file', ...never },
      { path: ofHook, destination: 'env', ...never, hooks: { before: hook, onFailure: 'fail' } },
      { path: broken, destination: 'broken', ...never },
    ],
    destinations: {
      env: { url: path.join(place.directory, 'to-env'), passphrase: { env: 'NAS_PASSPHRASE' } },
      command: {
        url: path.join(place.directory, 'to-command'),
        passphrase: { command: `env >> ${print}; cat ${secretFile('command passphrase')}` },
      },
      file: {
        url: path.join(place.directory, 'to-file'),
        passphrase: { file: secretFile('file passphrase') },
      },
      broken: {
        url: path.join(place.directory, 'to-file'),
        passphrase: { file: secretFile('wrong passphrase') },
      },
    },
    notices: {
      healthchecks: { url: `${hooks}/ping/${canary('healthchecks address')}` },
      ntfy: { url: `${hooks}/${canary('ntfy topic')}`, token: { file: secretFile('ntfy token') } },
      webhook: { url: `${hooks}/hook/${canary('webhook address')}`, secret: { env: 'WEBHOOK_SECRET' } },
    },
  };
  writeFileSync(path.join(place.state, 'config.json'), JSON.stringify(settings), { mode: 0o600 });
  const env = {
    HOLDFAST_REPOSITORY: undefined,
    HOLDFAST_PASSWORD: canary('password of the environment'),
    NAS_PASSPHRASE: canary('env passphrase'),
    WEBHOOK_SECRET: canary('webhook secret'),
  };
  agent = place.start(['start', '--port', '0', '--json'], { env });
  const take = (text: string): void => {
    output += `${text}\n`;
    const said: { readonly type?: string; readonly address?: string } = JSON.parse(text);
    if (said.type === 'ready') address = said.address ?? '';
  };
  for (const stream of [agent.stdout, agent.stderr])
    if (stream !== null) createInterface(stream).on('line', take);
  await until('the start of the agent', () => address !== '');
  const made = await place.expectRun(['credentials', 'create', '--name', 'test', '--json']);
  const [credential] = jsonLines(made);
  canaries.set('api secret', String(credential?.['secret']));
  const { api_key, secret } = credential ?? {};
  const given = await fetch(`${address}/v1/auth/token`, { method: 'POST', ...json({ api_key, secret }) });
  token = String(((await given.json()) as Reply).data?.['access_token']);
  canaries.set('access token', token);
});

afterAll(async () => {
  if (agent.exitCode === null && agent.signalCode === null) {
    agent.kill('SIGKILL');
    await once(agent, 'exit');
  }
  receiver.closeAllConnections();
  receiver.close();
  await place[Symbol.asyncDispose]();
});

describe.runIf(process.platform === 'linux')('secrets', () => {
  test('L19: reach a running agent, and are in no argument and no environment of any process', async () => {
    for (const name of ['env', 'command', 'file']) {
      const job = await backUp(path.join(place.directory, name), name);
      expect(job, JSON.stringify(job['error'])).toMatchObject({ status: 'completed' });
    }
    const failed = await backUp(path.join(place.directory, 'hook'), 'env');
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'HOOK_FAILED' } });
    const wrong = await backUp(path.join(place.directory, 'broken'), 'broken');
    expect(wrong).toMatchObject({ status: 'failed' });

    // The agent, and engine processes with their threads.
    expect(seenProcesses.size).toBeGreaterThanOrEqual(2);
    expect(hits(seenProcesses)).toEqual([]);
    // Where one is to be seen, it is seen.
    const careless = spawn('sleep', ['60'], { env: { SECRET: canary('env passphrase') } });
    const seen = (): readonly string[] => hits(new Map([['sleep', seenOf(careless.pid ?? 0)]]));
    // A program that has just begun has its name before it has its environment.
    await until('the sight of a secret', () => seen().length > 0);
    expect(seen()).toEqual(['env passphrase in sleep']);
    careless.kill();
    const children = readFileSync(path.join(place.directory, 'child-environment'), 'latin1');
    // A hook and a command for a secret, which have a way to programs and a home, have told theirs.
    expect(children.match(/^PATH=/gm)?.length).toBeGreaterThanOrEqual(2);
    expect(hits(new Map([['the environment of hooks and commands', children]]))).toEqual([]);
    expect(children).not.toMatch(/NAS_PASSPHRASE|WEBHOOK_SECRET|HOLDFAST_PASSWORD/);
  });

  test('L20: go in by every input, and come out nowhere', async () => {
    const bearer = { authorization: `Bearer ${token}` };
    const post = (body: unknown): RequestInit => {
      const { headers, ...more } = json(body);
      return { ...more, headers: { ...headers, ...bearer } };
    };
    const other = canary;
    await ask('POST', '/v1/auth/token', json({ api_key: 'x', secret: other('wrong secret') }));
    await ask('POST', '/v1/auth/token', json({ api_key: other('secret as a key'), secret: 'x' }));
    await ask('POST', '/v1/auth/token', json({ api_key: 'x', secret: { x: other('secret in an object') } }));
    await ask('POST', '/v1/auth/token', json(`{"secret":"${other('secret in broken JSON')}"`));
    await ask('POST', '/v1/auth/token', json({ passphrase: other('value of an unknown field') }));
    await ask('GET', `/v1/status?token=${other('query')}`);
    await ask('GET', '/v1/backup', { headers: { authorization: `Bearer ${other('bearer')}` } });
    await ask('GET', '/v1/backup', { headers: { authorization: `Basic ${btoa(`u:${other('basic')}`)}` } });
    await ask('GET', '/v1/backup', { headers: { cookie: `session=${other('cookie')}` } });
    await ask('GET', '/v1/backup', { headers: { 'x-api-key': other('key header') } });
    for (const destination of [
      `sftp://ann:${other('password in a URL')}@nas.example/x`,
      `s3://bucket/x?secret_key=${other('query of a URL')}`,
      `azblob://container/x?account=a&sas=${other('signature in a URL')}`,
    ]) {
      const reply = await ask('POST', '/v1/backup', post({ source: place.source, destination }));
      expect(reply.status, reply.text).toBe(400);
    }
    const origin = { origin: address };
    const { headers: type, ...body } = json({ code: other('one-time code') });
    await ask('POST', '/internal/v1/session', { ...body, headers: { ...type, ...origin } });
    const page = await place.expectRun(['ui', '--json']);
    const code = /#code=([\w-]+)/.exec(String(jsonLines(page)[0]?.['address']))?.[1] ?? '';
    canaries.set('real one-time code', code);
    const opened = await fetch(`${address}/internal/v1/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...origin },
      body: JSON.stringify({ code }),
    });
    const cookie = String(opened.headers.get('set-cookie')).split(';')[0] ?? '';
    canaries.set('session', cookie.split('=')[1] ?? '');
    expect(canaries.get('session')).toHaveLength(43);
    const overview = await ask('GET', '/internal/v1/overview', { headers: { cookie } });
    expect(overview.status).toBe(200);

    // A secret that somebody wrote into the settings, where a reference belongs.
    const file = path.join(place.state, 'config.json');
    const settings = readFileSync(file, 'utf8');
    const literal = JSON.stringify(other('literal in the settings'));
    writeFileSync(file, settings.replace('{"env":"NAS_PASSPHRASE"}', literal));
    await until('the broken settings', async () => {
      const status = await ask('GET', '/v1/status', { headers: bearer });
      return status.text.includes('"degraded"');
    });
    writeFileSync(file, settings);

    await until('the notices', () => received.filter((one) => one.body.includes('HOOK_FAILED')).length > 0);
    await ask('GET', '/metrics', { headers: bearer });
    const bundle = path.join(place.directory, 'bundle.txt');
    const doctor = await place.run(['doctor', '--json', '--bundle', bundle]);
    const bundles = new Map([['bundle of doctor', readFileSync(bundle, 'utf8')]]);
    for (const route of [
      'diagnostics',
      'agent-log?lines=2000&level=debug',
      'about',
      'account',
      'credentials',
    ]) {
      const reply = await ask('GET', `/internal/v1/${route}`, { headers: { cookie } });
      expect(reply.status, route).toBe(200);
      bundles.set(route, reply.text);
    }
    // They have what support needs: that there are secrets, and where, and what went wrong.
    for (const name of ['diagnostics', 'bundle of doctor']) {
      const text = bundles.get(name) ?? '';
      expect(text.split('\n')[0]).toContain('Paths and names of your files');
      for (const part of ['"env": "NAS_PASSPHRASE"', '[a command]', 'HOOK_FAILED', '/[secret]'])
        expect(text, name).toContain(part);
    }
    const logs = await place.expectRun(['logs']);
    const jobs = await place.expectRun(['jobs', '--json']);

    expect(canaries.size).toBeGreaterThanOrEqual(25);
    const outside = new Map([
      ...filesBelow(place.state),
      ['what is printed', output],
      ['replies', replies.join('\n')],
      ['notices', received.map((one) => one.body).join('\n')],
      ['doctor', doctor.stdout + doctor.stderr],
      ['logs', logs.stdout],
      ['jobs', jobs.stdout],
      ...bundles,
    ]);
    // What a person wrote stays as it was written, and the key of the embedded repository is where it belongs.
    for (const own of ['config.json', 'config.last-good.json']) outside.delete(own);
    const found = hits(outside);
    expect(found).toEqual([]);
    // The job's log has the lines, without what was secret in them.
    const said = replies.join('\n');
    expect(said).toContain('password=[secret]');
    expect(said).toContain('see https://host.example/x?[secret]');
    expect(said).toContain('the passphrase is [secret]');
  });

  test('L19: are not in a core file when the agent crashes', async () => {
    const before = new Set(existsSync('/tmp/cores') ? readdirSync('/tmp/cores') : []);
    const limits = readFileSync(`/proc/${agent.pid}/limits`, 'latin1');
    expect(limits).toMatch(/Max core file size +0 +0 /);
    agent.kill('SIGABRT');
    const [, killedBy] = (await once(agent, 'exit')) as [number | null, string | null];
    expect(killedBy).toBe('SIGABRT');
    const cores = readdirSync(place.directory).filter((name) => name.startsWith('core'));
    const elsewhere = existsSync('/tmp/cores') ? readdirSync('/tmp/cores') : [];
    const ours = elsewhere.filter((name) => !before.has(name) && name.includes(String(agent.pid)));
    for (const name of ours) rmSync(path.join('/tmp/cores', name));
    expect([...cores, ...ours]).toEqual([]);
    // What it leaves behind to find out why.
    expect(hits(new Map([['agent.log', readFileSync(path.join(place.state, 'agent.log'), 'utf8')]]))).toEqual(
      [],
    );
  });
});

describe('redaction', () => {
  test('L20: a secret shows itself to nobody who does not ask for it', () => {
    const secret = new Secret(canary('value'));
    const object = { secret, list: [secret] };
    const shown = [
      ['', secret].join(''),
      String(secret),
      JSON.stringify(object),
      inspect(object, { depth: 5 }),
      ''.concat(String(secret), '!'),
    ];
    expect(hits(new Map(shown.map((text) => [text, text])))).toEqual([]);
    expect(shown[0]).toBe('[secret]');
    expect(secret.reveal()).toBe(canary('value'));
  });

  test('L20: what was learned is found in every spelling', () => {
    const redactor = createRedactor();
    const secret = `pass "word" \\ ö ${canary('learned')}`;
    redactor.learn(secret);
    redactor.learn('ab');
    const bytes = Buffer.from(`${secret}xx`);
    const spellings = [
      secret,
      JSON.stringify({ secret }),
      JSON.stringify(JSON.stringify({ message: secret })),
      encodeURIComponent(secret),
      `x${bytes.toString('base64')}y`,
      Buffer.from(secret).toString('hex'),
    ];
    for (const spelling of spellings.filter((_, index) => index !== 2))
      expect(redactor.redact(`before ${spelling} after`), spelling).not.toContain(
        Buffer.from(canary('learned')).toString('hex').slice(0, 20),
      );
    expect(redactor.redact(`before ${secret} after`)).toBe('before [secret] after');
    expect(redactor.redact('ab is a word')).toBe('ab is a word');
  });

  test.each([
    ['see https://ann:pw@host/x?key=1#y, then', 'see https://host/x?[secret] then'],
    ['sftp://u@host:22/dir failed', 'sftp://host:22/dir failed'],
    ['http://host/a%20b is fine', 'http://host/a%20b is fine'],
    ['PGPASSWORD=hunter2 pg_dump', 'PGPASSWORD=[secret] pg_dump'],
    ["--password='two words' rest", '--password=[secret] rest'],
    ['Authorization: Bearer abcdefghijk.x', 'Authorization: Bearer [secret]'],
    ['hfs_0123456789abcdefghij0123456789abcdef is wrong', 'hfs_[secret] is wrong'],
    ['There is no passphrase: write one', 'There is no passphrase: write one'],
    ['The secret file /etc/x is open to others', 'The secret file /etc/x is open to others'],
    ['/home/ann/token/file: EACCES', '/home/ann/token/file: EACCES'],
  ])('L20: of %j shows %j', (text, shown) => {
    expect(redactText(text)).toBe(shown);
  });
});
