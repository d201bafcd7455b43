/** A PostgreSQL that is gone for a moment. */
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createPartnerApp } from '../../src/partner/http/app.ts';
import { PARTNER_PREFIX } from '../../src/partner/resources/values.ts';
import { keysFrom } from '../../src/partner/secrets/keys.ts';
import { openPartnerStore } from '../../src/partner/store/store.ts';
import { startPostgres } from '../servers/postgres.ts';
import { manualClock } from '../support/manual-clock.ts';
import { OWNER, someCustomer, somePartner } from '../support/partner-store-site.ts';

describe('a PostgreSQL that is killed and started again', () => {
  it('has all that was told to be stored, and the store goes on without being opened again', async () => {
    const server = await startPostgres();
    const lost: Error[] = [];
    try {
      await using stores = await openPartnerStore(server.url, manualClock(), {
        pepper: randomBytes(32),
        chance: () => 0,
        lost: (error) => lost.push(error),
      });
      const { id: partnerId } = await somePartner(stores);
      const told: string[] = [];
      const writing = (async () => {
        for (;;) told.push((await someCustomer(stores, partnerId)).id);
      })();
      const failure = expect(writing).rejects.toThrow();
      while (told.length < 30) await new Promise((resolve) => setTimeout(resolve, 5));
      await server.restart();
      await failure;
      // Connections that nobody used may be found broken first.
      await expect
        .poll(
          async () =>
            await stores.ping().then(
              () => true,
              () => false,
            ),
        )
        .toBe(true);
      const { items } = await stores.customers.list(partnerId, { limit: 1_000 });
      const kept = new Set(items.map(({ id }) => id));
      expect(told.filter((id) => !kept.has(id))).toEqual([]);
      // One may have been stored whose answer did not come.
      expect(kept.size - told.length).toBeLessThanOrEqual(1);
      const { items: events } = await stores.events.list(partnerId, { limit: 1_000 });
      expect(events.map(({ customerId }) => customerId)).toEqual(items.map(({ id }) => id));
      await someCustomer(stores, partnerId);
    } finally {
      await server.stop();
    }
  });
});

describe('a PostgreSQL that is gone', () => {
  it('is said as something that passes to whoever asks meanwhile', async () => {
    const server = await startPostgres();
    let stopped = false;
    try {
      const clock = manualClock();
      await using stores = await openPartnerStore(server.url, clock, {
        pepper: randomBytes(32),
        chance: () => 0,
      });
      const { app, close } = await createPartnerApp({
        stores,
        clock,
        keys: keysFrom(randomBytes(32)),
        version: '1.0.0',
      });
      const { id } = await somePartner(stores);
      const key = (await stores.apiKeys.generate(id, 'billing', OWNER)).secret;
      const ask = async () =>
        await app.inject({ url: `${PARTNER_PREFIX}/account`, headers: { authorization: `Bearer ${key}` } });
      expect((await ask()).statusCode).toBe(200);
      await server.stop();
      stopped = true;
      for (let time = 1; time <= 3; time += 1) {
        const reply = await ask();
        expect(reply.json()).toMatchObject({ error: { code: 'SERVICE_UNAVAILABLE' } });
        expect([reply.statusCode, reply.headers['x-ratelimit-limit']]).toEqual([503, '600']);
      }
      await close();
    } finally {
      if (!stopped) await server.stop();
    }
  });
});
