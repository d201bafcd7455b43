import { randomBytes } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { systemClock, type Clock } from '../../../src/base/clock.ts';
import { DestinationError, RepositoryError } from '../../../src/base/errors.ts';
import type { Destination } from '../../../src/destination/destination.ts';
import { createMemoryDestination } from '../../../src/destination/memory.ts';
import { createSlot, type Secret } from '../../../src/repository/slots/key-slots.ts';
import { addKey, listKeys, removeKey, replaceKey, rotateKeys } from '../../../src/repository/keys/keys.ts';
import { acquirePruneLease } from '../../../src/repository/take-lease.ts';
import { replaceRing } from '../../../src/repository/keys/replace-ring.ts';
import { createRepository, openRepository } from '../../../src/repository/opening.ts';
import type { Repository } from '../../../src/repository/repository.ts';
import { getCopy } from '../../../src/repository/objects/second-copies.ts';
import { listSnapshots } from '../../../src/repository/snapshots.ts';
import { faultyDestination } from '../../support/faulty-destination.ts';
import { hookedDestination } from '../../support/hooked-destination.ts';
import { tinyBackup } from '../../support/tiny-archiver.ts';

const { signal } = new AbortController();
const cost = { m: 64, t: 1, p: 1 };
const machine: Secret = { kind: 'machine', secret: randomBytes(32) };
const first: Secret = { kind: 'passphrase', text: 'first' };
const second: Secret = { kind: 'passphrase', text: 'second' };
let destination: Destination;
let repository: Repository;

beforeEach(async () => {
  destination = createMemoryDestination();
  const secrets = [
    { secret: first, label: 'first' },
    { secret: machine, label: 'this host' },
  ];
  repository = await createRepository(
    destination,
    { clock: systemClock, stateDirectory: undefined, secrets, cost },
    signal,
  );
});

async function open(secret: Secret, from: Destination = destination): Promise<Repository> {
  return await openRepository(
    from,
    secret,
    { clock: systemClock, stateDirectory: undefined, allowWeakCost: true },
    signal,
  );
}

async function slotOf(label: string, of: Repository = repository): Promise<string> {
  const found = (await listKeys(of, signal)).find((key) => key.label === label);
  if (found === undefined) throw new Error(`there is no key ${label}`);
  return found.slot;
}

const newKey = { secret: second, label: 'second', cost };

const passphrase = (text: string): Secret => ({ kind: 'passphrase', text });

describe('a passphrase', () => {
  it('that is added opens, however many there are before it', async () => {
    const texts = ['third', 'fourth', 'fifth', 'sixth'];
    for (const text of ['second', ...texts])
      await addKey(repository, { secret: passphrase(text), label: text, cost }, signal);
    for (const text of ['first', 'second', ...texts])
      expect((await open(passphrase(text))).id).toBe(repository.id);
  });

  it('that replaces another opens, however often that was broken off before', async () => {
    const unreachable = new DestinationError('unreachable', 'broken off');
    for (const text of ['new', 'new', 'other', 'other', 'another']) {
      using faulty = faultyDestination(destination, [
        { on: 'put', under: 'keys/ring-2', fault: 'fail', error: unreachable },
      ]);
      const broken = await open(first, faulty);
      const slot = await slotOf('first', broken);
      const key = { secret: passphrase(text), label: text, cost };
      await expect(replaceKey(broken, slot, key, signal)).rejects.toThrow('broken off');
    }
    const slot = await slotOf('first');
    await replaceKey(repository, slot, { secret: passphrase('new'), label: 'new', cost }, signal);
    expect((await open(passphrase('new'))).id).toBe(repository.id);
    await expect(open(first)).rejects.toMatchObject({ code: 'WRONG_PASSPHRASE' });
  });

  it('opens although somebody has planted older slots', async () => {
    for (let planted = 0; planted < 8; planted += 1) {
      const facts = { label: '', createdMs: 0, cost };
      const { known, file } = await createSlot(randomBytes(16), passphrase('x'), randomBytes(32), facts);
      await destination.put(`keys/${known.slot}`, file, signal);
    }
    expect((await open(first)).id).toBe(repository.id);
  });

  it('that would not open is refused and taken away again, and no other one for it', async () => {
    const lost = hookedDestination(destination, {
      put: async (key) => {
        if (/^copies\/keys\/[0-9a-f]{32}$/.test(key))
          await destination.delete(key.slice('copies/'.length), signal);
      },
    });
    const opened = await open(first, lost);
    const key = { secret: second, label: 'second', cost };
    const before = await slotOf('first');
    await expect(replaceKey(opened, before, key, signal)).rejects.toMatchObject({ code: 'REFUSED' });
    expect((await open(first)).ringNumber).toBe(1);
    expect(await listKeys(repository, signal)).toHaveLength(2);
  });

  it('whose slot asks for too much counts for nothing when another key is removed', async () => {
    const kit: Secret = { kind: 'recovery', secret: randomBytes(32) };
    const secrets = [
      { secret: kit, label: 'kit' },
      { secret: first, label: 'first' },
    ];
    const options = { clock: systemClock, stateDirectory: undefined, secrets, cost: { m: 64, t: 9, p: 1 } };
    const dear = await createRepository(createMemoryDestination(), options, signal);
    const removal = removeKey(dear, await slotOf('kit', dear), signal);
    await expect(removal).rejects.toMatchObject({ code: 'REFUSED' });
  });

  it('is not added where there are more slots than anybody reads', async () => {
    for (let planted = 0; planted < 62; planted += 1)
      await destination.put(`keys/${randomBytes(16).toString('hex')}`, Buffer.from('x'), signal);
    await expect(addKey(repository, newKey, signal)).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
    expect((await open(first)).ringNumber).toBe(1);
  });
});

describe('keys', () => {
  it('are changed whatever lies beside the keyrings under a name that none has', async () => {
    const ring = await destination.get('keys/ring-1', undefined, signal);
    await destination.put('keys/ring-0009', ring, signal);
    const { repository: changed } = await addKey(repository, newKey, signal);
    expect((await listKeys(changed, signal)).map(({ label }) => label)).toContain('second');
    expect((await open(second)).ringNumber).toBe(2);
  });

  it('are listed with what they are for and whether they are sound', async () => {
    const keys = await listKeys(repository, signal);
    expect(keys.map(({ kind, label, current, state }) => [kind, label, current, state])).toEqual([
      ['passphrase', 'first', true, 'sound'],
      ['machine', 'this host', false, 'sound'],
    ]);
    await destination.delete(`keys/${await slotOf('this host')}`, signal);
    expect((await listKeys(repository, signal)).map(({ state }) => state)).toEqual(['sound', 'missing']);
  });

  it('open what was stored before and after they were added', async () => {
    await tinyBackup(repository, { a: Buffer.from('before') }, {}, signal);
    const { repository: changed } = await addKey(repository, newKey, signal);
    await tinyBackup(changed, { a: Buffer.from('after') }, {}, signal);
    for (const secret of [first, second, machine]) {
      expect((await listSnapshots(await open(secret), signal)).live).toHaveLength(2);
    }
  });

  it('open nothing once they are removed, and never get to see the new generation of keys', async () => {
    const { repository: changed } = await addKey(repository, newKey, signal);
    const slot = await slotOf('first', changed);
    const { repository: after } = await removeKey(changed, slot, signal);
    await expect(open(first)).rejects.toMatchObject({ code: 'WRONG_PASSPHRASE' });
    expect(after.keyring.generations.map(({ g, state }) => [g, state])).toEqual([
      [1, 'old'],
      [2, 'current'],
    ]);
    const snapshot = await tinyBackup(after, { a: Buffer.from('sealed with generation 2') }, {}, signal);
    const bytes = await destination.get(`snapshots/${snapshot.id}`, undefined, signal);
    expect(bytes.readUInt32BE(8)).toBe(2);
    expect((await listSnapshots(await open(second), signal)).live).toHaveLength(1);
  });

  it('are changed by adding the new one before the old one goes', async () => {
    const { repository: changed } = await replaceKey(repository, await slotOf('first'), newKey, signal);
    expect((await listKeys(changed, signal)).map(({ label }) => label)).toEqual(['this host', 'second']);
    await expect(open(first)).rejects.toMatchObject({ code: 'WRONG_PASSPHRASE' });
    await open(second);
  });

  it('cannot be removed when no passphrase or recovery code would be left', async () => {
    const attempt = removeKey(repository, await slotOf('first'), signal);
    await expect(attempt).rejects.toMatchObject({ code: 'REFUSED' });
    await expect(removeKey(repository, 'f'.repeat(32), signal)).rejects.toMatchObject({ code: 'REFUSED' });
    await open(first);
  });

  it('do not count as left when their file is missing or damaged', async () => {
    const { repository: changed, slot } = await addKey(repository, newKey, signal);
    const file = await destination.get(`keys/${slot}`, undefined, signal);
    await destination.delete(`keys/${slot}`, signal);
    const remove = async (): Promise<unknown> =>
      await removeKey(changed, await slotOf('first', changed), signal);
    await expect(remove()).rejects.toMatchObject({ code: 'REFUSED' });
    file.writeUInt8(file.readUInt8(file.length - 1) ^ 1, file.length - 1);
    await destination.put(`keys/${slot}`, file, signal);
    await expect(remove()).rejects.toMatchObject({ code: 'REFUSED' });
  });

  it('of machines can go while a passphrase is left', async () => {
    await removeKey(repository, await slotOf('this host'), signal);
    await expect(open(machine)).rejects.toMatchObject({ code: 'WRONG_PASSPHRASE' });
    await open(first);
  });

  it('are changed on top of what another host has changed meanwhile', async () => {
    const elsewhere = await open(machine);
    await addKey(repository, { ...newKey, label: 'from here' }, signal);
    const { repository: changed } = await addKey(elsewhere, { ...newKey, label: 'from there' }, signal);
    expect(changed.ringNumber).toBe(3);
    expect((await listKeys(changed, signal)).map(({ label }) => label)).toEqual([
      'first',
      'this host',
      'from here',
      'from there',
    ]);
  });

  it('changed at the very same moment by two hosts are refused to one', async () => {
    const elsewhere = await open(machine);
    const results = await Promise.allSettled([
      addKey(repository, newKey, signal),
      addKey(elsewhere, newKey, signal),
    ]);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const failed = results.find((result) => result.status === 'rejected');
    expect(failed?.reason).toMatchObject({ code: 'REPOSITORY_LOCKED' });
  });

  /** As of two hosts that both found nothing under the key: what came last stays. */
  function lastOneStays(): Destination {
    const put: Destination['put'] = async (key, body, stop) => {
      await setImmediate();
      await destination.delete(key, stop);
      return await destination.put(key, body, stop);
    };
    return { ...destination, properties: { ...destination.properties, conditionalCreate: false }, put };
  }

  const keysOf = ({ generations }: Repository['keyring']): string[] =>
    generations.map(({ g, key }) => `${g} ${key.toString('hex')}`);

  it('rotated at the very same moment where the last one stays never make two rings of one number', async () => {
    const careless = lastOneStays();
    for (let round = 0; round < 5; round += 1) {
      const hosts = [await open(machine, careless), await open(first, careless)];
      await Promise.allSettled(hosts.map(async (host) => await rotateKeys(host, signal)));
      const fresh = await open(machine, careless);
      // Whatever either host stores from now on can be opened by everybody.
      for (const { keyring } of hosts)
        expect(keysOf(fresh.keyring)).toEqual(expect.arrayContaining(keysOf(keyring)));
    }
  });

  it('rotated while somebody prunes are refused where the last one stays', async () => {
    const careless = lastOneStays();
    await using _ = await acquirePruneLease(await open(machine, careless), {}, signal);
    await expect(rotateKeys(await open(first, careless), signal)).rejects.toMatchObject({
      code: 'REPOSITORY_LOCKED',
    });
    expect((await open(machine, careless)).ringNumber).toBe(1);
  });

  it.each([
    ['when it looks', false],
    ['while its ring is on its way', true],
  ])(
    'changed by a host that slept as it sent its ring give way to others, as it learns %s',
    async (_, told) => {
      let asleep = false;
      let wallMs = 0;
      const careless = lastOneStays();
      const lost = new AbortController();
      const sleepy = hookedDestination(careless, {
        put: async (key) => {
          if (!key.startsWith('keys/ring-') || asleep) return;
          asleep = true;
          for await (const page of careless.list('leases/', signal))
            for (const lease of page) await careless.delete(lease.key, signal);
          await rotateKeys(await open(first, careless), signal);
          wallMs += 8 * 86_400_000;
          // As a heartbeat does that finds the lease gone, for a run that holds it for longer.
          if (told) lost.abort(new RepositoryError('REPOSITORY_LOCKED', 'The right to prune was lost'));
        },
      });
      const clock: Clock = { ...systemClock, now: () => systemClock.now() + wallMs };
      const options = { clock, stateDirectory: undefined, allowWeakCost: true };
      // The request is given up with its signal; what was sent arrives all the same.
      const givenUp: Destination = {
        ...sleepy,
        put: async (key, body, stop) => {
          const stored = await sleepy.put(key, body, signal);
          stop.throwIfAborted();
          return stored;
        },
      };
      const host = await openRepository(givenUp, machine, options, signal);
      await using lease = await acquirePruneLease(host, {}, signal);
      const stranger = { ...host.keyring, generations: (await rotated()).generations };
      await expect(replaceRing(host, stranger, lost.signal, lease)).rejects.toMatchObject({
        code: 'REPOSITORY_LOCKED',
      });
      expect(asleep).toBe(true);
      const [fresh, other] = [await open(machine, careless), await open(first, careless)];
      expect(fresh.ringNumber).toBe(2);
      expect(fresh.keyring.generations).toEqual(other.keyring.generations);
      expect(keysOf(fresh.keyring)).not.toEqual(keysOf(stranger));
      expect(await getCopy(careless, 'keys/ring-2', signal)).toEqual(
        await careless.get('keys/ring-2', undefined, signal),
      );
    },
  );

  /** The keyring that a rotation of this host would make, without storing it where others look. */
  async function rotated(): Promise<Repository['keyring']> {
    const elsewhere = await open(machine, await copyOf(destination));
    await rotateKeys(elsewhere, signal);
    return elsewhere.keyring;
  }

  it('that a broken-off addition left are unknown, do not stand in the way, and can be removed', async () => {
    using failing = faultyDestination(destination, [
      { on: 'put', under: 'keys/ring-', fault: 'fail', error: new DestinationError('unreachable', 'gone') },
    ]);
    await expect(addKey(await open(first, failing), newKey, signal)).rejects.toThrow('gone');
    await expect(open(second)).rejects.toThrow('This key was removed');
    const { repository: changed } = await addKey(repository, newKey, signal);
    await open(second);
    const stray = (await listKeys(changed, signal)).find(({ state }) => state === 'unknown');
    await removeKey(changed, stray?.slot ?? '', signal);
    expect((await listKeys(changed, signal)).map(({ state }) => state)).toEqual(['sound', 'sound', 'sound']);
  });

  it('leave the old or the new state open wherever a change is broken off', async () => {
    const old = await slotOf('first');
    let completed = false;
    for (let nth = 1; !completed; nth += 1) {
      const target = await copyOf(destination);
      const run = replaceKey(await open(machine, killedAt(target, nth)), old, newKey, signal);
      completed = await run.then(
        () => true,
        () => false,
      );
      const opened = await Promise.allSettled([
        open(first, target),
        open(second, target),
        open(machine, target),
      ]);
      expect(opened[2]?.status).toBe('fulfilled');
      expect(opened.slice(0, 2).some(({ status }) => status === 'fulfilled')).toBe(true);
      if (completed)
        expect(opened.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
    }
  });
});

async function copyOf(from: Destination): Promise<Destination> {
  const copy = createMemoryDestination();
  for await (const page of from.list('', signal)) {
    for (const { key } of page) await copy.put(key, await from.get(key, undefined, signal), signal);
  }
  return copy;
}

/** Fails every call from the n-th change on, as for a process that is killed there. */
function killedAt(inner: Destination, nth: number): Destination {
  let changes = 0;
  const count = (): void => {
    changes += 1;
    if (changes >= nth) throw new DestinationError('unreachable', 'killed');
  };
  return {
    ...inner,
    put: async (key, body, on) => {
      count();
      return await inner.put(key, body, on);
    },
    delete: async (key, on) => {
      count();
      await inner.delete(key, on);
    },
  };
}
