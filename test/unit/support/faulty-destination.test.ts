import { describe, expect, test } from 'vitest';
import { DestinationError } from '../../../src/base/errors.ts';
import type { Destination } from '../../../src/destination/destination.ts';
import { createMemoryDestination } from '../../../src/destination/memory.ts';
import { faultyDestination } from '../../support/faulty-destination.ts';
import type { Fault } from '../../support/faulty-destination.ts';
import { recordingDestination } from '../../support/recording-destination.ts';

const live = new AbortController().signal;
const error = new DestinationError('unreachable', 'away');

async function memoryWith(...keys: string[]): Promise<Destination> {
  const memory = createMemoryDestination();
  for (const key of keys) await memory.put(key, Buffer.from(key), live);
  return memory;
}

async function keysIn(destination: Destination, prefix = ''): Promise<string[]> {
  const keys: string[] = [];
  for await (const page of destination.list(prefix, live)) keys.push(...page.map(({ key }) => key));
  return keys;
}

describe('a planned fault', () => {
  test('hits the n-th call under its prefix, as often as planned, and no other', async () => {
    const memory = await memoryWith('a/1', 'b/1');
    using faulty = faultyDestination(memory, [
      { on: 'stat', under: 'a/', nth: 2, times: 2, fault: 'fail', error },
    ]);
    const outcomes: string[] = [];
    for (const key of ['a/1', 'b/1', 'a/1', 'b/1', 'a/1', 'a/1']) {
      outcomes.push(
        await faulty.stat(key, live).then(
          () => 'ok',
          () => 'failed',
        ),
      );
    }
    expect(outcomes).toEqual(['ok', 'ok', 'failed', 'ok', 'failed', 'ok']);
  });

  test.each<readonly [string, Fault, string]>([
    ['never reached', { on: 'get', nth: 2, fault: 'fail', error }, 'fail on get (1 calls seen)'],
    [
      'that truncates to more than there is',
      { on: 'get', fault: 'truncate', toBytes: 99 },
      'truncate on get',
    ],
    [
      'that drops what is not there',
      { on: 'list', fault: 'drop', drops: (key) => key === 'x' },
      'drop on list',
    ],
    [
      'that ends a list after its end',
      { on: 'list', fault: 'end-early', afterObjects: 1 },
      'end-early on list',
    ],
    ['with space to spare', { on: 'put', fault: 'run-out-of-space', bytes: 1 }, 'run-out-of-space on put'],
  ])('%s fails the test that planned it', async (_, plan, message) => {
    const faulty = faultyDestination(await memoryWith('a'), [plan]);
    await faulty.put('b', Buffer.from('b'), live);
    await faulty.delete('b', live);
    await faulty.get('a', undefined, live);
    expect(await keysIn(faulty)).toEqual(['a']);
    expect(() => faulty.assertFired()).toThrow(message);
    expect(() => faulty[Symbol.dispose]()).toThrow(message);
  });

  test('damages what is read, not what is stored', async () => {
    const memory = await memoryWith('abc');
    using faulty = faultyDestination(memory, [
      { on: 'get', nth: 1, fault: 'flip-bit', bit: 9 },
      { on: 'get', nth: 2, fault: 'truncate', toBytes: 1 },
    ]);
    expect((await faulty.get('abc', undefined, live)).toString()).toBe('a`c');
    expect((await faulty.get('abc', undefined, live)).toString()).toBe('a');
    expect((await faulty.get('abc', undefined, live)).toString()).toBe('abc');
  });

  test('shortens lists', async () => {
    using faulty = faultyDestination(await memoryWith('a', 'b', 'c'), [
      { on: 'list', nth: 1, fault: 'drop', drops: (key) => key === 'b' },
      { on: 'list', nth: 2, fault: 'end-early', afterObjects: 2 },
      { on: 'list', nth: 3, fault: 'end-early', afterObjects: 0 },
    ]);
    expect(await keysIn(faulty)).toEqual(['a', 'c']);
    expect(await keysIn(faulty)).toEqual(['a', 'b']);
    expect(await keysIn(faulty)).toEqual([]);
    expect(await keysIn(faulty)).toEqual(['a', 'b', 'c']);
  });

  test('loses the reply to a put that is done, or the object of a put that is acknowledged', async () => {
    const memory = createMemoryDestination();
    using faulty = faultyDestination(memory, [
      { on: 'put', nth: 1, fault: 'lose-reply', error },
      { on: 'put', nth: 2, fault: 'lose-object' },
    ]);
    await expect(faulty.put('a', Buffer.from('a'), live)).rejects.toBe(error);
    await expect(faulty.put('b', Buffer.from('b'), live)).resolves.toMatchObject({ size: 1 });
    expect(await keysIn(memory)).toEqual(['a']);
  });

  test('runs out of space, until something is deleted', async () => {
    using faulty = faultyDestination(createMemoryDestination(), [
      { on: 'put', fault: 'run-out-of-space', bytes: 10 },
    ]);
    await faulty.put('a', Buffer.alloc(6), live);
    await expect(faulty.put('b', Buffer.alloc(6), live)).rejects.toMatchObject({ kind: 'full' });
    await faulty.delete('a', live);
    await faulty.put('b', Buffer.alloc(6), live);
    expect(await keysIn(faulty)).toEqual(['b']);
  });

  test('delays a call until its time has come or it is aborted', async () => {
    const memory = await memoryWith('a');
    using faulty = faultyDestination(memory, [
      { on: 'stat', nth: 1, fault: 'delay', ms: 20 },
      { on: 'stat', nth: 2, fault: 'delay', ms: 600_000 },
    ]);
    const begunMs = performance.now();
    await faulty.stat('a', live);
    expect(performance.now() - begunMs).toBeGreaterThan(15);
    const controller = new AbortController();
    const reason = new Error('stopped by the test');
    setImmediate(() => controller.abort(reason));
    await expect(faulty.stat('a', controller.signal)).rejects.toBe(reason);
  });
});

test('a recording destination counts calls and bytes by method and prefix', async () => {
  const recording = recordingDestination(createMemoryDestination());
  await recording.put('packs/a', Buffer.alloc(10), live);
  await recording.put('index/a', Buffer.alloc(5), live);
  await expect(recording.put('packs/a', Buffer.alloc(7), live)).rejects.toThrow('exists');
  await recording.get('packs/a', { offset: 0, length: 4 }, live);
  expect(await keysIn(recording, 'packs/')).toEqual(['packs/a']);
  expect([recording.count('put'), recording.count('put', 'packs/'), recording.count('list')]).toEqual([
    3, 2, 1,
  ]);
  expect([recording.bytes('put'), recording.bytes('put', 'packs/'), recording.bytes('get')]).toEqual([
    15, 10, 4,
  ]);
  expect(recording.calls.map(({ outcome }) => outcome)).toEqual([
    'resolved',
    'resolved',
    'rejected',
    'resolved',
    'resolved',
  ]);
  recording.reset();
  expect(recording.calls).toEqual([]);
});
