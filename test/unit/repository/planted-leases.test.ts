/** Leases that whoever has a write-only key makes, or stores again: none of them is the right to prune, or holds it up for ever. */
import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Destination } from '../../../src/destination/destination.ts';
import { createMemoryDestination } from '../../../src/destination/memory.ts';
import { encodeCbor } from '../../../src/format/cbor.ts';
import { OBJECT_TYPES } from '../../../src/format/header.ts';
import { sealObject } from '../../../src/repository/objects/objects.ts';
import type { Secret } from '../../../src/repository/slots/key-slots.ts';
import { addKey, removeKey, rotateKeys } from '../../../src/repository/keys/keys.ts';
import { LEASE_TIMES, leaseContext, leaseKey, listLeases } from '../../../src/repository/lease-objects.ts';
import { liveSessions } from '../../../src/repository/live-sessions.ts';
import { acquirePruneLease, openSession } from '../../../src/repository/take-lease.ts';
import { SILENT_PRUNE, prune } from '../../../src/repository/prune/prune.ts';
import { recover } from '../../../src/repository/check/recover.ts';
import { SILENT_REKEY, rekey } from '../../../src/repository/renew/rekey.ts';
import { createRepository, openRepository } from '../../../src/repository/opening.ts';
import type { Repository } from '../../../src/repository/repository.ts';
import { putTombstone } from '../../../src/repository/put-tombstone.ts';
import { forgetSnapshots } from '../../../src/repository/snapshots.ts';
import { hookedDestination } from '../../support/hooked-destination.ts';
import { manualClock, type ManualClock } from '../../support/manual-clock.ts';
import { tinyBackup } from '../../support/tiny-archiver.ts';
import { thiefWith, type Thief } from '../../support/write-only-thief.ts';

const HOUR = 3_600_000;
const GRACE = 72 * HOUR;
const { signal } = new AbortController();
const cost = { m: 64, t: 1, p: 1 };
const secret: Secret = { kind: 'machine', secret: randomBytes(32) };

let clock: ManualClock;
let destination: Destination;
let repository: Repository;
let slot: string;
let thief: Thief;
/** By how much the storage's clock is ahead. */
let ahead: number;

beforeEach(async () => {
  clock = manualClock();
  ahead = 0;
  destination = createMemoryDestination(() => clock.now() + ahead);
  const options = { clock, stateDirectory: undefined, allowWeakCost: true };
  repository = await createRepository(
    destination,
    { ...options, secrets: [{ secret, label: 'test' }], cost },
    signal,
  );
  const stolen: Secret = { kind: 'write-only', secret: randomBytes(32) };
  ({ slot } = await addKey(repository, { secret: stolen, label: 'server', cost }, signal));
  thief = thiefWith(await openRepository(destination, stolen, options, signal));
});

async function elsewhere(through = destination): Promise<Repository> {
  const options = { clock, stateDirectory: undefined, allowWeakCost: true };
  return await openRepository(through, secret, options, signal);
}

async function epochs(): Promise<readonly number[]> {
  return (await listLeases(repository, 'leases/prune/', signal)).map(({ epoch }) => epoch);
}

describe('the right to prune', () => {
  it('is not what nobody has signed, whatever its epoch, and goes away with the next prune', async () => {
    for (const epoch of [1, 2, 3, 900_000_000_000_000, 999_999_999_999_999])
      await thief.lease('prune', epoch);
    await destination.put('leases/prune/9999999999999999', randomBytes(200), signal);
    await using lease = await acquirePruneLease(repository, {}, signal);
    expect(lease.epoch).toBe(4);
    expect(await epochs()).toEqual([4]);
    await expect(acquirePruneLease(await elsewhere(), {}, signal)).rejects.toMatchObject({
      code: 'REPOSITORY_LOCKED',
    });
  });

  it('goes on past what is put in the way of its next signs of life', async () => {
    await using lease = await acquirePruneLease(repository, {}, signal);
    for (let n = 1; n <= 8; n += 1) await thief.lease('prune', lease.epoch + n);
    await lease.renew(signal);
    await lease.renew(signal);
    expect(lease.lost).toBeUndefined();
    await expect(acquirePruneLease(await elsewhere(), {}, signal)).rejects.toMatchObject({
      code: 'REPOSITORY_LOCKED',
    });
  });

  it('is not what was signed once and is stored again when its time is over', async () => {
    const kept = new Map<string, Buffer>();
    {
      await using lease = await acquirePruneLease(repository, {}, signal);
      for (let n = 0; n < 5; n += 1) {
        const key = leaseKey('prune', lease.epoch);
        kept.set(key, await destination.get(key, undefined, signal));
        await lease.renew(signal);
      }
    }
    await clock.advance(LEASE_TIMES.expiry + 1_000);
    for (const [key, bytes] of kept) await thief.again(key, bytes);
    await using lease = await acquirePruneLease(repository, {}, signal);
    expect(lease.lost).toBeUndefined();
    // Nor does it take the right away from whoever has it.
    for (const [key, bytes] of kept) if (!(await isThere(key))) await thief.again(key, bytes);
    await lease.renew(signal);
    expect(lease.lost).toBeUndefined();
  });

  it('belongs to one at a time, however long it takes to look at what was put there', async () => {
    await thief.lease('prune', 7);
    let isFirst = true;
    const slow = hookedDestination(destination, {
      get: async (key) => {
        if (!key.startsWith('leases/prune/') || !isFirst) return;
        isFirst = false;
        await clock.advance(LEASE_TIMES.expiry + 60_000);
      },
    });
    await using lease = await acquirePruneLease(await elsewhere(slow), {}, signal);
    expect(isFirst).toBe(false);
    await expect(acquirePruneLease(repository, {}, signal)).rejects.toMatchObject({
      code: 'REPOSITORY_LOCKED',
    });
    await lease.renew(signal);
    expect(lease.lost).toBeUndefined();
  });

  it('is not what came to the storage too late to be one, and leaves nothing there', async () => {
    const late = hookedDestination(destination, {
      put: async (key) => {
        // The storage's own clock goes on, this machine's stands still.
        if (key.startsWith('leases/prune/')) ahead += LEASE_TIMES.expiry + 60_000;
      },
    });
    await expect(acquirePruneLease(await elsewhere(late), {}, signal)).rejects.toMatchObject({
      code: 'REPOSITORY_LOCKED',
    });
    expect(ahead).toBeGreaterThan(0);
    expect(await epochs()).toEqual([]);
  });

  it('is nothing that opens with no key of the repository, and no lease whose bytes were spoiled on their way is that', async () => {
    destination = createMemoryDestination(() => clock.now());
    const options = { clock, stateDirectory: undefined, allowWeakCost: true };
    const secrets = [{ secret, label: 'test' }];
    await createRepository(destination, { ...options, secrets, cost }, signal);
    await destination.put('leases/prune/0000000000000009', randomBytes(200), signal);
    await using lease = await acquirePruneLease(await elsewhere(), {}, signal);
    await destination.put('leases/prune/0000000000000099', randomBytes(200), signal);
    await lease.renew(signal);
    expect(lease.lost).toBeUndefined();
    const spoiled = new Set<string>();
    const noisy: Destination = {
      ...destination,
      get: async (key, ...rest) => {
        const bytes = await destination.get(key, ...rest);
        if (!key.startsWith('leases/prune/') || spoiled.has(key)) return bytes;
        spoiled.add(key);
        return randomBytes(bytes.length);
      },
    };
    await expect(acquirePruneLease(await elsewhere(noisy), {}, signal)).rejects.toMatchObject({
      code: 'REPOSITORY_LOCKED',
    });
    expect(spoiled.size).toBeGreaterThan(0);
  });

  it.each([
    { by: 'a preview, which signed none', record: { v: 1 } },
    { by: 'a later version', record: { v: 2 } },
  ])('is with $by, too, where only those who can sign have keys', async ({ record }) => {
    destination = createMemoryDestination(() => clock.now());
    const options = { clock, stateDirectory: undefined, allowWeakCost: true };
    const secrets = [{ secret, label: 'test' }];
    const { keys } = await createRepository(destination, { ...options, secrets, cost }, signal);
    const facts = { ...record, writer: Buffer.alloc(16, 1), nonce: Buffer.alloc(8, 2), host: 'old', pid: 1 };
    const plain = encodeCbor({ ...facts, started: 0 });
    const { bytes } = sealObject(keys, OBJECT_TYPES.lease, leaseContext('prune', 9), plain);
    await destination.put(leaseKey('prune', 9), bytes, signal);
    await expect(acquirePruneLease(await elsewhere(), {}, signal)).rejects.toMatchObject({
      code: 'REPOSITORY_LOCKED',
    });
  });

  it('has epochs that a fence from an attack of before does not carry away', async () => {
    const fence = 9_007_199_254_740_990;
    const record = { kind: 'snapshots' as const, names: [], reason: 'before', atMs: 1, fence };
    await putTombstone(repository, record, { live: 0 }, signal);
    await prune(repository, {}, SILENT_PRUNE, signal);
    await prune(repository, {}, SILENT_PRUNE, signal);
    expect(await epochs()).toEqual([]);
  });
});

async function isThere(key: string): Promise<boolean> {
  return await destination.stat(key, signal).then(
    () => true,
    () => false,
  );
}

describe('a backup session', () => {
  it('goes on past what others put in the way of its next signs of life', async () => {
    const host = await elsewhere();
    await using session = await openSession(host, {}, signal);
    for (const epoch of [2, 3, 4, 5, 6]) await thief.lease(session.purpose, epoch);
    await thief.lease(session.purpose, 900_000_000_000_000);
    await session.renew(signal);
    expect(session.lost).toBeUndefined();
    await clock.advance(4 * LEASE_TIMES.expiry);
    const live = await liveSessions(repository, clock.now(), signal);
    expect(live.map((one) => `session.${one.session}`)).toEqual([session.purpose]);
  });

  it('is not hidden by what is put beside it, under keys that count no more', async () => {
    const host = await elsewhere();
    await using session = await openSession(host, {}, signal);
    const planted = await thief.lease(session.purpose, 900_000_000_000_000);
    await removeKey(repository, slot, signal);
    await clock.advance(GRACE + HOUR);
    await session.renew(signal);
    await destination.delete(planted, signal);
    await clock.advance(1_000);
    await thief.lease(session.purpose, 900_000_000_000_000);
    const live = await liveSessions(repository, clock.now(), signal);
    expect(live).toMatchObject([
      { session: session.purpose.slice('session.'.length), host: expect.any(String) },
    ]);
    expect(live[0]).not.toMatchObject({ host: 'planted' });
  });

  it('holds as much up as it does by itself, whatever is said of it beside its lease', async () => {
    const old = await tinyBackup(repository, { file: randomBytes(20_000) }, {}, signal);
    await using session = await openSession(await elsewhere(), {}, signal);
    await forgetSnapshots(repository, [old.id], 'test', signal);
    const began = clock.now();
    await clock.advance(120_000);
    await session.renew(signal);
    await thief.lease(session.purpose, 900_000_000_000_000, 8e15);
    const [live] = await liveSessions(repository, clock.now(), signal);
    expect(live?.startedMs).toBeLessThanOrEqual(began);
  });

  it('is seen though its lease is replaced while planted ones are read', async () => {
    const host = await elsewhere();
    const session = await openSession(host, {}, signal);
    const old = await thief.lease(session.purpose, 900_000_000_000_000);
    const bytes = await destination.get(old, undefined, signal);
    await removeKey(repository, slot, signal);
    await clock.advance(GRACE + HOUR);
    await session.renew(signal);
    let isFirst = true;
    const busy = hookedDestination(destination, {
      get: async (key) => {
        if (!key.startsWith(`leases/${session.purpose}/`) || !isFirst) return;
        isFirst = false;
        await session.renew(signal);
        await clock.advance(1_000);
        await destination.put(leaseKey(session.purpose, 900_000_000_000_001), bytes, signal);
      },
    });
    const live = await liveSessions(await elsewhere(busy), clock.now(), signal);
    expect(isFirst).toBe(false);
    expect(live.map((one) => `session.${one.session}`)).toEqual([session.purpose]);
    await session.release();
  });

  it('costs whoever looks for it a few round trips, however many leases are put beside it', async () => {
    await using session = await openSession(await elsewhere(), {}, signal);
    for (let n = 0; n < 200; n += 1) await thief.lease(session.purpose, 1_000 + n);
    await removeKey(repository, slot, signal);
    await clock.advance(GRACE + HOUR);
    await session.renew(signal);
    for (let n = 0; n < 200; n += 1) await thief.lease(session.purpose, 2_000 + n);
    let rings = 0;
    const counting = hookedDestination(destination, {
      get: (key) => {
        if (key.startsWith('keys/ring-')) rings += 1;
      },
    });
    const host = await elsewhere(counting);
    rings = 0;
    expect(await liveSessions(host, clock.now(), signal)).toHaveLength(1);
    expect(rings).toBeLessThan(10);
  });

  it('gives its signs of life whatever is put among the keyrings', async () => {
    for (let n = 1_000; n < 1_500; n += 1) await destination.put(`keys/ring-${n}`, randomBytes(99), signal);
    let asked = 0;
    const slow = hookedDestination(destination, {
      get: (key) => {
        if (key.startsWith('keys/ring-')) asked += 1;
      },
    });
    await using session = await openSession(await elsewhere(slow), {}, signal);
    asked = 0;
    for (let n = 0; n < 3; n += 1) {
      await session.renew(signal);
      await clock.advance(60_000);
    }
    expect(asked).toBe(0);
    expect(session.longestSilenceMs).toBeLessThan(LEASE_TIMES.giveUp);
  });

  it('goes on under the keys that are new, so that it counts when the old ones are over', async () => {
    const host = await elsewhere();
    await using session = await openSession(host, {}, signal);
    await rotateKeys(repository, signal);
    for (let hours = 0; hours <= GRACE / HOUR; hours += 1) {
      await clock.advance(HOUR);
      await session.renew(signal);
    }
    const live = await liveSessions(await elsewhere(), clock.now(), signal);
    expect(live.map((one) => `session.${one.session}`)).toEqual([session.purpose]);
    expect(session.lost).toBeUndefined();
  });

  it('that is made up holds prune up while its key is in use, and not when the grace period since then is over', async () => {
    const gone = await tinyBackup(repository, { file: randomBytes(20_000) }, {}, signal);
    await tinyBackup(repository, { file: randomBytes(20_000) }, {}, signal);
    await forgetSnapshots(repository, [gone.id], 'test', signal);
    await clock.advance(HOUR);
    let epoch = 0;
    const purpose = `session.${'cd'.repeat(8)}`;
    const again = async (): Promise<string> => await thief.lease(purpose, (epoch += 1));
    await again();
    expect((await prune(repository, {}, SILENT_PRUNE, signal)).markedPacks).toBe(0);
    await removeKey(repository, slot, signal);
    await clock.advance(GRACE - HOUR);
    await again();
    expect((await prune(repository, {}, SILENT_PRUNE, signal)).markedPacks).toBe(0);
    await clock.advance(2 * HOUR);
    await again();
    expect((await prune(repository, {}, SILENT_PRUNE, signal)).markedPacks).toBeGreaterThan(0);
    // Nor does it keep the old keys.
    await rekey(repository, {}, SILENT_REKEY, signal);
    await clock.advance(GRACE + HOUR);
    await prune(repository, {}, SILENT_PRUNE, signal);
    await again();
    const { retired } = await rekey(repository, {}, SILENT_REKEY, signal);
    expect(retired).toEqual([{ generation: 1, outcome: 'retired' }]);
  });

  it('of older keys is taken away at once by recover, once the key is removed', async () => {
    const key = await thief.lease(`session.${'cd'.repeat(8)}`, 7);
    expect((await recover(repository, signal)).removed).toEqual([]);
    await removeKey(repository, slot, signal);
    expect((await recover(repository, signal)).removed).toEqual([key]);
  });
});
