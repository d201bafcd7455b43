/** Notices of the real agent, as receivers on loopback get them. */
import { createHmac } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, openDaemonSite, type DaemonSite } from '../support/daemon-site.ts';
import { httpReceiver, type HttpReceiver, type Received } from '../unit/notify/http-receiver.ts';
import { smtpReceiver, type SmtpReceiver } from '../unit/notify/smtp-receiver.ts';

const HOUR_MS = 3_600_000;
const SECRET = 'a secret for signatures';

let site: DaemonSite;
let http: HttpReceiver;
let mail: SmtpReceiver;

beforeAll(async () => {
  [site, http, mail] = [await openDaemonSite(), await httpReceiver(), await smtpReceiver()];
  const file = join(site.directory, 'webhook-secret');
  writeFileSync(file, SECRET, { mode: 0o600 });
  site.write({ 'a.txt': 'content' });
  const maintenance = { prune: 'off', check: 'off', drill: 'off' };
  const notices = {
    healthchecks: { url: `${http.url}/ping/0123` },
    ntfy: { url: `${http.url}/topic` },
    webhook: { url: `${http.url}/hook`, secret: { file } },
    email: { host: '127.0.0.1', port: mail.port, from: 'agent@example.org', to: ['me@example.org'] },
    absenceDays: 3,
  };
  await site.configure({
    sources: [{ path: site.source, schedule: 'off', watch: false }],
    maintenance,
    notices,
  });
});
afterAll(async () => {
  await site[Symbol.asyncDispose]();
  await http.close();
  await mail.close();
});

const to = (path: string): readonly Received[] => http.received.filter((one) => one.path.startsWith(path));
const pings = (): readonly string[] => to('/ping/0123').map(({ path }) => path.slice('/ping/0123'.length));
const hooks = (): readonly { readonly type: string; readonly data: { readonly text: string } }[] =>
  to('/hook').map(({ body }) => JSON.parse(body) as ReturnType<typeof hooks>[number]);

test('each backup is pinged at both ends and told to the webhook, signed; a good one is no mail', async () => {
  const job = await site.endOfNext('backup', []);
  expect(job.status).toBe('completed');
  await eventually(() => pings().length === 2 && hooks().length === 2, 'pings and calls');
  const [start, end] = pings();
  expect(start).toMatch(/^\/start\?rid=[0-9a-f-]{36}$/);
  expect(end).toBe(start?.replace('/start', ''));
  expect(hooks().map(({ type }) => type)).toEqual(['backup.started', 'backup.completed']);
  for (const { headers, body } of to('/hook')) {
    const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
    const signature = createHmac('sha256', SECRET).update(signed).digest('base64');
    expect(headers['webhook-signature']).toBe(`v1,${signature}`);
  }
  expect(to('/topic')).toEqual([]);
  expect(mail.messages).toEqual([]);
});

test('a failure reaches everybody, and an alarm that says the same only programs', async () => {
  rmSync(join(site.source, 'a.txt'));
  const job = await site.backUp();
  expect(job.error?.code).toBe('SOURCE_SUSPICIOUSLY_EMPTY');
  await eventually(
    () => hooks().length === 5 && to('/topic').length === 1 && mail.messages.length === 1,
    'all',
  );
  expect(
    pings()
      .slice(2)
      .map((path) => path.replace(/\?.*/, '')),
  ).toEqual(['/start', '/1', '/fail']);
  expect(
    hooks()
      .slice(2)
      .map(({ type }) => type),
  ).toEqual(['backup.started', 'backup.failed', 'alarm']);
  for (const text of [to('/topic')[0]?.body, mail.messages[0]])
    expect(text).toContain('is empty. It had 1 file');
  expect(mail.messages[0]).toMatch(/^Subject: \[Holdfast .*\] Backup failed/m);
  expect(mail.messages[0]).toContain('SOURCE_SUSPICIOUSLY_EMPTY');
  expect(mail.commands.join('\n')).toMatch(/RCPT TO:<me@example\.org>/);
});

test('days without a good backup and an open alarm are told, once a day, also across a restart', async () => {
  const texts = (kind: string): readonly string[] =>
    hooks()
      .filter(({ type }) => type === kind)
      .map(({ data }) => data.text);
  const counts = (): readonly number[] => [texts('absence').length, texts('alarm').length];
  const isTold = (times: number): boolean => counts().join() === [times, times + 1].join();
  site.clock.skip(71 * HOUR_MS);
  site.clock.skip(2 * HOUR_MS);
  await eventually(() => isTold(1) && mail.messages.length === 3, 'the first word');
  expect(texts('absence').at(-1)).toContain('3 days old');
  expect(texts('alarm').at(-1)).toContain('Nobody has acknowledged it since');
  const bodies = to('/topic').map(({ body }) => body);
  expect(bodies.some((body) => body.includes('The last good backup'))).toBe(true);
  await site.restart();
  site.clock.skip(25 * HOUR_MS);
  await eventually(() => isTold(2), 'the next word');
  expect(texts('absence').at(-1)).toContain('4 days old');
});
