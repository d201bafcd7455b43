// Turn 2 of 8.
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import type { Destination, ListedObject } from '../../../../src/destination/destination.ts';
import { withRetry } from '../../../../src/destination/retry.ts';
import { openS3Destination, type S3Options } from '../../../../src/destination/s3/s3.ts';
import { startFaultProxy, type Deed } from '../../../support/fault-proxy.ts';
import { seededRandom } from '../../../support/seeded-random.ts';
import {
  startS3Store,
  type ListPage,
  type S3Store,
  type StoreFault,
  type StoreRequest,
} from '../../../support/s3-store.ts';

const live = new AbortController().signal;
/** Asks once. */
const impatient = {
  policy: { attempts: 1, firstDelayMs: 0, maxDelayMs: 0, random: () => 0 },
  sleep: async () => {},
};
const KEYS = { accessKeyId: 'AKTEST', secretAccessKey: 'canary-of-the-secret' };

async function open(store: S3Store, options: S3Options = {}, access: object = {}): Promise<Destination> {
  const place = {
    kind: 's3' as const,
    bucket: 'bucket',
    prefix: 'pre',
    endpoint: store.endpoint,
    region: undefined,
    pathStyle: true,
  };
  return await openS3Destination(place, { ...KEYS, ...access }, options);
}

/** Opened, and what the store can do found out. */
async function openReady(store: S3Store, options: S3Options = {}): Promise<Destination> {
  return await open(store, { ...options, create: true });
}

async function keysIn(destination: Destination): Promise<string[]> {
  const found: ListedObject[] = [];
  for await (const page of destination.list('', live)) found.push(...page);
  return found.map(({ key }) => key);
}

const of =
  (method: string, key: string) =>
  (request: StoreRequest): boolean =>
    request.method === method && request.key === `pre/${key}`;
const lists = (request: StoreRequest): boolean => request.method === 'GET' && request.key === '';

describe('opening', () => {
  test('asks twice when the store is known, and a put asks twice, a get, a stat and a list once', async () => {
    await using store = await startS3Store();
    await (await openReady(store)).close();
    store.requests.length = 0;
    const destination = await open(store);
    expect(store.requests.map(({ method }) => method).toSorted()).toEqual(['DELETE', 'GET']);
    const counted = async (call: Promise<unknown>): Promise<number> => {
      store.requests.length = 0;
      await call;
      return store.requests.length;
    };
    expect(await counted(destination.put('a', Buffer.from('abc'), live))).toBe(2);
    expect(await counted(destination.get('a', undefined, live))).toBe(1);
    expect(await counted(destination.get('a', { offset: -2, length: 1 }, live))).toBe(1);
    expect(await counted(destination.stat('a', live))).toBe(1);
    expect(await counted(keysIn(destination))).toBe(1);
    await destination.close();
  });

  test('leaves nothing in lists that a repository did not put there', async () => {
    await using store = await startS3Store();
    const destination = await openReady(store);
    expect([...store.objects.keys()]).toEqual(['pre/HOLDFAST-STORE']);
    expect(await keysIn(destination)).toEqual([]);
  });

  test('of a store that ignores conditions gives one that looks before it puts, and says that several may win', async () => {
    await using store = await startS3Store();
    store.ignoresConditions = true;
    const destination = await openReady(store);
    expect(destination.properties.conditionalCreate).toBe(false);
    await destination.put('a', Buffer.from('one'), live);
    await expect(destination.put('a', Buffer.from('two'), live)).rejects.toMatchObject({ kind: 'exists' });
    expect((await destination.get('a', undefined, live)).toString()).toBe('one');
  });

  test('of a store that lets all win who come at the same moment says so, and leaves the rest to it', async () => {
    await using store = await startS3Store();
    store.looksFirst = true;
    const destination = await openReady(store);
    expect(destination.properties.conditionalCreate).toBe(false);
    expect(JSON.parse(store.objects.get('pre/HOLDFAST-STORE')?.body.toString() ?? '')).toMatchObject({
      create: 'some',
    });
    await destination.put('a', Buffer.from('one'), live);
    await expect(destination.put('a', Buffer.from('two'), live)).rejects.toMatchObject({ kind: 'exists' });
  });

  test('without having been made first finds out before the first put, and only reads until then', async () => {
    await using store = await startS3Store();
    const destination = await open(store);
    expect(destination.properties.conditionalCreate).toBe(false);
    expect(store.requests.filter(({ method }) => method === 'PUT')).toEqual([]);
    await Promise.all(['a', 'b'].map(async (key) => await destination.put(key, Buffer.from(key), live)));
    expect(destination.properties.conditionalCreate).toBe(true);
    expect([...store.objects.keys()].toSorted()).toEqual(['pre/HOLDFAST-STORE', 'pre/a', 'pre/b']);
  });

  test('does not believe what was found out about the store that the objects were copied from', async () => {
    await using first = await startS3Store();
    const there = await openReady(first);
    await there.put('a', Buffer.from('one'), live);
    await using second = await startS3Store();
    second.ignoresConditions = true;
    for (const [key, object] of first.objects) second.objects.set(key, object);
    const copied = second.objects.get('pre/HOLDFAST-STORE')?.body.toString();
    const here = await open(second);
    expect(here.properties.conditionalCreate).toBe(false);
    await expect(here.put('a', Buffer.from('two'), live)).rejects.toMatchObject({ kind: 'exists' });
    expect((await here.get('a', undefined, live)).toString()).toBe('one');
    // Found out once and written down for the next.
    expect(second.objects.get('pre/HOLDFAST-STORE')?.body.toString()).not.toBe(copied);
    second.requests.length = 0;
    const again = await open(second);
    await again.put('b', Buffer.from('b'), live);
    expect(second.requests.filter(({ method }) => method === 'PUT')).toHaveLength(1);
  });

  test('does not believe a record that does not say of which store it holds', async () => {
    await using store = await startS3Store();
    store.ignoresConditions = true;
    await (await openReady(store)).close();
    const record = store.objects.get('pre/HOLDFAST-STORE');
    if (record === undefined) throw new Error('There is no record');
    const body = Buffer.from('{"version":1,"create":"one","checksum":false}');
    store.objects.set('pre/HOLDFAST-STORE', { ...record, body });
    const destination = await open(store);
    expect(destination.properties.conditionalCreate).toBe(false);
    await destination.put('a', Buffer.from('one'), live);
    await expect(destination.put('a', Buffer.from('two'), live)).rejects.toMatchObject({ kind: 'exists' });
  });

  test('with credentials that may not delete says so', async () => {
    await using store = await startS3Store();
    store.appendOnly = true;
    const destination = await openReady(store);
    expect(destination.properties.canDelete).toBe(false);
    await destination.put('a', Buffer.from('a'), live);
    await expect(destination.delete('a', live)).rejects.toMatchObject({ kind: 'denied' });
  });

  test.each([
    ['NoSuchBucket', 404, 'not-found'],
    ['InvalidAccessKeyId', 403, 'denied'],
    ['SignatureDoesNotMatch', 403, 'denied'],
    ['ExpiredToken', 400, 'denied'],
    ['SlowDown', 503, 'unreachable'],
  ])('of a store that answers %s is %s: %s', async (code, status, kind) => {
    await using store = await startS3Store();
    store.plan(() => true, { status, code }, 2);
    const failure = await open(store, { patience: impatient }).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      kind,
      message: expect.stringMatching(/^Cannot open s3:\/\/bucket\/pre: /),
    });
    expect(JSON.stringify(failure)).not.toContain('canary');
  });

  test('of a store that is overloaded for a moment succeeds, and is found out about by what it says of itself', async () => {
    await using store = await startS3Store();
    const { next: random } = seededRandom(17);
    const patience = { policy: { ...impatient.policy, attempts: 40 }, sleep: impatient.sleep };
    store.plan(({ method }) => method === 'PUT', 'lose-reply');
    store.plan(() => random() < 0.6, { status: 503, code: 'SlowDown' }, 12);
    store.plan(({ method }) => method === 'PUT' && random() < 0.5, 'lose-reply', 3);
    const destination = await open(store, { create: true, patience });
    expect(destination.properties.conditionalCreate).toBe(true);
    expect(JSON.parse(store.objects.get('pre/HOLDFAST-STORE')?.body.toString() ?? '')).toMatchObject({
      create: 'one',
    });
  });

  test('of a store that takes connections and does not even agree on how to speak is given up', async () => {
    const silent = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const endpoint = `https://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const place = {
      kind: 's3',
      bucket: 'b',
      prefix: '',
      endpoint,
      region: undefined,
      pathStyle: true,
    } as const;
    await expect(openS3Destination(place, KEYS, { stallMs: 300 })).rejects.toMatchObject({
      kind: 'unreachable',
    });
    silent.close();
  });

  test('of a store that does not answer is given up, and that is said', async () => {
    await using store = await startS3Store();
    store.plan(() => true, 'hang', 2);
    await expect(open(store, { stallMs: 300 })).rejects.toMatchObject({
      kind: 'unreachable',
      message: expect.stringMatching(/^Cannot open s3:\/\/bucket\/pre: no data was transferred for/),
    });
  });

  test('where nobody listens is unreachable', async () => {
    const store = await startS3Store();
    await store[Symbol.asyncDispose]();
    await expect(open(store)).rejects.toMatchObject({ kind: 'unreachable' });
  });
});

describe('every request', () => {
  test('is signed with all headers that say something, and with the hash of its body', async () => {
    await using store = await startS3Store();
    const destination = await openReady(store);
    await destination.put('packs/a', Buffer.from('body'), live);
    const headers: StoreRequest['headers'] = store.requests.findLast(of('PUT', 'packs/a'))?.headers ?? {};
    const signed = /SignedHeaders=([^,]+)/.exec(headers.authorization ?? '')?.[1]?.split(';') ?? [];
    const unsigned = Object.keys(headers).filter((name) => !signed.includes(name));
    // What connections are made of, and what is signed itself.
    expect(unsigned.toSorted()).toEqual(['authorization', 'connection', 'user-agent']);
    expect(headers['x-amz-content-sha256']).toMatch(/^[0-9a-f]{64}$/);
  });

  test('carries the storage class for packs alone, and the encryption for all', async () => {
    await using store = await startS3Store();
    const destination = await open(
      store,
      { create: true },
      { storageClass: 'STANDARD_IA', serverSideEncryption: 'AES256' },
    );
    await destination.put('packs/a', Buffer.from('a'), live);
    await destination.put('index/a', Buffer.from('a'), live);
    const put = (key: string) => store.requests.find(of('PUT', key))?.headers;
    expect(put('packs/a')).toMatchObject({
      'x-amz-storage-class': 'STANDARD_IA',
      'x-amz-server-side-encryption': 'AES256',
    });
    expect(put('index/a')?.['x-amz-storage-class']).toBeUndefined();
    expect(put('index/a')?.['x-amz-server-side-encryption']).toBe('AES256');
  });

  test('protects what it stores until a time, which can begin anew', async () => {
    await using store = await startS3Store();
    const clock = { now: () => Date.UTC(2030, 0, 1, 12), monotonic: () => 0, sleep: async () => {} };
    const objectLock = { mode: 'compliance' as const, days: 30 };
    const destination = await open(store, { create: true, clock }, { objectLock });
    await destination.put('packs/a', Buffer.from('a'), live);
    expect(store.requests.find(of('PUT', 'packs/a'))?.headers).toMatchObject({
      'x-amz-object-lock-mode': 'COMPLIANCE',
      'x-amz-object-lock-retain-until-date': expect.stringContaining('2030-01-31'),
      'content-md5': expect.any(String),
    });
    store.plan(of('PUT', 'packs/a'), { page: '' });
    await destination.retain?.('packs/a', live);
    const extension = store.requests.findLast(of('PUT', 'packs/a'));
    expect(extension?.query.has('retention')).toBe(true);
    expect(extension?.body.toString()).toMatch(/COMPLIANCE.*2030-01-31/s);
  });
});

describe('what a store does wrong', () => {
  const bytes = Buffer.from('0123456789');

  // As HTTP allows, and as proxies do that drop the header of ranges.
  test('takes its part of an object that comes whole', async () => {
    await using store = await startS3Store();
    const destination = await openReady(store, { stallMs: 500 });
    await destination.put('a', bytes, live);
    const whole = async (offset: number, length: number): Promise<string> => {
      store.plan(of('GET', 'a'), 'whole');
      return (await destination.get('a', { offset, length }, live)).toString();
    };
    expect(await whole(2, 4)).toBe('2345');
    expect(await whole(-3, 3)).toBe('789');
    expect(await whole(-3, 2)).toBe('78');
    store.plan(of('GET', 'a'), 'part-as-200');
    expect((await destination.get('a', { offset: 2, length: 4 }, live)).toString()).toBe('2345');
    await expect(whole(8, 4)).rejects.toMatchObject({ kind: 'corrupt-reply' });
    await expect(whole(-12, 4)).rejects.toMatchObject({ kind: 'corrupt-reply' });
  });

  test.each<[string, StoreFault, string]>([
    ['another part than was asked for', 'other-part', 'corrupt-reply'],
    ['a connection that closes in the body', 'cut-short', 'unreachable'],
    ['a page of something else', { page: '<html>Sign in</html>' }, 'unreachable'],
    ['status 500', { status: 500 }, 'unreachable'],
    ['status 503 with SlowDown', { status: 503, code: 'SlowDown' }, 'unreachable'],
    ['status 403', { status: 403, code: 'AccessDenied' }, 'denied'],
    ['a full store', { status: 507, code: 'XMinioStorageFull' }, 'full'],
    ['no answer', 'hang', 'unreachable'],
    ['a body that stops coming', 'hang-in-body', 'unreachable'],
  ])('is found when a part is read: %s', async (_, fault, kind) => {
    await using store = await startS3Store();
    const destination = await openReady(store, { stallMs: 500 });
    await destination.put('a', bytes, live);
    store.plan(of('GET', 'a'), fault);
    await expect(destination.get('a', { offset: 2, length: 4 }, live)).rejects.toMatchObject({ kind });
    expect((await destination.get('a', { offset: 2, length: 4 }, live)).toString()).toBe('2345');
  });

  test.each<[string, StoreFault, string]>([
    ['no answer', 'hang', 'unreachable'],
    ['status 500', { status: 500 }, 'unreachable'],
    ['a full store', { status: 403, code: 'QuotaExceeded' }, 'full'],
    ['revoked credentials', { status: 403, code: 'InvalidAccessKeyId' }, 'denied'],
    ['bytes that arrived damaged', { status: 400, code: 'BadDigest' }, 'unreachable'],
  ])('is found when an object is stored, and nothing is there: %s', async (_, fault, kind) => {
    await using store = await startS3Store();
    const destination = await openReady(store, { stallMs: 500 });
    store.plan(of('PUT', 'a'), fault);
    await expect(destination.put('a', bytes, live)).rejects.toMatchObject({ kind });
    expect(await keysIn(destination)).toEqual([]);
  });

  test.each<[string, StoreFault]>([
    ['has nothing of what it has taken', 'drop'],
    ['has half of what it has taken', 'keep-half'],
  ])('is found when it %s, and the object is stored anew', async (_, fault) => {
    await using store = await startS3Store();
    const destination = await openReady(store);
    store.plan(of('PUT', 'a'), fault);
    await expect(destination.put('a', bytes, live)).rejects.toMatchObject({
      kind: 'corrupt-reply',
      retry: 'now',
    });
    await destination.put('a', bytes, live);
    expect((await destination.get('a', undefined, live)).equals(bytes)).toBe(true);
  });

  test.each<[string, number]>([
    ['shorter', -3],
    ['longer', 3],
  ])('is found when all of an object is read and is %s than the store said', async (_, by) => {
    await using store = await startS3Store();
    const destination = await openReady(store);
    await destination.put('a', bytes, live);
    await using proxy = await startFaultProxy(store.endpoint);
    const through = await open({ ...store, endpoint: proxy.endpoint });
    const resize: Deed = async (asked, pass) => {
      const answer = await pass(asked);
      return { ...answer, body: Buffer.concat([answer.body, bytes]).subarray(0, bytes.length + by) };
    };
    proxy.inject([{ fits: ({ key }) => key === 'pre/a', most: 1, deed: resize }]);
    await expect(through.get('a', undefined, live)).rejects.toMatchObject({
      kind: 'corrupt-reply',
      retry: 'now',
    });
    expect(proxy.fired).toBe(1);
    expect((await through.get('a', undefined, live)).equals(bytes)).toBe(true);
  });

  test('is explained also where the answer itself cannot say it', async () => {
    await using store = await startS3Store();
    const destination = await openReady(store);
    await destination.put('a', Buffer.from('abc'), live);
    for (const [status, code, said] of [
      [403, 'InvalidAccessKeyId', /inspect a .*the credentials are wrong/],
      [400, 'ExpiredToken', /inspect a .*have expired/],
    ] as const) {
      store.plan(of('HEAD', 'a'), { status, code }, 1);
      store.plan(of('GET', 'a'), { status, code }, 1);
      await expect(destination.stat('a', live)).rejects.toMatchObject({
        kind: 'denied',
        message: expect.stringMatching(said),
      });
    }
    // Whoever may read it after all gets no other answer than the first.
    store.plan(of('HEAD', 'a'), { status: 403, code: 'AccessDenied' }, 1);
    await expect(destination.stat('a', live)).rejects.toMatchObject({ kind: 'denied' });
    await destination.close();
  });

  test('is given up when nobody takes what is sent', async () => {
    await using store = await startS3Store();
    const sockets = new Set<Socket>();
    let isStuck = false;
    const line = createServer((near) => {
      const far = connect(Number(new URL(store.endpoint).port), '127.0.0.1');
      for (const socket of [near, far]) sockets.add(socket.on('error', () => undefined));
      near.on('data', (data: Buffer) => {
        if (isStuck) near.pause();
        else far.write(data);
      });
      far.pipe(near);
    }).listen(0, '127.0.0.1');
    await once(line, 'listening');
    try {
      const { port } = line.address() as AddressInfo;
      const destination = await openReady(
        { ...store, endpoint: `http://127.0.0.1:${port}` },
        { stallMs: 800 },
      );
      isStuck = true;
      // More than all buffers on the way hold.
      const putting = destination.put('packs/a', Buffer.alloc(48_000_000), live);
      await expect(putting).rejects.toMatchObject({ kind: 'unreachable', details: { stalled: true } });
      expect([...store.objects.keys()]).not.toContain('pre/packs/a');
      await destination.close();
    } finally {
      for (const socket of sockets) socket.destroy();
      line.close();
    }
  });

  test('is no harm when the answer to a put is lost: it counts once', async () => {
    await using store = await startS3Store();
    const policy = { attempts: 3, firstDelayMs: 1, maxDelayMs: 1, random: () => 0 };
    const destination = withRetry(await openReady(store), policy);
    store.plan(of('PUT', 'a'), 'lose-reply');
    expect(await destination.put('a', bytes, live)).toMatchObject({ size: 10 });
    expect(store.requests.filter(of('PUT', 'a'))).toHaveLength(2);
  });

  test.each<[string, Change]>([
    ['names out of order', (keys) => ({ keys: keys.toReversed() })],
    ['a name twice', (keys) => ({ keys: [...keys, keys.at(-1) ?? ''], count: keys.length + 1 })],
    ['a count that does not fit', (keys) => ({ keys: keys.slice(1) })],
    ['more to come without saying how', () => ({ truncated: true, next: undefined })],
    ['names that were not asked for', () => ({ keys: ['other/a'], count: 1 })],
    ['the same page again and again', () => ({ truncated: true, next: 'again', keys: [], count: 0 })],
  ])('is found in a list with %s', async (_, change) => {
    await using store = await startS3Store();
    const destination = await openReady(store);
    for (const key of ['a', 'b', 'c']) await destination.put(key, bytes, live);
    const again = store.requests.length;
    store.plan(lists, changed(change));
    // Where it says that it goes on, it goes on as it began.
    if (change(['a']).next === 'again') store.plan(lists, changed(change));
    await expect(keysIn(destination)).rejects.toMatchObject({ kind: 'corrupt-reply' });
    expect(store.requests.length).toBeGreaterThan(again);
    expect(await keysIn(destination)).toEqual(['a', 'b', 'c']);
  });

  test('is found in a list that is a page of something else', async () => {
    await using store = await startS3Store();
    const destination = await openReady(store);
    store.plan(lists, { page: '<html><body>Sign in</body></html>' });
    await expect(keysIn(destination)).rejects.toMatchObject({
      kind: 'unreachable',
      message: expect.stringContaining('something else answers, such as the sign-in page of a network'),
    });
  });

  test('is none where a list comes slowly: it is waited for as long as it moves', async () => {
    await using store = await startS3Store();
    const destination = await openReady(store, { stallMs: 800 });
    const keys = Array.from({ length: 150 }, (_, at) => `packs/${String(at).padStart(40, '0')}`);
    for (const key of keys) store.objects.set(`pre/${key}`, { body: Buffer.from('a'), ms: 0 });
    store.plan(lists, { pieceBytes: 1400, pauseMs: 80 });
    expect(await keysIn(destination)).toEqual(keys);
    // Less than a kilobyte in that time is no progress.
    store.plan(lists, { pieceBytes: 10, pauseMs: 80 });
    await expect(keysIn(destination)).rejects.toMatchObject({
      kind: 'unreachable',
      details: { stalled: true },
    });
    await destination.close();
  });

  test('and two of five answers being failures, leaves everything stored once and read as it was', async () => {
    await using store = await startS3Store();
    const policy = { attempts: 40, firstDelayMs: 0, maxDelayMs: 0, random: () => 0 };
    const destination = withRetry(await openReady(store, { patience: impatient }), policy);
    const { next: random } = seededRandom(13);
    const hit = ({ key }: StoreRequest): boolean => key.startsWith('pre/packs/') && random() < 0.125;
    for (const fault of [{ status: 500 }, { status: 503, code: 'SlowDown' }, { status: 429 }])
      store.plan(hit, fault, 25);
    store.plan((request) => request.method === 'PUT' && hit(request), 'lose-reply', 10);
    const keys = Array.from({ length: 200 }, (_, number) => `packs/${number}`);
    for (const key of keys) await destination.put(key, Buffer.from(key), live);
    for (const key of keys) expect((await destination.get(key, undefined, live)).toString()).toBe(key);
    expect(await keysIn(destination)).toEqual(keys.toSorted());
  });

  test('says when it may be asked again', async () => {
    await using store = await startS3Store();
    const destination = await openReady(store);
    store.plan(of('GET', 'a'), { status: 503, code: 'SlowDown', headers: { 'retry-after': '7' } });
    await expect(destination.get('a', undefined, live)).rejects.toMatchObject({
      kind: 'unreachable',
      details: { retryAfterMs: 7_000, throttled: true, status: 503 },
    });
  });

  test('is left at once when the caller has had enough', async () => {
    await using store = await startS3Store();
    const destination = await openReady(store);
    store.plan(of('GET', 'a'), 'hang');
    const controller = new AbortController();
    const reading = destination.get('a', undefined, controller.signal);
    const reason = new Error('enough');
    await expect.poll(() => store.requests.some(of('GET', 'a'))).toBe(true);
    controller.abort(reason);
    await expect(reading).rejects.toBe(reason);
  });
});

/** Of the keys of a page, what it says in place of the truth. */
type Change = (keys: readonly string[]) => Partial<ListPage>;

function changed(change: Change): StoreFault {
  return { list: (page) => ({ ...page, ...change(page.keys) }) };
}
