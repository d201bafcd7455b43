// Turn 3 of 8.
import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createKeyedHash } from '../../../../src/partner/store/keyed-hash.ts';
import {
  createSignInLog,
  type AttemptLimit,
  type SignInLog,
} from '../../../../src/partner/store/sign-in-log.ts';
import type { PartnerStores } from '../../../../src/partner/store/store.ts';
import { STORE_KINDS, storeSite, type StoreSite } from '../../../support/partner-store-site.ts';

const WINDOW = 60_000;
const HOUR = 3_600_000;

const all = (limit = 60): AttemptLimit => ({ kind: 'all', of: [], limit, windowMs: WINDOW });
const account = (name: string, limit = 10): AttemptLimit => ({
  kind: 'account',
  of: [name],
  limit,
  windowMs: WINDOW,
});
const browser = (name: string, cookie: string): AttemptLimit => ({
  kind: 'browser',
  of: [name, cookie],
  limit: 10,
  windowMs: WINDOW,
});
const codes = (name: string): AttemptLimit => ({ kind: 'codes', of: [name], limit: 15, windowMs: HOUR });

describe.each(STORE_KINDS)('the log of attempts to sign in on %s', (kind) => {
  let site: StoreSite;
  let stores: [PartnerStores, PartnerStores];

  beforeEach(async () => {
    site = await storeSite(kind);
    stores = [await site.open(), await site.open()];
  });
  afterEach(async () => await site.remove());

  const rows = async () => await site.database().reader.selectFrom('sign_in_log').selectAll().execute();
  /** How many of so many at once were let through, by two instances in turn. */
  const letThrough = async (
    count: number,
    limits: (index: number) => readonly AttemptLimit[],
  ): Promise<number> => {
    const verdicts = await Promise.all(
      Array.from({ length: count }, async (_, index) => await logOf(index).take(limits(index))),
    );
    return verdicts.filter((verdict) => verdict.kind === 'taken').length;
  };
  const logOf = (index: number): SignInLog => (index % 2 === 0 ? stores[0] : stores[1]).signIns;

  it('lets exactly so many through when two instances are asked at once', async () => {
    expect(await letThrough(6, () => [all(), account('ana')])).toBe(6);
    site.clock.jump(WINDOW / 2);
    expect(await letThrough(40, () => [all(), account('ana')])).toBe(4);
    site.clock.jump(WINDOW / 2 - 1);
    expect(await letThrough(5, () => [all(), account('ana')])).toBe(0);
    site.clock.jump(1);
    expect(await letThrough(40, () => [all(), account('ana')])).toBe(6);
  });

  it('counts all accounts together, and keeps nothing of what was refused', async () => {
    expect(await letThrough(300, (index) => [all(), account(`partner ${index}`)])).toBe(60);
    expect(await rows()).toHaveLength(61);
    expect(await letThrough(300, (index) => [all(), account(`other ${index}`)])).toBe(0);
    expect(await rows()).toHaveLength(61);
  });

  it('takes no place anywhere when one log is full, whichever it is', async () => {
    expect(await letThrough(1, () => [all(2), account('ana', 1)])).toBe(1);
    expect(await letThrough(20, () => [all(2), account('ana', 1)])).toBe(0);
    expect(await letThrough(20, () => [all(2), account('ben', 5)])).toBe(1);
    expect(await letThrough(20, () => [all(2), account('cid', 5)])).toBe(0);
    site.clock.jump(WINDOW);
    expect(await letThrough(20, () => [account('cid', 5)])).toBe(5);
  });

  it('goes on when instances take the same logs in different orders', async () => {
    const names = ['ana', 'ben', 'cid'];
    const orders = (index: number): readonly AttemptLimit[] => {
      const list = names.map((name) => account(name, 100));
      return [...list.slice(index % 3), ...list.slice(0, index % 3)];
    };
    const started = performance.now();
    expect(await letThrough(90, orders)).toBe(90);
    // The database breaks up those that wait for each other, a second after it came to that.
    expect(performance.now() - started).toBeLessThan(20_000);
    expect(await letThrough(20, orders)).toBe(10);
  });

  it('keeps nobody waiting who has a log of their own, nor anybody else, while very many try', async () => {
    const [{ signIns, partners }] = stores;
    let ended = 0;
    const flood = Array.from({ length: 300 }, async (_, index) => {
      await signIns.take([all(), account(`partner ${index}`)]);
      ended += 1;
    });
    expect(await signIns.take([browser('ana', 'hers'), codes('ana')])).toMatchObject({ kind: 'taken' });
    await partners.list();
    expect(ended).toBeLessThan(100);
    await Promise.all(flood);
  });

  it('refuses without waiting for whoever holds the logs', async () => {
    await letThrough(10, () => [all(), account('ana')]);
    const names = (await rows()).map(({ name }) => name);
    await site.database().relaxedAlone(names, async () => {
      expect(await logOf(0).take([all(), account('ana')])).toMatchObject({ kind: 'refused' });
    });
  });

  it('tells whoever asks that the database failed, and goes on when it works again', async () => {
    const { reader } = site.database();
    await sql`ALTER TABLE sign_in_log RENAME TO gone`.execute(reader);
    const failing = [0, 2].map(async (index) => await logOf(index).take([all(), account('ana')]));
    await Promise.all(failing.map(async (one) => await expect(one).rejects.toThrow(/sign_in_log/)));
    await sql`ALTER TABLE gone RENAME TO sign_in_log`.execute(reader);
    expect(await letThrough(20, () => [all(), account('ana')])).toBe(10);
  });

  it('is open again at the time that it names, and not a millisecond before', async () => {
    await letThrough(10, () => [browser('ana', 'hers'), codes('ana')]);
    site.clock.jump(WINDOW);
    expect(await letThrough(10, () => [browser('ana', 'hers'), codes('ana')])).toBe(5);
    site.clock.jump(1_000);
    const attempt = [browser('ana', 'hers'), codes('ana')];
    // Five are left in the browser, and none of the codes: an hour after the first of them.
    const refused = await logOf(1).take(attempt);
    const retryAfterMs = HOUR - WINDOW - 1_000;
    expect(refused).toMatchObject({ kind: 'refused', by: { kind: 'codes', limit: 15, retryAfterMs } });
    site.clock.jump(retryAfterMs - 1);
    expect(await logOf(0).take(attempt)).toMatchObject({ kind: 'refused', by: { retryAfterMs: 1 } });
    site.clock.jump(1);
    expect(await logOf(1).take(attempt)).toMatchObject({ kind: 'taken' });
  });

  it('names the limit that refuses for longest', async () => {
    const both = [browser('ana', 'hers'), codes('ana')];
    await letThrough(5, () => [codes('ana')]);
    await letThrough(10, () => both);
    for (const attempt of [both, both.toReversed()])
      expect(await logOf(0).take(attempt)).toMatchObject({ by: { kind: 'codes', retryAfterMs: HOUR } });
  });

  it('gives places back through whatever instance, each once, and none that others took', async () => {
    const taken = [];
    for (let index = 0; index < 10; index += 1) {
      const verdict = await logOf(index).take([all(), account('ana')]);
      if (verdict.kind === 'taken') taken.push(verdict.places);
    }
    expect(taken).toHaveLength(10);
    await Promise.all(
      taken.slice(0, 4).map(async (places, index) => await logOf(index + 1).giveBack(places)),
    );
    expect(await letThrough(20, () => [all(), account('ana')])).toBe(4);
    expect(await letThrough(60, (index) => [all(), account(`${index}`)])).toBe(50);
    // Long after it counted, and after it was forgotten.
    site.clock.jump(WINDOW);
    expect(await letThrough(20, () => [all(), account('ana')])).toBe(10);
    for (const places of taken) await stores[0].signIns.giveBack(places);
    expect(await letThrough(20, () => [all(), account('ana')])).toBe(0);
    site.clock.jump(WINDOW);
    await stores[0].prune();
    for (const places of taken) await stores[0].signIns.giveBack(places);
    expect(await rows()).toEqual([]);
  });

  it('is not forgiven by a restart', async () => {
    expect(await letThrough(10, () => [all(), account('ana')])).toBe(10);
    for (const one of stores) await one[Symbol.asyncDispose]();
    stores = [await site.open(), await site.open()];
    expect(await letThrough(10, () => [all(), account('ana')])).toBe(0);
    expect(await letThrough(60, (index) => [all(), account(`${index}`)])).toBe(50);
  });

  it('decides as plain lists do, in two instances that are opened again', async () => {
    const steps = fc.array(
      fc.record({
        waitMs: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: WINDOW })),
        instance: fc.nat(1),
        name: fc.constantFrom('ana', 'ben'),
        succeeds: fc.boolean(),
      }),
      { maxLength: 30 },
    );
    let rounds = 0;
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 4 }), steps, async (limit, list) => {
        rounds += 1;
        const kept: { readonly name: string; readonly at: number }[] = [];
        for (const [index, { waitMs, instance, name, succeeds }] of list.entries()) {
          site.clock.jump(waitMs);
          if (index === 15) stores = [await site.open(), stores[0]];
          const now = site.clock.now();
          const counting = kept.filter(({ at }) => at > now - WINDOW);
          const ofName = counting.filter((one) => one.name === name);
          const verdict = await logOf(instance).take([
            { ...all(limit + 1), of: [`${rounds}`] },
            account(`${name} ${rounds}`, limit),
          ]);
          expect(verdict.kind).toBe(
            counting.length < limit + 1 && ofName.length < limit ? 'taken' : 'refused',
          );
          if (verdict.kind === 'refused') continue;
          if (succeeds) await logOf(instance + 1).giveBack(verdict.places);
          else kept.push({ name, at: now });
        }
      }),
      { numRuns: 12 },
    );
  });

  it('holds nothing that anybody typed, nor a hash that can be made without the key of the service', async () => {
    const limits = [all(), account('ana@example.com'), browser('ana@example.com', 'cookie-1')];
    await stores[0].signIns.take([...limits, codes('acct_1')]);
    const stored = await rows();
    expect(stored).toHaveLength(4);
    expect(JSON.stringify(stored)).not.toMatch(/ana@|@example|example\.com|cookie-1|acct_1/);
    const other = createSignInLog(site.database(), createKeyedHash(randomBytes(32)));
    await other.take([...limits, codes('acct_1')]);
    expect(new Set((await rows()).map(({ name }) => name)).size).toBe(8);
  });

  it('keeps a log while it counts, and no longer', async () => {
    await letThrough(1, () => [all(), account('ana'), codes('ana')]);
    site.clock.jump(WINDOW - 1);
    await stores[1].prune();
    expect(await rows()).toHaveLength(3);
    site.clock.jump(1);
    await stores[1].prune();
    expect((await rows()).map(({ name }) => name.split(' ')[0])).toEqual(['codes']);
    site.clock.jump(HOUR - WINDOW);
    await stores[1].prune();
    expect(await rows()).toEqual([]);
  });

  it.runIf(kind === 'postgres')(
    'is forgotten without waiting for an attempt that is being counted',
    async () => {
      await letThrough(1, () => [all(), account('ana')]);
      site.clock.jump(WINDOW);
      await site.database().write(async (trx) => {
        await trx.updateTable('sign_in_log').set({ times: '[]' }).where('name', 'like', 'all %').execute();
        await stores[0].prune();
      });
      expect((await rows()).map(({ name }) => name.split(' ')[0])).toEqual(['all']);
    },
  );

  it('is exact while logs are forgotten', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `partner ${index}`);
    for (let round = 0; round < 3; round += 1) {
      const attempts = letThrough(200, (index) => [account(names[index % 20] ?? '', 3)]);
      const pruning = Promise.all(Array.from({ length: 10 }, async (_, index) => await logOf(index).prune()));
      expect(await attempts).toBe(60);
      await pruning;
      site.clock.jump(WINDOW);
    }
  });

  it('is measured by one clock: that of the database server, where instances have several', async () => {
    const own = await site.open({ sharedClock: undefined });
    const before = Date.now();
    const verdict = await own.signIns.take([account('ana')]);
    const at = verdict.kind === 'taken' ? verdict.places.at : 0;
    // The test's clock stands in 2023.
    if (kind === 'sqlite') expect(at).toBe(site.clock.now());
    else expect(Math.abs(at - before)).toBeLessThan(60_000);
  });
});
