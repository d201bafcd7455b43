/** An instance that is killed while it delivers. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { deliverySite, idOf, verifiedAt } from '../support/delivery-site.ts';
import { SOURCE_FLAGS } from '../support/node-flags.ts';
import { STORE_KINDS, someCustomer } from '../support/partner-store-site.ts';
import { AT_ONCE_PER_ENDPOINT } from '../../src/partner/webhooks/turns.ts';
import type { DeliveringOrder } from './delivering-process.ts';

const EVENTS = 40;
const ANSWERED = 10;

describe.each(STORE_KINDS)('on %s', (kind) => {
  it('what it had claimed is sent again by another one, with the same id and body, and nothing is lost', async () => {
    await using at = await deliverySite(kind);
    const { site, stores, partnerId, receiver } = at;
    const toNow = (): void => site.clock.jump(Date.now() - site.clock.now());
    toNow();
    const { id, secret } = await at.endpoint();
    for (let count = 0; count < EVENTS; count += 1) await someCustomer(stores, partnerId);
    // The first are answered, and then none: those are under way when it is killed.
    receiver.answer = (count, response) => {
      if (count <= ANSWERED) response.end('OK');
    };
    const order: DeliveringOrder = {
      address: site.address,
      sealingKey: Buffer.from(at.sealingKey).toString('hex'),
      pepper: Buffer.from(site.pepper).toString('hex'),
      testTargets: at.testTargets,
    };
    const script = join(import.meta.dirname, 'delivering-process.ts');
    const killed = spawn(process.execPath, [...SOURCE_FLAGS, script, JSON.stringify(order)], {
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    await vi.waitUntil(() => receiver.received.length === ANSWERED + AT_ONCE_PER_ENDPOINT, {
      timeout: 30_000,
      interval: 5,
    });
    await vi.waitUntil(async () => (await succeeded()).length === ANSWERED, { timeout: 30_000 });
    killed.kill('SIGKILL');
    await once(killed, 'close');
    const cutOff = receiver.received.slice(ANSWERED);

    receiver.answer = (_count, response) => void response.end('OK');
    toNow();
    await at.instance();
    // Nobody takes what the killed one had before its claims end.
    await vi.waitUntil(async () => (await succeeded()).length === EVENTS - AT_ONCE_PER_ENDPOINT, {
      timeout: 30_000,
    });
    const before = receiver.received.length;
    expect(before).toBe(EVENTS);
    site.clock.jump(61_000);
    await vi.waitUntil(async () => (await succeeded()).length === EVENTS, { timeout: 30_000 });

    const events = (await stores.events.list(partnerId, { limit: 100 })).items.map((event) => event.id);
    const ids = receiver.received.map(idOf);
    expect(ids).toHaveLength(EVENTS + AT_ONCE_PER_ENDPOINT);
    expect([...new Set(ids)].toSorted()).toEqual(events.toSorted());
    const again = receiver.received.slice(before);
    const told = ({ headers, body }: (typeof again)[number]): string =>
      `${String(headers['webhook-id'])} ${body}`;
    expect(again.map(told).toSorted()).toEqual(cutOff.map(told).toSorted());
    for (const message of again) verifiedAt(site.clock.now(), message, secret);
    // What is cut off does not count as an attempt: nobody knows what came of it.
    expect((await succeeded()).every(({ attempts }) => attempts === 1)).toBe(true);
    expect(at.troubles).toEqual([]);

    async function succeeded() {
      const request = { limit: 100, status: 'succeeded' } as const;
      return (await stores.deliveries.list(partnerId, id, request)).items;
    }
  });
});
