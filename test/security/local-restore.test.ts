/**
 * Browsing and restoring reach what they are allowed to reach, and nothing else, however it is written. Line L14 of the
 * security checklist; L15 to L17 are in local-hostile-snapshots and local-restore-racer.
 */
// Turn 3 of 8.
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDaemonSite, type DaemonSite } from '../support/daemon-site.ts';

let site: DaemonSite;
let allowed: string;
let outside: string;
let token: string;
let snapshot: string;

/** Restores that are run to their end. */
const RUN = 3;
const CANARY = 'what nobody may read through the agent';

beforeAll(async () => {
  site = await openDaemonSite();
  allowed = path.join(site.directory, 'allowed');
  outside = path.join(site.directory, 'outside');
  for (const name of [allowed, outside, `${allowed}-not`]) mkdirSync(name);
  writeFileSync(path.join(outside, 'canary'), CANARY);
  symlinkSync(outside, path.join(allowed, 'out'));
  symlinkSync('..', path.join(allowed, 'up'));
  symlinkSync('/', path.join(allowed, 'root'));
  symlinkSync('/proc/self/root', path.join(allowed, 'proc'));
  await site.configure({ plan: 'business', restore: { allowedRoots: [allowed] } });
  site.write({ 'a.txt': 'hello', 'deep/b.txt': 'there' });
  symlinkSync(path.join(outside, 'canary'), path.join(site.source, 'link'));
  const job = await site.backUp();
  snapshot = String(job.snapshot_id);
  const made = await site.ask('create_credential', { name: 'test' });
  const reply = await send('POST', '/auth/token', { api_key: made.api_key, secret: made.secret });
  token = String(reply.data?.['access_token']);
});

afterAll(async () => {
  await site[Symbol.asyncDispose]();
});

interface Reply {
  readonly status: number;
  readonly text: string;
  readonly data: Record<string, unknown> | undefined;
}

async function send(method: string, target: string, body?: object): Promise<Reply> {
  const response = await fetch(`http://127.0.0.1:${site.daemon.listening.port}/v1${target}`, {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const parsed: { readonly data?: Record<string, unknown> } = text.startsWith('{') ? JSON.parse(text) : {};
  return { status: response.status, text, data: parsed.data };
}

/** Everything beside what may change. */
function fingerprint(): readonly string[] {
  const beside = readdirSync(site.directory).sort();
  return [
    ...beside,
    ...[outside, `${allowed}-not`].flatMap((directory) =>
      ['.', ...readdirSync(directory)].map((name) => {
        const { mode, size, mtimeNs, ino } = lstatSync(path.join(directory, name), { bigint: true });
        return `${name} ${mode} ${size} ${mtimeNs} ${ino}`;
      }),
    ),
  ];
}

/** 80 ways to name `outside/canary`, `outside` or another place from within `base`. */
function traversals(base: string): readonly string[] {
  const { directory } = site;
  const name = path.basename(outside);
  const up = (step: string, times = 3): string => step.repeat(times);
  const steps = [
    '../',
    './../',
    '.././',
    '..//',
    '../\\',
    '..\\',
    '..\\/',
    '%2e%2e%2f',
    '%2e%2e/',
    '..%2f',
    '..%5c',
    '%2e%2e%5c',
    '%252e%252e%252f',
    '..%252f',
    '%c0%ae%c0%ae/',
    '%c0%ae%c0%ae%c0%af',
    '..%c0%af',
    '%uff0e%uff0e%u2215',
    '．．／',
    '‥/',
    '..\u2215',
    '..\u2044',
    '.\u200b./',
    '. ./',
    '.. /',
    '..;/',
    '....//',
    '..../',
    '.../',
    '..\u0000/',
    '..%00/',
    '..\n/',
    '..\t/',
  ];
  return [
    ...steps.map((step) => `${base}/${up(step)}${name}/canary`),
    ...['../', '%2e%2e%2f', '..\\', '....//'].map((step) => `${up(step, 40)}etc/passwd`),
    ...['../', '..%2f', '..\\'].map((step) => `${base}/deep/${up(step, 2)}../${name}`),
    `${base}/../${name}`,
    `${base}/../${name}/`,
    `${base}/..`,
    `${base}/../`,
    `${base}/.././${name}/../${name}/canary`,
    `${base}/a.txt/../../${name}/canary`,
    `${base}//../${name}`,
    `//${outside}`,
    `${directory}/./${name}`,
    `${directory}//${name}//canary`,
    `${base}-not`,
    `${base}-not/x`,
    `${base}/../${path.basename(base)}-not`,
    `${base}/out`,
    `${base}/out/canary`,
    `${base}/out/new`,
    `${base}/up/${name}`,
    `${base}/up/up/../${name}`,
    `${base}/root${outside}`,
    `${base}/root${path.sep}etc`,
    `${base}/proc${outside}`,
    `${base}/out/../${name}`,
    `/proc/self/root${outside}`,
    '/proc/self/cwd',
    '/proc/self/fd/0',
    '/dev/fd/0',
    `file://${outside}/canary`,
    `file:${outside}`,
    '\\\\server\\share\\x',
    '//server/share/x',
    '\\\\?\\C:\\Windows',
    'C:\\Windows\\win.ini',
    'C:/Windows',
    `~/../..${outside}`,
    '~root',
    '$HOME/x',
    `\${HOME}/x`,
    `${base}\u0000/../${name}`,
    `${base}/\u0000`,
    '.',
    '..',
  ];
}

describe('80 strings that lead elsewhere', () => {
  test('L14: are 80', () => {
    expect(new Set(traversals(allowed)).size).toBeGreaterThanOrEqual(80);
  });

  test('L14: restore nothing to any place but those that are allowed', async () => {
    const before = fingerprint();
    let accepted = 0;
    let refused = 0;
    for (const target of traversals(allowed)) {
      const reply = await send('POST', '/restore', { snapshot_id: snapshot, target });
      if (reply.status === 202) {
        accepted += 1;
        const id = String(reply.data?.['id']);
        // A few are seen through; where the others would write is clear.
        const job = accepted <= RUN ? await site.ended(id) : await site.agent.cancel(id);
        const written = job.spec.type === 'restore' ? String(job.spec.target) : '';
        expect(path.resolve(written).startsWith(`${allowed}/`), target).toBe(true);
        if (existsSync(written)) expect(realpathSync(written).startsWith(`${allowed}/`), target).toBe(true);
      } else {
        refused += 1;
        expect(reply.status, `${JSON.stringify(target)} ${reply.text}`).toBe(400);
      }
      expect(fingerprint(), target).toEqual(before);
    }
    // Names with percent signs or backslashes are ordinary names below the allowed directory.
    expect(accepted).toBeGreaterThan(0);
    expect(refused).toBeGreaterThan(40);
    const canary = readFileSync(path.join(outside, 'canary'), 'utf8');
    expect(canary).toBe(CANARY);
  });

  test('L14: read nothing but what is in the snapshot', async () => {
    for (const wanted of [...traversals(site.source), path.join(site.source, 'link')]) {
      const asked = encodeURIComponent(wanted);
      for (const query of [
        `/files/content?snapshot=${snapshot}&path=${asked}`,
        `/files/content?snapshot=${asked}&path=${asked}`,
        `/files?snapshot=${snapshot}&view=tree&path=${asked}`,
        `/files?snapshot=${asked}`,
        `/files/versions?path=${asked}`,
        `/snapshots/${asked}`,
        `/snapshots/${asked}/diff?base=${asked}`,
        `/backup/${asked}/log`,
      ]) {
        const reply = await send('GET', query);
        expect(reply.status, `${query} ${reply.text}`).toBeLessThan(500);
        expect(reply.text.includes(CANARY), query).toBe(false);
        expect(reply.text.includes('root:x:0'), query).toBe(false);
      }
    }
    const right = await send('GET', `/files/content?path=${encodeURIComponent(`${site.source}/a.txt`)}`);
    expect([right.status, right.text]).toEqual([200, 'hello']);
  });

  test('L14: as paths of the snapshot restore nothing from elsewhere', async () => {
    const before = fingerprint();
    const target = path.join(allowed, 'some');
    for (const wanted of [
      '../outside/canary',
      `${site.source}/../outside/canary`,
      outside,
      `${allowed}/out`,
    ]) {
      const reply = await send('POST', '/restore', { snapshot_id: snapshot, target, paths: [wanted] });
      if (reply.status === 202) {
        const job = await site.ended(String(reply.data?.['id']));
        expect(job.status, wanted).toBe('failed');
      } else expect([400, 404], reply.text).toContain(reply.status);
    }
    expect(fingerprint()).toEqual(before);
  });
});

test('L14: a target that becomes a link to elsewhere after it was accepted is refused when the job begins', async () => {
  const target = path.join(allowed, 'later');
  mkdirSync(target);
  const before = fingerprint();
  await site.ask('pause', { until: null, interrupt: false });
  const reply = await send('POST', '/restore', { snapshot_id: snapshot, target });
  expect(reply.status).toBe(202);
  renameSync(target, `${target}.aside`);
  symlinkSync(outside, target);
  await site.ask('resume', {});
  const job = await site.ended(String(reply.data?.['id']));
  expect([job.status, job.error?.code]).toEqual(['failed', 'INVALID_TARGET']);
  expect(fingerprint()).toEqual(before);
});
