import { once } from 'node:events';
import { describe, expect, test, vi } from 'vitest';
import { DestinationError } from '../../../src/base/errors.ts';
import type { DestinationKind } from '../../../src/base/errors.ts';
import type { Destination } from '../../../src/destination/destination.ts';
import { createMemoryDestination } from '../../../src/destination/memory.ts';
import { defaultRetryPolicy, withRetry } from '../../../src/destination/retry.ts';
import type { RetryPolicy, Sleep } from '../../../src/destination/retry.ts';
import { faultyDestination } from '../../support/faulty-destination.ts';
import type { DestinationMethod, FaultyDestination } from '../../support/faulty-destination.ts';
import { recordingDestination } from '../../support/recording-destination.ts';

const live = new AbortController().signal;
const policy: RetryPolicy = { attempts: 5, firstDelayMs: 100, maxDelayMs: 500, random: () => 1 };
const methods: readonly DestinationMethod[] = ['put', 'get', 'stat', 'list', 'delete'];

function away(): DestinationError {
  return new DestinationError('unreachable', 'the server is away', { retry: 'later' });
}

function sleeper(): { readonly sleep: Sleep; readonly delaysMs: number[] } {
  const delaysMs: number[] = [];
  const sleep: Sleep = async (ms) => {
    delaysMs.push(ms);
  };
  return { sleep, delaysMs };
}

async function call(destination: Destination, method: DestinationMethod): Promise<unknown> {
  if (method === 'put') return destination.put('new', Buffer.from('new'), live);
  if (method === 'get') return destination.get('old', undefined, live);
  if (method === 'stat') return destination.stat('old', live);
  if (method === 'delete') return destination.delete('old', live);
  return keysIn(destination);
}

async function keysIn(destination: Destination): Promise<string[]> {
  const keys: string[] = [];
  for await (const page of destination.list('', live)) keys.push(...page.map(({ key }) => key));
  return keys;
}

async function memoryWithOld(): Promise<Destination> {
  const memory = createMemoryDestination();
  await memory.put('old', Buffer.from('old'), live);
  return memory;
}

describe('a store that says when it may be asked again', () => {
  const busy = (retryAfterMs: number): DestinationError =>
    new DestinationError('unreachable', 'too many', { retry: 'later', details: { retryAfterMs } });

  test('is left alone for as long as it says, and not asked by all at that very moment', async () => {
    const memory = await memoryWithOld();
    using faulty = faultyDestination(memory, [{ on: 'get', fault: 'fail', error: busy(7_000), times: 2 }]);
    const { sleep, delaysMs } = sleeper();
    await call(withRetry(faulty, policy, sleep), 'get');
    expect(delaysMs).toEqual([7_025, 7_050]);
  });

  test('is not waited for when that is more than 15 minutes', async () => {
    const error = busy(15 * 60_000 + 1);
    using faulty = faultyDestination(await memoryWithOld(), [{ on: 'get', fault: 'fail', error }]);
    const { sleep, delaysMs } = sleeper();
    await expect(call(withRetry(faulty, policy, sleep), 'get')).rejects.toBe(error);
    expect(delaysMs).toEqual([]);
  });
});

describe('a store that answers that it cannot', () => {
  const answer = new DestinationError('unreachable', 'busy', { retry: 'later', details: { status: 503 } });
  const waitedFor = async (
    times: number,
    details?: { readonly status: number; readonly retryAfterMs: number },
  ): Promise<{ readonly delaysMs: number[]; readonly outcome: unknown }> => {
    const faulty = faultyDestination(await memoryWithOld(), [
      {
        on: 'get',
        fault: 'fail',
        error: details === undefined ? answer : new DestinationError('unreachable', 'busy', { details }),
        times,
      },
    ]);
    const { sleep, delaysMs } = sleeper();
    const patient = withRetry(faulty, { ...defaultRetryPolicy, random: () => 1 }, sleep);
    const outcome = await call(patient, 'get').catch((error: unknown) => error);
    return { delaysMs, outcome };
  };

  test('is asked again beyond the tries of one that is away, and gets through', async () => {
    const { delaysMs, outcome } = await waitedFor(15);
    expect(String(outcome)).toBe('old');
    expect(delaysMs).toHaveLength(15);
  });

  test('is given up after a quarter of an hour', async () => {
    const { delaysMs, outcome } = await waitedFor(1_000);
    expect(outcome).toBe(answer);
    const waitedMs = delaysMs.reduce((sum, ms) => sum + ms, 0);
    expect(waitedMs).toBeLessThan(15 * 60_000);
    expect(waitedMs).toBeGreaterThan(13 * 60_000);
  });

  test.each([60_000, 300_000, 840_000])('that asks for %d ms each time is, too', async (retryAfterMs) => {
    const { delaysMs, outcome } = await waitedFor(1_000, { status: 503, retryAfterMs });
    expect(outcome).toBeInstanceOf(DestinationError);
    const waitedMs = delaysMs.reduce((sum, ms) => sum + ms, 0);
    expect(waitedMs).toBeLessThan(15 * 60_000);
    expect(waitedMs).toBeGreaterThan(9 * 60_000);
  });

  test('has its time also when a connection to it breaks meanwhile', async () => {
    const faulty = faultyDestination(await memoryWithOld(), [
      { on: 'get', fault: 'fail', error: answer, times: 9 },
      { on: 'get', nth: 10, fault: 'fail', error: away() },
      { on: 'get', nth: 11, fault: 'fail', error: answer, times: 3 },
    ]);
    const { sleep, delaysMs } = sleeper();
    const patient = withRetry(faulty, { ...defaultRetryPolicy, random: () => 0 }, sleep);
    expect(String(await call(patient, 'get'))).toBe('old');
    expect(delaysMs).toHaveLength(13);
  });

  test('is given up at once by who has no patience, and what came garbled is asked for a few times', async () => {
    const impatient: RetryPolicy = { ...policy, attempts: 1 };
    const garbled = new DestinationError('corrupt-reply', 'cut short', { retry: 'now' });
    for (const [error, tries] of [
      [answer, 1],
      [away(), 1],
      [garbled, 4],
    ] as const) {
      const faulty = faultyDestination(await memoryWithOld(), [
        { on: 'get', fault: 'fail', error, times: 99 },
      ]);
      const recording = recordingDestination(faulty);
      await expect(call(withRetry(recording, impatient, sleeper().sleep), 'get')).rejects.toBe(error);
      expect(recording.count('get')).toBe(tries);
    }
  });
});

describe('what is tried again', () => {
  test.each(methods)('%s is, when the destination was unreachable for a while', async (method) => {
    const memory = await memoryWithOld();
    using faulty = faultyDestination(memory, [{ on: method, fault: 'fail', error: away(), times: 4 }]);
    const recording = recordingDestination(faulty);
    const { sleep, delaysMs } = sleeper();
    await call(withRetry(recording, policy, sleep), method);
    expect(recording.count(method)).toBe(5);
    expect(delaysMs).toEqual([100, 200, 400, 500]);
  });

  test.each(methods)(
    '%s is not any more after the last attempt: its failure is thrown as it came',
    async (method) => {
      const error = away();
      using faulty = faultyDestination(await memoryWithOld(), [
        { on: method, fault: 'fail', error, times: 9 },
      ]);
      const recording = recordingDestination(faulty);
      await expect(call(withRetry(recording, policy, sleeper().sleep), method)).rejects.toBe(error);
      expect(recording.count(method)).toBe(policy.attempts);
    },
  );

  test.each<[DestinationKind, 'never' | 'later']>([
    ['not-found', 'never'],
    ['exists', 'never'],
    ['denied', 'later'],
    ['full', 'later'],
    ['corrupt-reply', 'never'],
    ['unsupported', 'never'],
  ])('a failure of kind %s to be tried %s is not', async (kind, retry) => {
    const error = new DestinationError(kind, 'for good', { retry });
    using faulty = faultyDestination(await memoryWithOld(), [{ on: 'get', fault: 'fail', error }]);
    const recording = recordingDestination(faulty);
    await expect(withRetry(recording, policy, sleeper().sleep).get('old', undefined, live)).rejects.toBe(
      error,
    );
    expect(recording.count('get')).toBe(1);
  });

  test.each<DestinationKind>(['corrupt-reply', 'denied', 'full', 'not-found'])(
    'a failure of kind %s is when its error says now',
    async (kind) => {
      const error = new DestinationError(kind, 'passes', { retry: 'now' });
      using faulty = faultyDestination(await memoryWithOld(), [{ on: 'get', fault: 'fail', error }]);
      const bytes = await withRetry(faulty, policy, sleeper().sleep).get('old', undefined, live);
      expect(bytes.toString()).toBe('old');
    },
  );

  test('an error of the program is not', async () => {
    const bug = new TypeError('undefined is not a function');
    const get = vi.fn(() => Promise.reject(bug));
    const broken: Destination = { ...createMemoryDestination(), get };
    await expect(withRetry(broken, policy, sleeper().sleep).get('a', undefined, live)).rejects.toBe(bug);
    expect(get).toHaveBeenCalledOnce();
  });
});

describe('the wait', () => {
  test('lies between half and all of the doubled delay, and is reported with the failure', async () => {
    const error = away();
    for (const [random, expected] of [
      [0, [50, 100, 200, 250]],
      [0.5, [75, 150, 300, 375]],
    ] as const) {
      using faulty = faultyDestination(await memoryWithOld(), [
        { on: 'get', fault: 'fail', error, times: 4 },
      ]);
      const { sleep, delaysMs } = sleeper();
      const onRetry = vi.fn();
      const spread = { ...policy, random: () => random, onRetry };
      await withRetry(faulty, spread, sleep).get('old', undefined, live);
      expect(delaysMs).toEqual(expected);
      expect(onRetry.mock.calls).toEqual(expected.map((delayMs) => [error, delayMs]));
    }
  });

  test('adds up to less than a quarter of an hour with the default policy', async () => {
    const plan = { on: 'get', fault: 'fail', error: away(), times: 100 } as const;
    using faulty = faultyDestination(await memoryWithOld(), [plan]);
    const { sleep, delaysMs } = sleeper();
    const slowest = { ...defaultRetryPolicy, random: () => 1 };
    await expect(withRetry(faulty, slowest, sleep).get('old', undefined, live)).rejects.toThrow('away');
    expect(delaysMs.reduce((sum, ms) => sum + ms, 0)).toBe(183_000);
  });

  test('ends at once with the signal’s own reason', async () => {
    using faulty = faultyDestination(await memoryWithOld(), [{ on: 'get', fault: 'fail', error: away() }]);
    const controller = new AbortController();
    const reason = new Error('stopped by the test');
    const onRetry = (): void => void setImmediate(() => controller.abort(reason));
    const retrying = withRetry(faulty, { ...policy, firstDelayMs: 600_000, maxDelayMs: 600_000, onRetry });
    await expect(retrying.get('old', undefined, controller.signal)).rejects.toBe(reason);
  });
});

describe('an abort', () => {
  test.each(methods)('passes straight through %s', async (method) => {
    const abort = new DOMException('stopped', 'AbortError');
    const memory = await memoryWithOld();
    const fail = vi.fn(() => {
      throw abort;
    });
    const { sleep, delaysMs } = sleeper();
    const retrying = withRetry({ ...memory, [method]: fail }, policy, sleep);
    await expect(call(retrying, method)).rejects.toBe(abort);
    expect(fail).toHaveBeenCalledOnce();
    expect(delaysMs).toEqual([]);
  });

  test('during a failing try rejects with the reason instead of trying again', async () => {
    const controller = new AbortController();
    const reason = new Error('stopped by the test');
    const memory = await memoryWithOld();
    const get = vi.fn(async () => {
      controller.abort(reason);
      throw away();
    });
    const onRetry = vi.fn();
    const retrying = withRetry({ ...memory, get }, { ...policy, onRetry }, sleeper().sleep);
    await expect(retrying.get('old', undefined, controller.signal)).rejects.toBe(reason);
    expect(get).toHaveBeenCalledOnce();
    expect(onRetry).not.toHaveBeenCalled();
  });
});

describe('a put whose reply is lost', () => {
  const lostReply = { on: 'put', fault: 'lose-reply', error: away() } as const;

  function retrying(faulty: FaultyDestination): Destination {
    return withRetry(faulty, policy, sleeper().sleep);
  }

  test('succeeds when the second try finds its own bytes', async () => {
    const memory = createMemoryDestination(() => 1234);
    using faulty = faultyDestination(memory, [lostReply]);
    const recording = recordingDestination(faulty);
    const stored = await withRetry(recording, policy, sleeper().sleep).put('a', Buffer.from('own'), live);
    expect(stored).toEqual({ size: 3, modifiedMs: 1234 });
    expect(recording.count('put')).toBe(2);
    expect(await keysIn(memory)).toEqual(['a']);
  });

  test('succeeds even when comparing fails for a while', async () => {
    using faulty = faultyDestination(createMemoryDestination(), [
      lostReply,
      { on: 'stat', fault: 'fail', error: away() },
      { on: 'get', fault: 'fail', error: away() },
    ]);
    expect((await retrying(faulty).put('a', Buffer.from('own'), live)).size).toBe(3);
  });

  test.each([
    ['equal length', 'two'],
    ['another length', 'longer'],
  ])('rejects with exists when another writer’s object of %s has the key', async (_, other) => {
    const memory = createMemoryDestination();
    using faulty = faultyDestination(memory, [{ on: 'put', fault: 'fail', error: away() }]);
    await memory.put('a', Buffer.from(other), live);
    const recording = recordingDestination(faulty);
    const call = withRetry(recording, policy, sleeper().sleep).put('a', Buffer.from('own'), live);
    await expect(call).rejects.toMatchObject({ kind: 'exists' });
    // What has another length is not read to find that out.
    expect(recording.count('get')).toBe(other.length === 3 ? 1 : 0);
    expect((await memory.get('a', undefined, live)).toString()).toBe(other);
  });

  test('rejects with exists when the first try of all finds the key taken, even by equal bytes', async () => {
    const memory = createMemoryDestination();
    const recording = recordingDestination(memory);
    await memory.put('a', Buffer.from('own'), live);
    const call = withRetry(recording, policy, sleeper().sleep).put('a', Buffer.from('own'), live);
    await expect(call).rejects.toMatchObject({ kind: 'exists' });
    expect(recording.calls.map(({ method }) => method)).toEqual(['put']);
  });

  test('is stored again when the object is gone by the time it is compared', async () => {
    const memory = createMemoryDestination();
    using faulty = faultyDestination(memory, [lostReply]);
    let stats = 0;
    const vanishing: Destination = {
      ...faulty,
      stat: async (key, signal) => {
        if (stats++ === 0) await memory.delete(key, signal);
        return memory.stat(key, signal);
      },
    };
    expect(
      (await withRetry(vanishing, policy, sleeper().sleep).put('a', Buffer.from('own'), live)).size,
    ).toBe(3);
    expect((await memory.get('a', undefined, live)).toString()).toBe('own');
  });
});

describe('a list that fails in the middle', () => {
  async function manyObjects(): Promise<{ readonly memory: Destination; readonly keys: readonly string[] }> {
    const memory = createMemoryDestination();
    const keys = Array.from({ length: 2_500 }, (_, number) => `packs/${number}`);
    for (const key of keys) await memory.put(key, Buffer.from(key), live);
    return { memory, keys };
  }

  test('is taken up again and yields every object once', async () => {
    const { memory, keys } = await manyObjects();
    using faulty = faultyDestination(memory, [
      { on: 'list', fault: 'fail', error: away(), afterPages: 2 },
      { on: 'list', fault: 'fail', error: away(), afterPages: 1, nth: 2 },
      { on: 'list', fault: 'fail', error: away(), nth: 3 },
    ]);
    expect(await keysIn(withRetry(faulty, policy, sleeper().sleep))).toEqual(keys);
  });

  test('yields what was stored meanwhile, too', async () => {
    const { memory, keys } = await manyObjects();
    using faulty = faultyDestination(memory, [{ on: 'list', fault: 'fail', error: away(), afterPages: 2 }]);
    const sleep: Sleep = async () => void (await memory.put('packs/new', Buffer.from('new'), live));
    expect(await keysIn(withRetry(faulty, policy, sleep))).toEqual([...keys, 'packs/new']);
  });

  test('rejects in the end rather than ending short', async () => {
    const { memory } = await manyObjects();
    const error = away();
    using faulty = faultyDestination(memory, [{ on: 'list', fault: 'fail', error, afterPages: 1, times: 9 }]);
    await expect(keysIn(withRetry(faulty, policy, sleeper().sleep))).rejects.toBe(error);
  });

  test('does not try again what the reader of the list throws', async () => {
    const { memory } = await manyObjects();
    const recording = recordingDestination(memory);
    const error = away();
    const reading = (async () => {
      for await (const page of withRetry(recording, policy, sleeper().sleep).list('', live)) {
        if (page.length > 0) throw error;
      }
    })();
    await expect(reading).rejects.toBe(error);
    expect(recording.count('list')).toBe(1);
  });
});

test('has the properties of what it wraps, and closes it', async () => {
  const memory = createMemoryDestination();
  const close = vi.fn(() => memory.close());
  const retrying = withRetry({ ...memory, close });
  expect(retrying.properties).toBe(memory.properties);
  await retrying.close();
  expect(close).toHaveBeenCalledOnce();
});

test('once it is closed nothing is tried again: the failure that it waited after is thrown', async () => {
  const memory = await memoryWithOld();
  const error = away();
  using faulty = faultyDestination(memory, [{ on: 'get', fault: 'fail', error, times: 100 }]);
  const waiting = Promise.withResolvers<void>();
  const sleep: Sleep = async (_ms, signal) => {
    waiting.resolve();
    await new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  };
  const retrying = withRetry(faulty, policy, sleep);
  const call = retrying.get('old', undefined, live);
  const failed = expect(call).rejects.toBe(error);
  await waiting.promise;
  await retrying.close();
  await failed;
  await expect(retrying.get('old', undefined, live)).rejects.toBe(error);
});

test('once it is closed a list under way ends, as it might have no end of itself', async () => {
  const memory = await memoryWithOld();
  const asked = Promise.withResolvers<AbortSignal>();
  const destination = withRetry({
    ...memory,
    async *list(_, signal) {
      yield [{ key: 'old', size: 3, modifiedMs: 1 }];
      asked.resolve(signal);
      await once(signal, 'abort');
      signal.throwIfAborted();
    },
  });
  const taken = expect(keysIn(destination)).rejects.toThrow('aborted');
  const signal = await asked.promise;
  expect(signal.aborted).toBe(false);
  await destination.close();
  expect(signal.aborted).toBe(true);
  await taken;
});
