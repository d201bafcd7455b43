import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock, type Clock } from '../../../src/base/clock.ts';
import type { RetryPolicy } from '../../../src/notify/delivery.ts';
import { healthchecksSender } from '../../../src/notify/healthchecks.ts';
import type { Notice } from '../../../src/notify/notice.ts';
import { Notifier } from '../../../src/notify/notifier.ts';
import { ntfySender } from '../../../src/notify/ntfy.ts';
import { DeliveryError, type Sender } from '../../../src/notify/sender.ts';
import { webhookSender } from '../../../src/notify/webhook.ts';
import { manualClock, settle } from '../../support/manual-clock.ts';
import { answerWith, httpReceiver, type HttpReceiver } from './http-receiver.ts';
import { sampleNotice } from './sample-notice.ts';

let receiver: HttpReceiver;
const open: Notifier[] = [];
beforeEach(async () => {
  receiver = await httpReceiver();
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((notifier) => notifier.close()));
  await receiver.close();
});

const quick: RetryPolicy = { attempts: 3, firstDelayMs: 10, maxDelayMs: 20, pauseMs: 60_000 };
const { signal } = new AbortController();

interface Facts {
  readonly clock?: Clock;
  readonly policy?: RetryPolicy;
  readonly flushMs?: number;
}

function site(
  senders: readonly Sender[],
  { clock = systemClock, policy = quick, flushMs = 5000 }: Facts = {},
) {
  const log: { readonly sender: string; readonly text: string; readonly error: unknown }[] = [];
  const notifier = new Notifier(senders, {
    clock,
    host: 'workshop',
    policy,
    flushMs,
    log: (line) => log.push(line),
  });
  open.push(notifier);
  return { notifier, log };
}

async function until(holds: () => boolean): Promise<void> {
  for (let turn = 0; !holds(); turn += 1) {
    if (turn > 2000) throw new Error('it does not come');
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

const webhook = (): Sender => webhookSender(`${receiver.url}/webhook`, null, systemClock);
const kinds = (): readonly unknown[] =>
  receiver.received.map(({ body }) => (JSON.parse(body) as { type: unknown }).type);

describe('a notifier', () => {
  it('tells machines everything and people what they have to know', async () => {
    const ping = healthchecksSender(`${receiver.url}/ping`);
    const { notifier } = site([ping, ntfySender(`${receiver.url}/ntfy`, null), webhook()]);
    for (const kind of ['backup.started', 'backup.completed', 'backup.failed', 'backup.failed'] as const) {
      notifier.notify(sampleNotice({ kind, job: null }));
    }
    await until(
      () => receiver.received.length === 9 && notifier.status().every(({ waiting }) => waiting === 0),
    );
    const paths = receiver.received.map(({ path }) => path);
    expect(paths.filter((path) => path.startsWith('/ping'))).toEqual([
      '/ping/start',
      '/ping',
      '/ping/fail',
      '/ping/fail',
    ]);
    expect(paths.filter((path) => path === '/ntfy')).toHaveLength(1);
    expect(paths.filter((path) => path === '/webhook')).toHaveLength(4);
    expect(notifier.status().map(({ name, state, waiting }) => [name, state, waiting])).toEqual([
      ['healthchecks', 'ok', 0],
      ['ntfy', 'ok', 0],
      ['webhook', 'ok', 0],
    ]);
  });

  it('tries again, with the same id, until the receiver takes it, and keeps the order', async () => {
    receiver.answer = (count, response) => response.writeHead(count < 3 ? 500 : 200).end();
    const { notifier, log } = site([webhook()]);
    notifier.notify(sampleNotice({ kind: 'backup.started' }));
    notifier.notify(sampleNotice({ kind: 'backup.completed', id: 'msg_0002' }));
    await until(() => receiver.received.length === 4);
    expect(kinds()).toEqual(['backup.started', 'backup.started', 'backup.started', 'backup.completed']);
    expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([
      'msg_0001',
      'msg_0001',
      'msg_0001',
      'msg_0002',
    ]);
    expect(log).toEqual([]);
  });

  it('says after some tries that the receiver fails, and keeps the notice for when it takes the next one', async () => {
    receiver.answer = (count, response) => response.writeHead(count <= 3 ? 503 : 200).end();
    const { notifier, log } = site([webhook()]);
    notifier.notify(sampleNotice());
    await until(() => log.length === 1);
    expect(receiver.received).toHaveLength(3);
    expect(log[0]).toMatchObject({
      sender: 'webhook',
      text: expect.stringMatching(/^could not deliver backup\.failed yet/),
    });
    expect(notifier.status()[0]).toMatchObject({
      state: 'failing',
      waiting: 1,
      lastDeliveredAt: null,
      lastError: expect.stringMatching(/status 503\. It may work again later\.$/),
    });
    notifier.notify(sampleNotice({ id: 'msg_0002' }));
    await until(() => notifier.status()[0]?.waiting === 0);
    expect(notifier.status()[0]).toMatchObject({ state: 'ok', lastError: null });
    expect(receiver.received.slice(3).map(({ headers }) => headers['webhook-id'])).toEqual([
      'msg_0002',
      'msg_0001',
    ]);
    expect(log).toHaveLength(1);
  });

  it('gives up a ping after some tries: a late one would say that all is well now', async () => {
    receiver.answer = answerWith(503);
    const { notifier, log } = site([healthchecksSender(`${receiver.url}/ping`)]);
    notifier.notify(sampleNotice());
    await until(() => log.length === 1);
    expect(log[0]).toMatchObject({ text: 'could not deliver backup.failed' });
    expect(notifier.status()[0]).toMatchObject({ state: 'failing', waiting: 0 });
  });

  it('does not repeat what is refused for good', async () => {
    receiver.answer = answerWith(403);
    const { notifier, log } = site([webhook()]);
    notifier.notify(sampleNotice());
    await until(() => log.length === 1);
    expect(receiver.received).toHaveLength(1);
  });

  it('waits longer after each failure, then a quarter of an hour, and for four days', async () => {
    const clock = manualClock();
    const tries: number[] = [];
    const failing: Sender = {
      name: 'failing',
      everything: true,
      keeps: true,
      send: () => {
        tries.push(clock.now());
        return Promise.reject(new DeliveryError('down', { retry: 'later' }));
      },
      close: () => undefined,
    };
    const notifier = new Notifier([failing], { clock, host: 'workshop', log: () => undefined });
    notifier.notify(sampleNotice());
    await settle();
    for (let day = 0; day < 5; day += 1) await clock.advance(24 * 3_600_000);
    const waits = tries.slice(1).map((at, index) => (at - (tries[index] ?? 0)) / 1000);
    for (const wait of waits.slice(5)) {
      expect(wait).toBeGreaterThanOrEqual(450);
      expect(wait).toBeLessThanOrEqual(900);
    }
    expect((tries.at(-1) ?? 0) - (tries[0] ?? 0)).toBeGreaterThanOrEqual(96 * 3_600_000);
    expect((tries.at(-1) ?? 0) - (tries[0] ?? 0)).toBeLessThan(97 * 3_600_000);
    expect(notifier.status()[0]?.waiting).toBe(0);
    for (const [index, most] of [2, 8, 32, 128, 300].entries()) {
      expect(waits[index]).toBeGreaterThanOrEqual(most / 2);
      expect(waits[index]).toBeLessThanOrEqual(most);
    }
    await notifier.close();
  });

  it('tells nothing to a receiver that wants to hear nothing, which is none of the tries, and then all', async () => {
    const clock = manualClock();
    const tries: string[] = [];
    let silenceMs: number | null = 600_000;
    const busy: Sender = {
      name: 'busy',
      everything: true,
      keeps: true,
      send: async ({ id }) => {
        tries.push(id);
        if (silenceMs !== null) throw new DeliveryError('busy', { retry: 'later', silenceMs });
      },
      close: () => undefined,
    };
    const notifier = new Notifier([busy], { clock, host: 'workshop', log: () => undefined });
    for (const id of ['a', 'b', 'c']) notifier.notify(sampleNotice({ id }));
    await settle();
    for (let minute = 0; minute < 119; minute += 1) await clock.advance(60_000);
    // Far more than six tries, all of the first.
    expect(tries).toEqual(Array.from({ length: 12 }, () => 'a'));
    expect(notifier.status()).toMatchObject([{ state: 'failing', waiting: 3 }]);
    silenceMs = null;
    await clock.advance(60_000);
    expect(tries.slice(12)).toEqual(['a', 'b', 'c']);
    expect(notifier.status()).toMatchObject([{ state: 'ok', waiting: 0 }]);
    // Four days are enough.
    silenceMs = 3_600_000;
    tries.length = 0;
    for (const id of ['d', 'e']) notifier.notify(sampleNotice({ id }));
    await settle();
    for (let hour = 0; hour < 200; hour += 1) await clock.advance(3_600_000);
    expect(new Set(tries)).toEqual(new Set(['d', 'e']));
    await notifier.close();
  });

  it('never disturbs the one who has something to say', async () => {
    const broken: Sender = {
      name: 'broken',
      everything: true,
      keeps: true,
      send: () => {
        throw new TypeError('a mistake in the program');
      },
      close: () => undefined,
    };
    const { notifier, log } = site([broken, webhook()]);
    notifier.notify(sampleNotice());
    await until(() => receiver.received.length === 1 && log.length === 1);
    expect(log[0]?.error).toBeInstanceOf(TypeError);
    await notifier.close();
    notifier.notify(sampleNotice());
    await settle();
    expect(receiver.received).toHaveLength(1);
  });

  it('holds a hundred notices for a receiver that hangs, and drops the oldest', async () => {
    receiver.answer = () => undefined;
    const { notifier, log } = site([webhook()], { flushMs: 50 });
    for (let count = 0; count < 104; count += 1) notifier.notify(sampleNotice({ id: `msg_${count}` }));
    expect(notifier.status()[0]?.waiting).toBe(101);
    expect(log.map(({ text }) => text)).toEqual(
      Array.from({ length: 3 }, () => expect.stringContaining('too many wait')),
    );
  });

  it('delivers what is under way before it ends, without pauses', async () => {
    receiver.answer = (count, response) => response.writeHead(count === 1 ? 500 : 200).end();
    const { notifier } = site([webhook()], {
      policy: { attempts: 5, firstDelayMs: 60_000, maxDelayMs: 60_000, pauseMs: 60_000 },
    });
    notifier.notify(sampleNotice({ kind: 'backup.failed' }));
    notifier.notify(sampleNotice({ kind: 'alarm' }));
    await until(() => receiver.received.length === 1);
    const started = performance.now();
    await notifier.close();
    expect(performance.now() - started).toBeLessThan(3000);
    expect(kinds()).toEqual(['backup.failed', 'backup.failed', 'alarm']);
  });

  it('does not wait for ever for a receiver that hangs', async () => {
    receiver.answer = () => undefined;
    const { notifier, log } = site([webhook()], { flushMs: 100 });
    notifier.notify(sampleNotice());
    await until(() => receiver.received.length === 1);
    const started = performance.now();
    await notifier.close();
    expect(performance.now() - started).toBeLessThan(2000);
    expect(log.map(({ text }) => text)).toEqual(['1 not delivered yet: tried again at the next start']);
  });

  it('goes on with other senders when the settings change', async () => {
    const { notifier } = site([webhook()]);
    notifier.notify(sampleNotice({ id: 'msg_old' }));
    notifier.replace([webhookSender(`${receiver.url}/new`, null, systemClock)]);
    notifier.notify(sampleNotice({ id: 'msg_new' }));
    await until(() => receiver.received.length === 2);
    const seen = receiver.received.map(({ path, headers }) => `${String(headers['webhook-id'])} ${path}`);
    expect(seen.sort()).toEqual(['msg_new /new', 'msg_old /webhook']);
  });

  it('delivers by new settings what the old ones could not, and says so when there are none', async () => {
    const wrong = webhookSender('http://127.0.0.1:9/hook', null, systemClock);
    const { notifier, log } = site([wrong]);
    notifier.notify(sampleNotice({ id: 'msg_old' }));
    await until(() => log.length === 1);
    notifier.replace([webhook()]);
    await until(() => notifier.status()[0]?.state === 'ok');
    expect(receiver.received[0]?.headers['webhook-id']).toBe('msg_old');
    expect(notifier.status()).toMatchObject([{ state: 'ok', waiting: 0 }]);
    receiver.answer = answerWith(503);
    notifier.notify(sampleNotice());
    await until(() => log.length === 2);
    notifier.replace([]);
    await until(() => log.length === 3);
    expect(log[2]?.text).toBe('gave up on backup.failed: its receiver is no longer set up');
  });

  it('does not send for days what may have arrived', async () => {
    const slow: Sender = {
      ...webhook(),
      send: async () => {
        throw new DeliveryError('no answer', { retry: 'later', mayHaveArrived: true });
      },
    };
    const { notifier, log } = site([slow]);
    notifier.notify(sampleNotice());
    await until(() => log.length === 1);
    expect(log[0]?.text).toBe('could not deliver backup.failed');
    expect(notifier.status()).toMatchObject([{ state: 'failing', waiting: 0 }]);
  });

  it('lets nothing wait behind what the receiver never takes', async () => {
    receiver.answer = (_count, response) => {
      const isPoison = receiver.received.at(-1)?.headers['webhook-id'] === 'msg_poison';
      response.writeHead(isPoison ? 500 : 200).end();
    };
    const { notifier, log } = site([webhook()]);
    notifier.notify(sampleNotice({ id: 'msg_poison' }));
    await until(() => log.length === 1);
    for (const id of ['msg_1', 'msg_2']) notifier.notify(sampleNotice({ id }));
    await until(() => notifier.status()[0]?.waiting === 1);
    const taken = receiver.received.map(({ headers }) => headers['webhook-id']);
    expect(taken).toContain('msg_1');
    expect(taken).toContain('msg_2');
    expect(log).toHaveLength(1);
  });

  it('tells a receiver again within two hours what it refused for good, and others nothing twice', async () => {
    const sent: string[] = [];
    const refusing: Sender = {
      ...webhook(),
      name: 'email',
      everything: false,
      send: async ({ id }) => {
        sent.push(`email ${id}`);
        throw new DeliveryError('wrong password');
      },
    };
    const taking: Sender = {
      ...refusing,
      name: 'ntfy',
      send: async ({ id }) => void sent.push(`ntfy ${id}`),
    };
    const { notifier } = site([refusing, taking]);
    const start = Date.parse('2026-11-21T00:00Z');
    for (let half = 0; half < 6; half += 1) {
      notifier.notify(sampleNotice({ id: `${half}`, at: start + half * 1_800_000 }));
      await until(() => notifier.status().every(({ waiting }) => waiting === 0));
    }
    expect(sent).toEqual(['email 0', 'ntfy 0', 'email 2', 'email 4']);
  });

  it('keeps what was not delivered, and how the receiver fails, until the next start', async () => {
    const book = new Map<string, string>();
    const waiting = {
      read: (name: string) => book.get(name),
      write: (name: string, text: string | undefined) =>
        void (text === undefined ? book.delete(name) : book.set(name, text)),
    };
    const agent = (): Notifier => {
      const options = { clock: systemClock, host: 'workshop', policy: quick, flushMs: 5000, waiting };
      const notifier = new Notifier([webhook(), ntfySender(`${receiver.url}/ntfy`, null)], {
        ...options,
        log: () => undefined,
      });
      open.push(notifier);
      return notifier;
    };
    receiver.answer = answerWith(503);
    const before = agent();
    const at = Date.now();
    before.notify(sampleNotice({ kind: 'backup.started', id: 'msg_start', at }));
    before.notify(sampleNotice({ at, log: Array.from({ length: 5000 }, (_, n) => `line ${n}`) }));
    await until(() => before.status().every(({ state }) => state === 'failing'));
    // Also where it is killed.
    expect([...book.keys()].toSorted()).toEqual(['ntfy', 'webhook']);
    expect((book.get('webhook') ?? '').length).toBeLessThan(10_000);
    await before.close();
    receiver.received.length = 0;
    receiver.answer = answerWith(200);
    const after = agent();
    await until(() => after.status().every(({ state, waiting: left }) => state === 'ok' && left === 0));
    const paths = receiver.received.map(({ path, headers }) => `${path} ${String(headers['webhook-id'])}`);
    expect(paths.toSorted()).toEqual(['/ntfy undefined', '/webhook msg_0001']);
    expect(book.size).toBe(0);
  });
});

describe('a test message', () => {
  it('arrives, and says so', async () => {
    const { notifier } = site([ntfySender(receiver.url, null)]);
    expect(await notifier.test('ntfy', signal)).toEqual({ ok: true });
    expect(receiver.received[0]?.body).toMatch(/^This is a test message of Holdfast on workshop\./);
    expect(notifier.status()[0]).toMatchObject({ state: 'ok' });
  });

  it('says at once what is wrong', async () => {
    receiver.answer = answerWith(401);
    const { notifier } = site([ntfySender(receiver.url, null)]);
    expect(await notifier.test('ntfy', signal)).toEqual({
      ok: false,
      message: expect.stringMatching(/answered with status 401\. Check the address and the token/),
    });
    expect(receiver.received).toHaveLength(1);
    expect(notifier.status()[0]).toMatchObject({ state: 'failing' });
    expect(await notifier.test('email', signal)).toEqual({
      ok: false,
      message: expect.stringContaining('email'),
    });
  });

  it('is of its own kind', async () => {
    const { notifier } = site([webhook()]);
    await notifier.test('webhook', signal);
    const sent: Partial<Notice>[] = receiver.received.map(({ body }) => JSON.parse(body) as Partial<Notice>);
    expect(sent).toMatchObject([{ type: 'test', data: { host: 'workshop' } }]);
  });
});
