/**
 * Lines P07 and P08 of the security checklist: every message is signed as Standard Webhooks has it, and none is lost.
 * Judged by the reference implementation of Standard Webhooks, at a real https receiver.
 */
// Turn 1 of 8.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { newWebhookSecret } from '../../src/partner/webhooks/secrets.ts';
import { createSealing } from '../../src/partner/secrets/sealing.ts';
import { deliverySite, idOf, verifiedAt, type DeliverySite } from '../support/delivery-site.ts';
import { OWNER, nextDueAt, someCustomer } from '../support/partner-store-site.ts';
import { seededRandom } from '../support/seeded-random.ts';
import type { ReceivedWebhook } from '../support/webhook-receiver.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;

let at: DeliverySite;
beforeEach(async () => {
  at = await deliverySite();
});
afterEach(async () => {
  await at[Symbol.asyncDispose]();
  expect(at.troubles).toEqual([]);
});

test('P07: what a receiver gets it can verify, by either secret for as long as one replaces the other', async () => {
  const { site, stores, partnerId, receiver } = at;
  const { id, secret: old } = await at.endpoint();
  const instance = await at.instance();
  const next = async (): Promise<ReceivedWebhook> => {
    await stores.webhooks.test(partnerId, id, OWNER);
    instance.ring();
    await at.quiet();
    const message = receiver.received.at(-1);
    if (message === undefined) throw new Error('nothing came');
    return message;
  };
  const accepts = (message: ReceivedWebhook, secret: string, ms = site.clock.now()): boolean => {
    try {
      verifiedAt(ms, message, secret);
      return true;
    } catch {
      return false;
    }
  };

  const first = await next();
  expect(accepts(first, old)).toBe(true);
  const fresh = newWebhookSecret().reveal();
  const sealed = createSealing(at.sealingKey).seal('webhook secret', id, fresh);
  await stores.webhooks.rotateSecret(partnerId, id, sealed, site.clock.now() + DAY, OWNER);
  site.clock.jump(DAY - 1);
  const during = await next();
  expect([accepts(during, old), accepts(during, fresh)]).toEqual([true, true]);
  site.clock.jump(1);
  const after = await next();
  expect([accepts(after, old), accepts(after, fresh)]).toEqual([false, true]);

  const stranger = newWebhookSecret().reveal();
  const now = site.clock.now();
  const forged: readonly boolean[] = [
    accepts({ ...after, body: after.body.replace('webhook.test', 'backup.failed') }, fresh),
    accepts({ ...after, headers: { ...after.headers, 'webhook-id': idOf(first) } }, fresh),
    accepts({ ...after, headers: { ...after.headers, 'webhook-timestamp': String(now / 1_000 - 1) } }, fresh),
    accepts({ ...after, headers: { ...after.headers, 'webhook-signature': '' } }, fresh),
    accepts(after, stranger),
    accepts(after, fresh, now + 6 * MINUTE),
  ];
  expect(forged).toEqual(Array(6).fill(false));
});

test('P08: a day at a receiver that fails three times in ten loses nothing and sends nothing unsigned', async () => {
  const { site, stores, partnerId, receiver } = at;
  const random = seededRandom(8);
  let refused = 0;
  /** Who asks for silence costs no attempt. */
  let askedForSilence = 0;
  const accepted = new Set<string>();
  receiver.answer = (count, response) => {
    if (random.next() >= 0.3) {
      const message = receiver.received[count - 1];
      if (message !== undefined) accepted.add(idOf(message));
      response.writeHead(204).end();
      return;
    }
    refused += 1;
    if (random.next() < 0.3) {
      response.destroy();
      return;
    }
    const status = random.next() < 0.5 ? 500 : 503;
    if (status === 503) askedForSilence += 1;
    response.writeHead(status, { 'retry-after': '60' }).end('no');
  };
  const { id, secret } = await at.endpoint();
  const instances = [await at.instance(), await at.instance()];

  const begin = site.clock.now();
  const database = site.database();
  let verified = 0;
  for (let eventAt = begin; ;) {
    if (eventAt < begin + DAY && site.clock.now() >= eventAt) {
      await someCustomer(stores, partnerId);
      eventAt += 10 * MINUTE;
    }
    for (const instance of instances) instance.ring();
    await at.quiet();
    for (; verified < receiver.received.length; verified += 1) {
      const message = receiver.received[verified];
      if (message !== undefined) verifiedAt(site.clock.now(), message, secret);
    }
    const due = Math.min((await nextDueAt(database)) ?? Infinity, eventAt < begin + DAY ? eventAt : Infinity);
    if (due === Infinity) break;
    site.clock.jump(Math.max(0, due - site.clock.now()));
  }

  const events = await database.reader.selectFrom('events').select('id').orderBy('seq').execute();
  expect(events).toHaveLength(144);
  expect([...accepted].toSorted()).toEqual(events.map((event) => event.id).toSorted());
  expect(verified).toBe(144 + refused);
  expect(refused).toBeGreaterThan(40);
  const bodies = new Map<string, Set<string>>();
  for (const message of receiver.received)
    bodies.set(idOf(message), (bodies.get(idOf(message)) ?? new Set()).add(message.body));
  expect([...bodies.values()].every(({ size }) => size === 1)).toBe(true);
  const deliveries = await database.reader
    .selectFrom('deliveries')
    .select(['status', 'attempts'])
    .where('endpoint_id', '=', id)
    .execute();
  expect(deliveries.every(({ status }) => status === 'succeeded')).toBe(true);
  expect(deliveries.reduce((sum, { attempts }) => sum + attempts, 0)).toBe(verified - askedForSilence);
  expect(askedForSilence).toBeGreaterThan(5);
});
