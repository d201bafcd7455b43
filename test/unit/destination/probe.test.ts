import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { DestinationError } from '../../../src/base/errors.ts';
import type { Destination } from '../../../src/destination/destination.ts';
import { TOO_LARGE, failure } from '../../../src/destination/http-failure.ts';
import { openLocalDestination } from '../../../src/destination/local/local.ts';
import { createMemoryDestination } from '../../../src/destination/memory.ts';
import { measureDestination, UNMEASURED } from '../../../src/destination/open/measure.ts';
import { probeDestination } from '../../../src/destination/open/probe.ts';
import { faultyDestination, type Fault } from '../../support/faulty-destination.ts';

const { signal } = new AbortController();

async function failing(destination: Destination): Promise<readonly string[]> {
  const findings = await probeDestination(destination, systemClock, signal);
  return findings.filter(({ status }) => status === 'error').map(({ check }) => check);
}

async function keysOf(destination: Destination): Promise<readonly string[]> {
  const keys: string[] = [];
  for await (const page of destination.list('', signal)) keys.push(...page.map(({ key }) => key));
  return keys;
}

describe('trying out a destination', () => {
  test('finds a directory good, says so of every promise, and leaves nothing in it', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'holdfast-probe-'));
    try {
      const destination = await openLocalDestination(directory);
      const findings = await probeDestination(destination, systemClock, signal);
      expect(findings.map(({ check, status }) => [check, status])).toEqual([
        ['store', 'ok'],
        ['list', 'ok'],
        ['read', 'ok'],
        ['range', 'ok'],
        ['no replacing', 'ok'],
        ['one of several', 'ok'],
        ['delete', 'ok'],
      ]);
      expect(await readdir(directory)).toEqual([]);
      await destination.close();
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  test('leaves what was there alone', async () => {
    const destination = createMemoryDestination();
    await destination.put('config/1', Buffer.from('kept'), signal);
    expect(await failing(destination)).toEqual([]);
    expect(await keysOf(destination)).toEqual(['config/1']);
  });

  const denied = new DestinationError('denied', 'Cannot delete: permission denied', {
    hint: 'Ask for it.',
  });

  test.each<readonly [string, Fault, readonly string[]]>([
    ['stores nothing', { on: 'put', fault: 'fail', error: denied }, ['store']],
    [
      'loses what it said it stored',
      { on: 'put', fault: 'lose-object' },
      ['list', 'read', 'range', 'no replacing', 'delete'],
    ],
    ['hides what is there', { on: 'list', fault: 'drop', drops: () => true }, ['list']],
    ['gives wrong bytes', { on: 'get', fault: 'flip-bit', bit: 99 }, ['read']],
    ['cuts a reply short', { on: 'get', fault: 'truncate', toBytes: 10, nth: 2 }, ['range']],
    ['refuses to delete', { on: 'delete', fault: 'fail', error: denied }, ['delete']],
  ])('finds one that %s', async (_what, fault, expected) => {
    using destination = faultyDestination(createMemoryDestination(), [fault]);
    const found = await failing(destination);
    expect(found.filter((check) => !expected.includes(check))).toEqual([]);
    expect(found[0]).toBe(expected[0]);
  });

  test('of a far one also stores an object as large as those of backups, and tells whose limit that meets', async () => {
    const inner = createMemoryDestination();
    const far: Destination = { ...inner, properties: { ...inner.properties, remote: true } };
    const findings = await probeDestination(far, systemClock, signal);
    expect(findings.find(({ check }) => check === 'large')).toMatchObject({
      status: 'ok',
      message: expect.stringContaining('34.0 MiB') as string,
    });
    expect(await keysOf(inner)).toEqual([]);
    const limited: Destination = {
      ...far,
      put: async (key, body, until) => {
        if (body.byteLength > 2 ** 21)
          throw failure(TOO_LARGE, { op: 'store', url: 'x', key, bytes: body.byteLength });
        return await inner.put(key, body, until);
      },
    };
    const found = await probeDestination(limited, systemClock, signal);
    expect(found.filter(({ status }) => status === 'error')).toMatchObject([
      {
        check: 'large',
        message: expect.stringContaining('34.0 MiB'),
        hint: expect.stringContaining('client_max_body_size'),
      },
    ]);
    expect(await keysOf(inner)).toEqual([]);
  });

  test('does not keep a slow line busy for that', async () => {
    const inner = createMemoryDestination();
    const far: Destination = { ...inner, properties: { ...inner.properties, remote: true } };
    let now = 0;
    const slow = { ...systemClock, monotonic: () => (now += 5_000) };
    const findings = await probeDestination(far, slow, signal);
    expect(findings.find(({ check }) => check === 'large')?.message).toMatch(
      /was not tested, because it would take/,
    );
  });

  test('says that a store which protects objects keeps those of the test', async () => {
    const inner = createMemoryDestination();
    const locked: Destination = { ...inner, properties: { ...inner.properties, retainDays: 30 } };
    const findings = await probeDestination(locked, systemClock, signal);
    expect(findings.at(-1)).toMatchObject({
      check: 'delete',
      status: 'ok',
      message: expect.stringContaining('for 30 days') as string,
    });
    let stored = 0;
    const counted: Destination = {
      ...locked,
      put: async (...of) => {
        stored += 1;
        return await inner.put(...of);
      },
    };
    expect(await measureDestination(counted, systemClock, signal)).toEqual(UNMEASURED);
    expect(stored).toBe(0);
  });

  test('leaves nothing where storing fails after all of it is there', async () => {
    const inner = createMemoryDestination();
    const lying: Destination = {
      ...inner,
      put: async (...of) => {
        await inner.put(...of);
        throw denied;
      },
    };
    expect(await failing(lying)).toEqual(['store']);
    expect(await keysOf(inner)).toEqual([]);
  });

  test('finds one that replaces objects, and lets several create the same', async () => {
    const inner = createMemoryDestination();
    const replacing: Destination = {
      ...inner,
      put: async (key, body, abort) => {
        try {
          return await inner.put(key, body, abort);
        } catch {
          await inner.delete(key, abort);
          return await inner.put(key, body, abort);
        }
      },
    };
    expect(await failing(replacing)).toEqual(['no replacing', 'one of several']);
    expect(await keysOf(inner)).toEqual([]);
  });

  test('of one that may not delete says what stays, and does not call it broken', async () => {
    const inner = createMemoryDestination();
    const appendOnly = { ...inner, properties: { ...inner.properties, canDelete: false } };
    const findings = await probeDestination(appendOnly, systemClock, signal);
    const last = findings.at(-1);
    expect(last).toMatchObject({ check: 'delete', status: 'warning' });
    const [name = ''] = await keysOf(inner);
    expect(last?.message).toContain(name.replace(/-[ab]$/, ''));
  });

  test('that is interrupted takes away what it stored', async () => {
    const inner = createMemoryDestination();
    const interrupt = new AbortController();
    const interrupted: Destination = {
      ...inner,
      get: async (key, range, abort) => {
        interrupt.abort();
        return await inner.get(key, range, abort);
      },
    };
    await expect(probeDestination(interrupted, systemClock, interrupt.signal)).rejects.toThrow();
    expect(await keysOf(inner)).toEqual([]);
  });
});
