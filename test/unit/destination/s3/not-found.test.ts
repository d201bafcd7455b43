/** "Not found" of an S3 store, and of a proxy in front of one that does not run. */
// Turn 8 of 8.
import { describe, expect, test } from 'vitest';
import type { Destination } from '../../../../src/destination/destination.ts';
import { withRetry } from '../../../../src/destination/retry.ts';
import { openS3Destination, type S3Options } from '../../../../src/destination/s3/s3.ts';
import { startS3Store, type S3Store, type StoreFault, type StoreRequest } from '../../../support/s3-store.ts';

const live = new AbortController().signal;
const bytes = Buffer.from('0123456789');

async function open(store: S3Store, options: S3Options = {}, access: object = {}): Promise<Destination> {
  const { endpoint } = store;
  return await openS3Destination(
    { kind: 's3', bucket: 'bucket', prefix: 'pre', endpoint, region: undefined, pathStyle: true },
    { accessKeyId: 'AKTEST', secretAccessKey: 'secret', ...access },
    options,
  );
}

async function keysIn(destination: Destination): Promise<string[]> {
  const found: string[] = [];
  for await (const page of destination.list('', live)) found.push(...page.map(({ key }) => key));
  return found;
}

const of =
  (method: string, key: string) =>
  (request: StoreRequest): boolean =>
    request.method === method && request.key === `pre/${key}`;

const notTheStore = { kind: 'unreachable', retry: 'later' };

describe.each<[string, StoreFault]>([
  ['a word', { status: 404, text: '404 page not found\n' }],
  ['a page', { status: 404, type: 'text/html', text: '<html><body><h1>404 Not Found</h1></body></html>' }],
  ['a document', { status: 404, type: 'application/json', text: '{"code":"NoSuchKey"}' }],
  ['nothing', { status: 404, text: '' }],
  ['another status', { status: 410, text: 'Gone' }],
])('"not found" of a proxy without its store, with %s', (_, fault) => {
  test('means that the store is away, whatever is asked', async () => {
    await using store = await startS3Store();
    const destination = await open(store, { create: true }, { objectLock: { mode: 'governance', days: 1 } });
    await destination.put('a', bytes, live);
    store.plan(() => true, fault, 1_000);
    const calls: readonly Promise<unknown>[] = [
      open(store),
      open(store, { create: true }),
      destination.get('a', undefined, live),
      destination.get('a', { offset: 2, length: 3 }, live),
      destination.get('a', { offset: -2, length: 1 }, live),
      destination.stat('a', live),
      destination.delete('a', live),
      destination.put('b', bytes, live),
      destination.retain?.('a', live) ?? Promise.resolve(),
      keysIn(destination),
    ];
    const outcomes = await Promise.allSettled(calls);
    store.forgetPlans();
    for (const outcome of outcomes)
      expect(outcome).toMatchObject({ status: 'rejected', reason: notTheStore });
    expect((await destination.get('a', undefined, live)).equals(bytes)).toBe(true);
    expect(await keysIn(destination)).toEqual(['a']);
    await destination.close();
  });

  test('is none where the store is back for the next question and has the object', async () => {
    await using store = await startS3Store();
    const destination = await open(store, { create: true });
    await destination.put('a', bytes, live);
    store.plan(of('GET', 'a'), fault);
    await expect(destination.get('a', undefined, live)).rejects.toMatchObject(notTheStore);
    store.plan(of('HEAD', 'a'), fault);
    await expect(destination.stat('a', live)).rejects.toMatchObject(notTheStore);
    store.plan(of('DELETE', 'a'), fault);
    await expect(destination.delete('a', live)).rejects.toMatchObject(notTheStore);
    store.plan(of('PUT', 'b'), fault);
    await expect(destination.put('b', bytes, live)).rejects.toMatchObject(notTheStore);
    expect(await keysIn(destination)).toEqual(['a']);
    await destination.close();
  });

  test('is true where the store is back for the next question and has no such object', async () => {
    await using store = await startS3Store();
    const destination = await open(store, { create: true });
    await destination.put('longer', bytes, live);
    for (const method of ['GET', 'HEAD', 'DELETE']) store.plan(of(method, 'long'), fault);
    await expect(destination.get('long', undefined, live)).rejects.toMatchObject({ kind: 'not-found' });
    await expect(destination.stat('long', live)).rejects.toMatchObject({ kind: 'not-found' });
    await destination.delete('long', live);
    expect(await keysIn(destination)).toEqual(['longer']);
    await destination.close();
  });

  test('is got over by trying again', async () => {
    await using store = await startS3Store();
    const policy = { attempts: 3, firstDelayMs: 0, maxDelayMs: 0, random: () => 0 };
    const destination = withRetry(await open(store, { create: true }), policy);
    for (const method of ['PUT', 'HEAD', 'GET', 'DELETE']) store.plan(of(method, 'a'), fault);
    await destination.put('a', bytes, live);
    expect(await destination.stat('a', live)).toMatchObject({ size: bytes.length });
    expect((await destination.get('a', undefined, live)).equals(bytes)).toBe(true);
    await destination.delete('a', live);
    expect(await keysIn(destination)).toEqual([]);
    await destination.close();
  });
});

test('an empty object whose head a proxy denies is there', async () => {
  await using store = await startS3Store();
  const destination = await open(store, { create: true });
  await destination.put('a', Buffer.alloc(0), live);
  store.plan(of('HEAD', 'a'), { status: 404, text: '' });
  await expect(destination.stat('a', live)).rejects.toMatchObject(notTheStore);
  await destination.close();
});

test('what cannot be found out is not absent: the failure of the second question is the answer', async () => {
  await using store = await startS3Store();
  const destination = await open(store, { create: true });
  store.plan(of('HEAD', 'a'), { status: 404, text: '' });
  store.plan(of('GET', 'a'), { status: 503, code: 'SlowDown' });
  await expect(destination.stat('a', live)).rejects.toMatchObject({
    kind: 'unreachable',
    details: { throttled: true },
  });
  store.plan(of('GET', 'a'), { status: 404, text: '' });
  store.plan(({ key }) => key === '', { page: '<html>Sign in</html>' });
  await expect(destination.get('a', undefined, live)).rejects.toMatchObject({ kind: 'unreachable' });
  await destination.close();
});

test('a bucket that is not there is named, also by the answer that has no body', async () => {
  await using store = await startS3Store();
  store.numbersAnswers = false;
  const destination = await open(store, { create: true });
  store.plan(() => true, { status: 404, code: 'NoSuchBucket' }, 3);
  const gone = { kind: 'not-found', message: expect.stringContaining('there is no such bucket') };
  await expect(destination.stat('a', live)).rejects.toMatchObject(gone);
  await expect(destination.delete('a', live)).rejects.toMatchObject(gone);
  await destination.close();
});

// How often: of an object that is not there.
test.each<
  [string, Partial<S3Store>, { readonly get: number; readonly stat: number; readonly delete: number }]
>([
  ['numbers its answers', {}, { get: 1, stat: 1, delete: 1 }],
  ['does not', { numbersAnswers: false }, { get: 1, stat: 2, delete: 1 }],
  ['gives no reason either', { numbersAnswers: false, saysNoReason: true }, { get: 2, stat: 3, delete: 2 }],
])(
  'an object that is not there is asked for as often as it takes where the store %s',
  async (_, ways, times) => {
    await using store = await startS3Store();
    Object.assign(store, ways);
    const destination = await open(store, { create: true });
    await destination.put('a', bytes, live);
    const counted = async (call: Promise<unknown>): Promise<number> => {
      store.requests.length = 0;
      await call;
      return store.requests.length;
    };
    const absent = { kind: 'not-found', retry: 'never' };
    expect({
      get: await counted(expect(destination.get('b', undefined, live)).rejects.toMatchObject(absent)),
      stat: await counted(expect(destination.stat('b', live)).rejects.toMatchObject(absent)),
      delete: await counted(destination.delete('b', live)),
    }).toEqual(times);
    expect(await keysIn(destination)).toEqual(['a']);
    await destination.close();
  },
);
