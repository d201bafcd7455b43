import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DestinationError, RepositoryError } from '../../../src/base/errors.ts';
import type { Destination } from '../../../src/destination/destination.ts';
import { createMemoryDestination } from '../../../src/destination/memory.ts';
import { LEASE_TIMES, listLeases } from '../../../src/repository/lease-objects.ts';
import { liveSessions } from '../../../src/repository/live-sessions.ts';
import type { Lease } from '../../../src/repository/lease.ts';
import { acquirePruneLease, openSession } from '../../../src/repository/take-lease.ts';
import { createRepository, openRepository } from '../../../src/repository/opening.ts';
import type { Repository } from '../../../src/repository/repository.ts';
import { faultyDestination } from '../../support/faulty-destination.ts';
import { manualClock, settle, type ManualClock } from '../../support/manual-clock.ts';

const secret = { kind: 'machine' as const, secret: randomBytes(32) };
const { signal } = new AbortController();
let clock: ManualClock;
let destination: Destination;
let repository: Repository;
const held: Lease[] = [];

beforeEach(async () => {
  clock = manualClock();
  destination = createMemoryDestination(() => clock.now());
  repository = await createRepository(
    destination,
    { clock, stateDirectory: undefined, secrets: [{ secret, label: 'test' }], cost: { m: 64, t: 1, p: 1 } },
    signal,
  );
});

afterEach(async () => {
  for (const lease of held.splice(0)) await lease.release();
});

function keep(lease: Lease): Lease {
  held.push(lease);
  return lease;
}

/** Another process, with a view of its own of the same storage. */
async function elsewhere(through: Destination = destination): Promise<Repository> {
  return await openRepository(through, secret, { clock, stateDirectory: undefined }, signal);
}

/** The storage as one that cannot say who created a key first: a put replaces what is there. */
function lastWins(before: (key: string) => Promise<void> = async () => {}): Destination {
  return {
    ...destination,
    properties: { ...destination.properties, conditionalCreate: false },
    put: async (key, body, own) => {
      await before(key);
      for (;;) {
        await destination.delete(key, own);
        try {
          return await destination.put(key, body, own);
        } catch (error) {
          if (!(error instanceof DestinationError) || error.kind !== 'exists') throw error;
        }
      }
    },
  };
}

const YEARS = 10 * 365 * 86_400_000;
/** Lets what is under way come to its wait, and the wait be over. */
async function passWait(sleeping: number): Promise<void> {
  while (clock.sleeping() === sleeping) await settle();
  await clock.advance(LEASE_TIMES.expiry);
}

const unreachable = new DestinationError('unreachable', 'no network');

describe('the right to prune', () => {
  it('belongs to one process at a time, and the other is told who has it', async () => {
    keep(await acquirePruneLease(repository, {}, signal));
    const attempt = acquirePruneLease(await elsewhere(), {}, signal);
    await expect(attempt).rejects.toMatchObject({ code: 'REPOSITORY_LOCKED' });
    await expect(attempt).rejects.toThrow(`process ${process.pid}`);
  });

  it('is told as lost by who slept while taking it, when others took it and have finished', async () => {
    let slept = false;
    const sleepy: Destination = {
      ...destination,
      get: async (key, range, own) => {
        if (key.startsWith('leases/prune/') && !slept) {
          slept = true;
          clock.jump(LEASE_TIMES.expiry + 1_000);
          await (await acquirePruneLease(await elsewhere(), {}, signal)).release();
        }
        return await destination.get(key, range, own);
      },
    };
    await expect(acquirePruneLease(await elsewhere(sleepy), {}, signal)).rejects.toMatchObject({
      code: 'REPOSITORY_LOCKED',
      retry: 'later',
      message: expect.stringContaining('was lost') as unknown,
    });
    expect(await listLeases(repository, 'leases/prune/', signal)).toEqual([]);
  });

  it('belongs to one of several at most that take it at once, where a destination lets the last writer win', async () => {
    const rivals = [await elsewhere(lastWins()), await elsewhere(lastWins()), await elsewhere(lastWins())];
    const attempts = rivals.map(async (rival) => keep(await acquirePruneLease(rival, {}, signal)));
    const outcomes = await Promise.allSettled(attempts);
    const refused = outcomes.filter(({ status }) => status === 'rejected');
    expect(refused.length).toBeGreaterThanOrEqual(2);
    for (const one of refused) expect(one).toMatchObject({ reason: { code: 'REPOSITORY_LOCKED' } });
    const left = await listLeases(repository, 'leases/prune/', signal);
    expect(left).toHaveLength(outcomes.length - refused.length);
  });

  it('belongs to whoever stored first there, however late the lease of the other arrives', async () => {
    const arrived = Promise.withResolvers<void>();
    const slow = lastWins(async (key) => {
      if (key.startsWith('leases/prune/')) await arrived.promise;
    });
    const late = Promise.allSettled([acquirePruneLease(await elsewhere(slow), {}, signal)]);
    const first = keep(await acquirePruneLease(await elsewhere(lastWins()), {}, signal));
    arrived.resolve();
    expect((await late)[0]).toMatchObject({ status: 'rejected', reason: { code: 'REPOSITORY_LOCKED' } });
    await first.renew(signal);
    expect(first.lost).toBeUndefined();
  });

  it.each([
    { during: 'the look at the clock', nth: 1 },
    { during: 'the first list', nth: 2 },
    { during: 'the put of the lease', nth: 3 },
    { during: 'the look for rivals', nth: 4 },
  ])('leaves no object behind when it is given up during $during', async ({ nth }) => {
    const stop = new AbortController();
    let calls = 0;
    const count = (): void => {
      calls += 1;
      if (calls === nth) stop.abort();
    };
    const through: Destination = {
      ...destination,
      put: async (...given) => {
        const stored = await destination.put(...given);
        count();
        return stored;
      },
      list: (...given) => {
        count();
        return destination.list(...given);
      },
    };
    const attempt = acquirePruneLease(await elsewhere(through), {}, stop.signal);
    await expect(attempt).rejects.toMatchObject({ name: 'AbortError' });
    expect(calls).toBeGreaterThanOrEqual(nth);
    expect(await listLeases(repository, 'leases/', signal)).toEqual([]);
  });

  it('is free again after a release, which leaves no object behind', async () => {
    const lease = await acquirePruneLease(repository, {}, signal);
    await lease.release();
    expect(await listLeases(repository, 'leases/', signal)).toEqual([]);
    keep(await acquirePruneLease(await elsewhere(), {}, signal));
  });

  it('is kept by heartbeats beyond the time after which it would expire', async () => {
    keep(await acquirePruneLease(repository, {}, signal));
    await clock.advance(LEASE_TIMES.expiry * 3);
    await expect(acquirePruneLease(await elsewhere(), {}, signal)).rejects.toThrow(RepositoryError);
    expect(await listLeases(repository, 'leases/prune/', signal)).toHaveLength(1);
  });

  it("is taken over five minutes after the last sign of life, by the storage's clock", async () => {
    using dead = faultyDestination(destination, [
      { on: 'put', under: 'leases/prune/', nth: 2, times: 1_000, fault: 'fail', error: unreachable },
    ]);
    const lost: Error[] = [];
    const first = keep(
      await acquirePruneLease(await elsewhere(dead), { onLost: (error) => lost.push(error) }, signal),
    );
    await clock.advance(LEASE_TIMES.expiry - 1_000);
    await expect(acquirePruneLease(await elsewhere(), {}, signal)).rejects.toThrow(
      'last sign of life 299 s ago',
    );
    await clock.advance(2_000);
    const second = keep(await acquirePruneLease(await elsewhere(), {}, signal));
    expect(second.epoch).toBeGreaterThan(first.epoch);
    expect(lost).toHaveLength(1);
    await expect(first.assertHeld(signal)).rejects.toThrow('The right to prune was lost');
  });

  it('is taken over from a process that died before the clock of the storage was set back', async () => {
    using dead = faultyDestination(destination, [
      { on: 'put', under: 'leases/prune/', nth: 2, times: 1_000, fault: 'fail', error: unreachable },
    ]);
    clock.jump(YEARS);
    keep(await acquirePruneLease(await elsewhere(dead), {}, signal));
    clock.jump(-YEARS);
    const sleeping = clock.sleeping();
    const taking = acquirePruneLease(repository, {}, signal);
    await passWait(sleeping);
    const taken = keep(await taking);
    expect(await listLeases(repository, 'leases/prune/', signal)).toMatchObject([{ epoch: taken.epoch }]);
  });

  it('is not taken over from one that goes on after the clock of the storage was set back', async () => {
    clock.jump(YEARS);
    const holder = keep(await acquirePruneLease(await elsewhere(), {}, signal));
    clock.jump(-YEARS);
    const sleeping = clock.sleeping();
    const refused = expect(acquirePruneLease(repository, {}, signal)).rejects.toMatchObject({
      code: 'REPOSITORY_LOCKED',
    });
    await passWait(sleeping);
    await refused;
    await holder.assertHeld(signal);
  });

  it('is given up before others may take it, when heartbeats fail', async () => {
    using dead = faultyDestination(destination, [
      { on: 'put', under: 'leases/prune/', nth: 2, times: 1_000, fault: 'fail', error: unreachable },
    ]);
    const lease = keep(await acquirePruneLease(await elsewhere(dead), {}, signal));
    await clock.advance(LEASE_TIMES.giveUp - 1_000);
    expect(lease.lost).toBeUndefined();
    await clock.advance(1_000);
    expect(lease.lost).toBeDefined();
  });

  it('survives heartbeats that fail for a while', async () => {
    using shaky = faultyDestination(destination, [
      { on: 'put', under: 'leases/prune/', nth: 2, times: 2, fault: 'fail', error: unreachable },
    ]);
    const lease = keep(await acquirePruneLease(await elsewhere(shaky), {}, signal));
    await clock.advance(LEASE_TIMES.heartbeat * 5);
    expect(lease.lost).toBeUndefined();
    await lease.assertHeld(signal);
  });

  it('survives a heartbeat whose confirmation is lost', async () => {
    using shaky = faultyDestination(destination, [
      { on: 'put', under: 'leases/prune/', nth: 2, fault: 'lose-reply', error: unreachable },
    ]);
    const lease = keep(await acquirePruneLease(await elsewhere(shaky), {}, signal));
    await clock.advance(LEASE_TIMES.heartbeat * 3);
    expect(lease.lost).toBeUndefined();
    expect(await listLeases(repository, 'leases/prune/', signal)).toHaveLength(1);
  });

  it('is checked anew after the machine was asleep, and found lost when another took it meanwhile', async () => {
    const lease = keep(await acquirePruneLease(repository, {}, signal));
    // Asleep: the wall clock and the storage go on, the process does not.
    clock.jump(LEASE_TIMES.expiry + 1_000);
    const other = await acquirePruneLease(await elsewhere(), {}, signal);
    await expect(lease.assertHeld(signal)).rejects.toMatchObject({ code: 'REPOSITORY_LOCKED' });
    await other.release();
  });

  it('is found lost after a sleep even when the other has finished and gone', async () => {
    const lease = keep(await acquirePruneLease(repository, {}, signal));
    clock.jump(LEASE_TIMES.expiry + 1_000);
    await (await acquirePruneLease(await elsewhere(), {}, signal)).release();
    await expect(lease.assertHeld(signal)).rejects.toMatchObject({ code: 'REPOSITORY_LOCKED' });
  });

  it('goes on after a sleep during which nobody took it', async () => {
    const lease = keep(await acquirePruneLease(repository, {}, signal));
    const { epoch } = lease;
    clock.jump(3_600_000);
    await lease.assertHeld(signal);
    expect(lease.epoch).toBe(epoch + 1);
    expect(lease.storageMs).toBe(clock.now());
  });

  it('is checked anew when the machine slept while it waited for the answer to a heartbeat', async () => {
    let sleepMs = 0;
    const sleepy: Destination = {
      ...destination,
      put: async (...given) => {
        const stored = await destination.put(...given);
        clock.jump(sleepMs);
        sleepMs = 0;
        return stored;
      },
    };
    const lease = keep(await acquirePruneLease(await elsewhere(sleepy), {}, signal));
    sleepMs = 3_600_000;
    await lease.renew(signal);
    expect(lease.storageMs).toBe(clock.now() - 3_600_000);
    await lease.assertHeld(signal);
    expect(lease.storageMs).toBe(clock.now());
  });

  it('costs no call while nothing is suspicious', async () => {
    const lease = keep(await acquirePruneLease(repository, {}, signal));
    const { epoch } = lease;
    for (let i = 0; i < 100; i += 1) await lease.assertHeld(signal);
    expect(lease.epoch).toBe(epoch);
  });

  it('has epochs above the floor, so that fences rise after releases', async () => {
    expect(keep(await acquirePruneLease(repository, { floor: 41 }, signal)).epoch).toBe(42);
  });

  it('goes to exactly one of several that try at the same time', async () => {
    for (let round = 0; round < 20; round += 1) {
      const rivals = await Promise.all([elsewhere(), elsewhere(), elsewhere()]);
      const results = await Promise.allSettled(
        rivals.map(async (rival) => await acquirePruneLease(rival, {}, signal)),
      );
      const won = results.filter((result) => result.status === 'fulfilled');
      expect(won.length).toBeLessThanOrEqual(1);
      for (const { value } of won) await value.release();
      await settle();
      expect(await listLeases(repository, 'leases/prune/', signal)).toEqual([]);
    }
  });

  it('is released at the end of a block', async () => {
    {
      await using lease = await acquirePruneLease(repository, {}, signal);
      expect(lease.lost).toBeUndefined();
    }
    expect(await listLeases(repository, 'leases/', signal)).toEqual([]);
  });
});

describe('backup sessions', () => {
  it('are seen by others with the time they began, however long they last', async () => {
    const beganMs = clock.now();
    const session = keep(await openSession(repository, {}, signal));
    await clock.advance(LEASE_TIMES.heartbeat * 10 + 5);
    const [seen, ...others] = await liveSessions(await elsewhere(), clock.now(), signal);
    expect(others).toEqual([]);
    expect(seen).toMatchObject({ startedMs: beganMs, pid: process.pid, session: session.purpose.slice(8) });
    expect(session.startedMs).toBe(beganMs);
  });

  it('are seen though a list misses a lease that is replaced while the list is made', async () => {
    const session = keep(await openSession(repository, {}, signal));
    let lists = 0;
    const missing: Destination = {
      ...destination,
      async *list(prefix, during) {
        const isFirst = prefix === 'leases/session.' && (lists += 1) === 1;
        for await (const page of destination.list(prefix, during))
          yield isFirst ? page.filter(({ key }) => !key.includes(session.purpose)) : page;
      },
    };
    const [seen] = await liveSessions(await elsewhere(missing), clock.now(), signal);
    expect(seen?.session).toBe(session.purpose.slice('session.'.length));
    expect(lists).toBe(2);
  });

  it('are forgotten five minutes after their last heartbeat', async () => {
    const session = await openSession(repository, {}, signal);
    const nowMs = clock.now();
    expect(await liveSessions(repository, nowMs + LEASE_TIMES.expiry, signal)).toHaveLength(1);
    expect(await liveSessions(repository, nowMs + LEASE_TIMES.expiry + 1, signal)).toEqual([]);
    await session.release();
    expect(await liveSessions(repository, nowMs, signal)).toEqual([]);
  });

  it('of a storage whose clock was set back are forgotten when no heartbeat comes, and not before', async () => {
    using dead = faultyDestination(destination, [
      { on: 'put', under: 'leases/session.', nth: 2, times: 1_000, fault: 'fail', error: unreachable },
    ]);
    clock.jump(YEARS);
    keep(await openSession(await elsewhere(dead), {}, signal));
    const living = keep(await openSession(repository, {}, signal));
    clock.jump(-YEARS);
    const observer = await elsewhere();
    const sleeping = clock.sleeping();
    const looking = liveSessions(observer, clock.now(), signal);
    await passWait(sleeping);
    const session = living.purpose.slice('session.'.length);
    expect((await looking).map((one) => one.session)).toEqual([session]);
    // That it is dead is known from then on.
    expect(await liveSessions(observer, clock.now(), signal)).toHaveLength(1);
  });

  it('count as begun at any time when their lease cannot be read', async () => {
    keep(await openSession(repository, {}, signal));
    using broken = faultyDestination(destination, [
      { on: 'get', under: 'leases/session.', fault: 'flip-bit', bit: 900 },
    ]);
    const [seen] = await liveSessions(await elsewhere(broken), clock.now(), signal);
    expect(seen?.startedMs).toBe(0);
  });
});
