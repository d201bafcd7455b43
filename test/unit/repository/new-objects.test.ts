import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { DestinationError } from '../../../src/base/errors.ts';
import type { Destination } from '../../../src/destination/destination.ts';
import { createMemoryDestination } from '../../../src/destination/memory.ts';
import { SILENT_CHECK } from '../../../src/repository/check/check-report.ts';
import { check } from '../../../src/repository/check/check.ts';
import type { Secret } from '../../../src/repository/slots/key-slots.ts';
import { createRepository, openRepository } from '../../../src/repository/opening.ts';
import type { Repository } from '../../../src/repository/repository.ts';
import { hookedDestination } from '../../support/hooked-destination.ts';
import { manualClock, type ManualClock } from '../../support/manual-clock.ts';

const MINUTE = 60_000;
const { signal } = new AbortController();
const machine = (): Secret => ({ kind: 'machine', secret: randomBytes(32) });
let clock: ManualClock;
let storage: Destination;

beforeEach(() => {
  clock = manualClock();
  storage = createMemoryDestination(() => clock.now());
});

async function make(destination: Destination, secret: Secret): Promise<Repository> {
  return await createRepository(
    destination,
    { clock, stateDirectory: undefined, secrets: [{ secret, label: 'x' }], cost: { m: 64, t: 1, p: 1 } },
    signal,
  );
}

async function open(secret: Secret): Promise<Repository> {
  return await openRepository(storage, secret, { clock, stateDirectory: undefined }, signal);
}

async function keys(): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const page of storage.list('', signal)) found.push(...page.map(({ key }) => key));
  return found;
}

/** Breaks off before this put. */
function brokenOff(before: number): Destination {
  return hookedDestination(storage, {
    put: (_, count) => {
      if (count >= before) throw new DestinationError('unreachable', 'broken off');
    },
  });
}

/** Where several may create one object. */
function cautious(): Destination {
  return { ...storage, properties: { ...storage.properties, conditionalCreate: false } };
}

describe('what makes a repository', () => {
  it('can be stored at once after it was broken off before any step, and nothing of that is left', async () => {
    const secret = machine();
    for (const before of [1, 2, 3, 4, 5])
      await expect(make(brokenOff(before), machine())).rejects.toThrow('broken off');
    await make(storage, secret);

    const opened = await open(secret);
    const report = await check(opened, { readData: false, workers: 0 }, SILENT_CHECK, signal);
    // The first configuration may have a later number: check notes that there is none below.
    const { status, findings } = report;
    const told = findings.filter(({ severity }) => severity !== 'note');
    expect({ status, told }).toEqual({ status: 'ok', told: [] });
    expect(await keys()).toHaveLength(6);
  });

  it('is no repository when another program has taken some of it away before the ring was there', async () => {
    for (const prefix of ['config/', 'keys/']) {
      const robbed = hookedDestination(storage, {
        put: async (key) => {
          if (key !== 'keys/ring-1') return;
          for await (const page of storage.list(prefix, signal))
            for (const one of page) await storage.delete(one.key, signal);
        },
      });
      await expect(make(robbed, machine())).rejects.toMatchObject({
        code: 'REPOSITORY_LOCKED',
        retry: 'later',
      });
      expect(await keys()).toEqual([]);
    }
  });

  it('stays whole when the storage says of the ring that was stored that it is not there', async () => {
    const lying: Destination = {
      ...storage,
      get: async (key, range, until) => {
        if (key === 'keys/ring-1')
          throw new DestinationError('not-found', 'not there', { op: 'read', hint: '' });
        return await storage.get(key, range, until);
      },
    };
    const secret = machine();
    await expect(make(lying, secret)).rejects.toMatchObject({ kind: 'not-found' });
    expect((await open(secret)).ringNumber).toBe(1);
  });

  it('is taken away again by whoever finds that another one was first', async () => {
    const [first, second] = [machine(), machine()];
    const late = hookedDestination(storage, {
      put: async (key) => {
        if (key === 'keys/ring-1') await make(storage, first);
      },
    });
    await expect(make(late, second)).rejects.toMatchObject({ code: 'REPOSITORY_EXISTS', retry: 'later' });

    const report = await check(await open(first), { readData: false, workers: 0 }, SILENT_CHECK, signal);
    // The first configuration may have a later number: check notes that there is none below.
    const { status, findings } = report;
    const told = findings.filter(({ severity }) => severity !== 'note');
    expect({ status, told }).toEqual({ status: 'ok', told: [] });
    expect(await keys()).toHaveLength(6);
  });

  it('waits an hour for what may be another one at work, where several may create one object', async () => {
    await expect(make(brokenOff(3), machine())).rejects.toThrow('broken off');
    const before = await keys();
    await clock.advance(59 * MINUTE);
    await expect(make(cautious(), machine())).rejects.toMatchObject({
      code: 'REPOSITORY_LOCKED',
      retry: 'later',
    });
    expect(await keys()).toEqual(before);

    await clock.advance(2 * MINUTE);
    const secret = machine();
    await make(cautious(), secret);
    expect((await open(secret)).ringNumber).toBe(1);
  });

  it('is not stored beside anything else', async () => {
    for (const key of ['notes', 'config/0', 'config/1000000', 'keys/ring-2', 'packs/aa/bb']) {
      storage = createMemoryDestination(() => clock.now());
      await storage.put(key, Buffer.from('x'), signal);
      await expect(make(storage, machine())).rejects.toMatchObject({ code: 'REPOSITORY_EXISTS' });
      expect(await keys()).toEqual([key]);
    }
  });
});

describe('what somebody else has put there', () => {
  it('is named, and no repository is made beside it', async () => {
    await storage.put('desktop.ini', Buffer.from('x'), signal);
    await expect(make(storage, machine())).rejects.toMatchObject({
      code: 'REPOSITORY_EXISTS',
      message: expect.stringMatching(/there are other files: desktop\.ini$/),
    });
    await storage.put('a/b', Buffer.from('x'), signal);
    await storage.put('c', Buffer.from('x'), signal);
    await expect(make(storage, machine())).rejects.toThrow('a/b and others');
  });

  it('is told from parts of a repository', async () => {
    await storage.put('packs/aa/bb', Buffer.from('x'), signal);
    await expect(make(storage, machine())).rejects.toThrow('a repository, or parts of one');
  });

  it('is not what a trial of the place has left', async () => {
    await storage.put('probe-0123456789abcdef-a', Buffer.from('x'), signal);
    const secret = machine();
    await (await make(storage, secret)).close();
    expect(await keys()).toContain('probe-0123456789abcdef-a');
    await (await open(secret)).close();
  });
});
