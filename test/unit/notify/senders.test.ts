import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { healthchecksSender } from '../../../src/notify/healthchecks.ts';
import type { Notice } from '../../../src/notify/notice.ts';
import { ntfySender } from '../../../src/notify/ntfy.ts';
import { sendersOf } from '../../../src/notify/senders.ts';
import { webhookSender } from '../../../src/notify/webhook.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { httpReceiver, type HttpReceiver, type Received } from './http-receiver.ts';
import { sampleNotice } from './sample-notice.ts';

let receiver: HttpReceiver;
beforeEach(async () => {
  receiver = await httpReceiver();
});
afterEach(async () => {
  await receiver.close();
});

const { signal } = new AbortController();

function only(): Received {
  expect(receiver.received).toHaveLength(1);
  const [first] = receiver.received.splice(0);
  if (first === undefined) throw new Error('nothing was received');
  return first;
}

describe('pings to healthchecks', () => {
  const ping = async (facts: Partial<Notice>): Promise<Received> => {
    await healthchecksSender(`${receiver.url}/ping/uuid/`).send(sampleNotice(facts), signal);
    return only();
  };

  it('say how a run went', async () => {
    const job = { id: 'bkp_1', durationMs: null, errorCode: null };
    const path = async (facts: Partial<Notice>): Promise<string> =>
      (await ping(facts)).path.replace(/\?.*/, '');
    expect(await path({ kind: 'backup.started' })).toBe('/ping/uuid/start');
    expect(await path({ kind: 'backup.completed', job: { ...job, exitStatus: 0 } })).toBe('/ping/uuid');
    expect(await path({ kind: 'backup.warning', job: { ...job, exitStatus: 3 } })).toBe('/ping/uuid');
    expect(await path({ kind: 'backup.failed' })).toBe('/ping/uuid/fail');
    expect(await path({ kind: 'backup.failed', job: { ...job, exitStatus: 12 } })).toBe('/ping/uuid/12');
    expect(await path({ kind: 'absence', job: null })).toBe('/ping/uuid/fail');
    expect(await path({ kind: 'restore.failed' })).toBe('/ping/uuid/log');
    expect(await path({ kind: 'test', job: null })).toBe('/ping/uuid/log');
  });

  it('say it behind the path also where the address has a query', async () => {
    const sender = healthchecksSender(`${receiver.url}/key/slug?create=1#top`);
    await sender.send(sampleNotice({ kind: 'backup.failed' }), signal);
    expect(only().path).toMatch(/^\/key\/slug\/fail\?create=1&rid=[-0-9a-f]{36}$/);
    await sender.send(sampleNotice({ kind: 'absence', job: null }), signal);
    expect(only().path).toBe('/key/slug/fail?create=1');
  });

  it('turn no light green while something else fails, and say what', async () => {
    const stillFailing = ['The last backup of /b to nas failed.'];
    for (const kind of ['backup.completed', 'backup.warning'] as const) {
      const { path, body } = await ping({ kind, stillFailing });
      expect(path).toMatch(/^\/ping\/uuid\/fail\?rid=/);
      expect(body).toMatch(/^The last backup of \/b to nas failed\.\n/);
    }
  });

  it('carry the same UUID at both ends of a run, and another for another run', async () => {
    const rid = async (facts: Partial<Notice>): Promise<string | null> =>
      new URL((await ping(facts)).path, receiver.url).searchParams.get('rid');
    const start = await rid({ kind: 'backup.started' });
    expect(start).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(await rid({ kind: 'backup.completed' })).toBe(start);
    const other = { id: 'bkp_2', durationMs: null, exitStatus: null, errorCode: null };
    expect(await rid({ kind: 'backup.started', job: other })).not.toBe(start);
    expect(await rid({ kind: 'alarm', job: null })).toBeNull();
  });

  it('end with the log, of which the last 100 kB are kept, in whole characters', async () => {
    expect((await ping({})).body).toMatch(
      /^The destination nas [\s\S]*Source: \/home\/ada[\s\S]*\nlast line$/,
    );
    const log = [...Array.from({ length: 50_000 }, () => 'ÿÿÿ'), 'the end'];
    const { body } = await ping({ log });
    expect(Buffer.byteLength(body)).toBeLessThanOrEqual(100_000);
    expect(Buffer.byteLength(body)).toBeGreaterThan(99_990);
    expect(body).toMatch(/^[ÿ\n]+the end$/);
  });

  it('fail when the receiver says that it knows no such check', async () => {
    receiver.answer = (_count, response) => response.end('OK (not found)');
    await expect(ping({})).rejects.toMatchObject({ code: 'NOTICE_NOT_DELIVERED', retry: 'never' });
  });
});

describe('messages to ntfy', () => {
  const token = { reveal: () => 'tk_canary' };

  it('have title, priority, tag and token', async () => {
    await ntfySender(`${receiver.url}/topic`, token).send(sampleNotice(), signal);
    expect(only()).toMatchObject({
      path: '/topic',
      headers: {
        title: 'Backup failed: /home/ada',
        priority: '4',
        tags: 'rotating_light',
        authorization: 'Bearer tk_canary',
      },
      body: expect.stringMatching(/^The destination nas cannot be reached/),
    });
    await ntfySender(`${receiver.url}/topic`, null).send(sampleNotice({ kind: 'backup.completed' }), signal);
    const { headers } = only();
    expect(headers).toMatchObject({ priority: '2', tags: 'white_check_mark' });
    expect(headers.authorization).toBeUndefined();
  });

  it('keep names in other scripts, and nothing of a name can become a header', async () => {
    const source = '/home/Ærøskøbing/写真/\r\nX-Evil: 1/🙂';
    await ntfySender(`${receiver.url}/topic`, null).send(sampleNotice({ source }), signal);
    const { headers } = only();
    expect(headers['x-evil']).toBeUndefined();
    const words = String(headers['title']).split(' ');
    expect(Math.max(...words.map((word) => word.length))).toBeLessThanOrEqual(75);
    const decoded = words.map((word) =>
      Buffer.from(/^=\?UTF-8\?B\?(.+)\?=$/.exec(word)?.[1] ?? '', 'base64').toString(),
    );
    expect(decoded.join('')).toBe('Backup failed: /home/Ærøskøbing/写真/ X-Evil: 1/🙂');
  });

  it('are no longer than a message may be', async () => {
    await ntfySender(receiver.url, null).send(sampleNotice({ text: '€'.repeat(5000) }), signal);
    const { body } = only();
    expect(Buffer.byteLength(body)).toBeLessThanOrEqual(4000);
    expect(body).toMatch(/^€+$/);
  });
});

/** Standard Webhooks, section "Verifying webhook authenticity". */
function isGenuine({ headers, body }: Received, key: Buffer): boolean {
  const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
  const expected = createHmac('sha256', key).update(signed, 'utf8').digest();
  const [version, signature = ''] = String(headers['webhook-signature']).split(',');
  const given = Buffer.from(signature, 'base64');
  return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected);
}

describe('webhooks', () => {
  it('are signed with the secret in either form', async () => {
    const key = randomBytes(32);
    const clock = manualClock();
    const base64 = { reveal: () => `whsec_${key.toString('base64')}` };
    await webhookSender(`${receiver.url}/hook`, base64, clock).send(
      sampleNotice({ source: '/home/ü' }),
      signal,
    );
    const signed = only();
    expect(isGenuine(signed, key)).toBe(true);
    expect(isGenuine({ ...signed, body: `${signed.body} ` }, key)).toBe(false);
    expect(isGenuine(signed, randomBytes(32))).toBe(false);
    expect(signed.headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': 'msg_0001',
      'webhook-timestamp': String(Math.floor(clock.now() / 1000)),
    });
    await webhookSender(receiver.url, { reveal: () => 'plain words' }, clock).send(sampleNotice(), signal);
    expect(isGenuine(only(), Buffer.from('plain words'))).toBe(true);
    await webhookSender(receiver.url, null, clock).send(sampleNotice(), signal);
    expect(only().headers['webhook-signature']).toBeUndefined();
  });

  it('say everything as JSON', async () => {
    await webhookSender(receiver.url, null, manualClock()).send(sampleNotice(), signal);
    expect(JSON.parse(only().body)).toEqual({
      type: 'backup.failed',
      timestamp: '2026-11-21T02:31:07.120Z',
      data: {
        id: 'msg_0001',
        severity: 'bad',
        title: 'Backup failed: /home/ada',
        text: 'The destination nas cannot be reached. Check the network.',
        host: 'workshop',
        source: '/home/ada',
        destination: 'nas',
        job: {
          id: 'bkp_01JD0000000000000000000000',
          duration_seconds: 12.5,
          exit_status: null,
          error_code: 'DESTINATION_UNREACHABLE',
        },
        log: 'first line\nlast line',
      },
    });
    await webhookSender(receiver.url, null, manualClock()).send(
      sampleNotice({ kind: 'alarm', job: null }),
      signal,
    );
    expect(JSON.parse(only().body)).toMatchObject({ type: 'alarm', data: { job: null } });
  });
});

describe('the senders of the settings', () => {
  it('are those that are set', () => {
    const none = { ntfyToken: null, webhookSecret: null, emailPassword: null };
    const nothing = {
      healthchecks: null,
      ntfy: null,
      webhook: null,
      email: null,
      desktop: false,
      absenceDays: 3,
      quietHours: null,
    };
    expect(sendersOf(nothing, none, manualClock())).toEqual([]);
    const all = sendersOf(
      {
        healthchecks: { url: receiver.url },
        ntfy: { url: receiver.url, token: null },
        webhook: { url: receiver.url, secret: null },
        email: {
          host: 'mail.test',
          port: 25,
          user: null,
          password: null,
          from: 'a@mail.test',
          to: ['b@mail.test'],
        },
        desktop: true,
        absenceDays: 3,
        quietHours: null,
      },
      none,
      manualClock(),
    );
    expect(all.map(({ name, everything }) => [name, everything])).toEqual([
      ['healthchecks', true],
      ['ntfy', false],
      ['webhook', true],
      ['email', false],
      ['desktop', false],
    ]);
  });
});
