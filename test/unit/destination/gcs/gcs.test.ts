// Turn 3 of 8.
import { describe, expect, test } from 'vitest';
import { DestinationError } from '../../../../src/base/errors.ts';
import type { Destination } from '../../../../src/destination/destination.ts';
import { openGoogleDestination } from '../../../../src/destination/gcs/gcs.ts';
import type { GooglePlace } from '../../../../src/destination/location.ts';
import { startGoogleStore, type GoogleStore } from '../../../support/google-store.ts';

const live = new AbortController().signal;

async function collectList(destination: Destination, signal = live): Promise<readonly string[]> {
  const keys: string[] = [];
  for await (const page of destination.list('', signal)) keys.push(...page.map(({ key }) => key));
  return keys;
}

const silence = async (): Promise<never> => await new Promise(() => {});

function placeIn({ endpoint }: GoogleStore, prefix = 'pre'): GooglePlace {
  return { kind: 'gs', bucket: 'bucket', prefix, endpoint };
}

describe('a bucket of Google Cloud Storage', () => {
  test('that is not there is not found', async () => {
    await using store = await startGoogleStore();
    const opening = openGoogleDestination({ ...placeIn(store), bucket: 'absent' });
    await expect(opening).rejects.toMatchObject({ kind: 'not-found' });
  });

  test('with credentials that may not delete only grows', async () => {
    await using store = await startGoogleStore();
    store.appendOnly = true;
    const destination = await openGoogleDestination(placeIn(store));
    expect(destination.properties.canDelete).toBe(false);
    await destination.put('a', Buffer.from('a'), live);
    await expect(destination.delete('a', live)).rejects.toMatchObject({ kind: 'denied' });
  });

  test.each([
    [true, 429, 'rateLimitExceeded', { kind: 'unreachable', details: { throttled: true } }],
    [true, 503, 'backendError', { kind: 'unreachable' }],
    [true, 403, 'forbidden', { kind: 'denied' }],
    [false, 403, 'rateLimitExceeded', { kind: 'unreachable' }],
  ])(
    'that answers (in the object itself: %s) with %s %s to a read is told for what it is',
    async (media, status, reason, expected) => {
      await using store = await startGoogleStore();
      const destination = await openGoogleDestination(placeIn(store));
      await destination.put('a', Buffer.from('abc'), live);
      store.failures.push({ method: 'GET', media, status, reason });
      await expect(destination.get('a', undefined, live)).rejects.toMatchObject(expected);
      expect((await destination.get('a', undefined, live)).toString()).toBe('abc');
    },
  );

  test.each([
    ['GET', false, async (destination: Destination) => await destination.stat('a', live)],
    ['GET', true, async (destination: Destination) => await destination.get('a', undefined, live)],
    ['GET', false, async (destination: Destination) => await collectList(destination)],
    ['POST', false, async (destination: Destination) => await destination.put('b', Buffer.from('b'), live)],
    ['DELETE', false, async (destination: Destination) => await destination.delete('a', live)],
  ])(
    'that answers to %s (in the object itself: %s) when it wants to be asked again is taken at its word',
    async (method, media, call) => {
      await using store = await startGoogleStore();
      const destination = await openGoogleDestination(placeIn(store));
      await destination.put('a', Buffer.from('abc'), live);
      store.failures.push({ method, media, status: 429, reason: 'rateLimitExceeded', after: '120' });
      await expect(call(destination)).rejects.toMatchObject({
        kind: 'unreachable',
        details: { throttled: true, retryAfterMs: 120_000 },
      });
      const inAMinute = new Date(Date.now() + 60_000).toUTCString();
      store.failures.push({ method, media, status: 503, reason: 'backendError', after: inAMinute });
      const error = await call(destination).catch((failure: unknown) => failure);
      expect(error).toMatchObject({ details: { retryAfterMs: expect.any(Number) } });
    },
  );

  describe.each([
    ['a page', { status: 200, type: 'text/html', text: '<html>Sign in</html>' }, 'unreachable'],
    ['a page without a type', { status: 200, type: undefined, text: '<html>Sign in</html>' }, 'unreachable'],
    ['nothing', { status: 200, type: undefined, text: '' }, 'unreachable'],
    ['nothing as JSON', { status: 200, type: 'application/json', text: '' }, 'corrupt-reply'],
    ['JSON of another', { status: 200, type: 'application/json', text: '{"message":"ok"}' }, 'unreachable'],
    ['null', { status: 200, type: 'application/json', text: 'null' }, 'unreachable'],
    [
      'JSON that is cut',
      { status: 200, type: 'application/json', text: '{"kind":"storage#objects","items":[{' },
      'corrupt-reply',
    ],
  ] as const)('in whose place comes %s', (_, foreign, kind) => {
    test('is not believed to be empty, to have stored or to have deleted', async () => {
      await using store = await startGoogleStore();
      const destination = await openGoogleDestination(placeIn(store));
      await destination.put('a', Buffer.from('abc'), live);
      store.foreign = foreign;
      await expect(collectList(destination)).rejects.toMatchObject({ kind });
      await expect(destination.stat('a', live)).rejects.toMatchObject({ kind });
      await expect(destination.get('a', undefined, live)).rejects.toMatchObject({ kind });
      await expect(destination.put('b', Buffer.from('b'), live)).rejects.toMatchObject({ kind });
      await expect(destination.delete('a', live)).rejects.toBeInstanceOf(DestinationError);
      store.foreign = undefined;
      expect(await collectList(destination)).toEqual(['a']);
    });
  });

  test('is not opened with something that is no key, which no message repeats', async () => {
    await using store = await startGoogleStore();
    const failure = await openGoogleDestination(placeIn(store), { credentials: 'canary' }).catch(
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({ code: 'INVALID_DESTINATION' });
    expect(String(failure)).not.toContain('canary');
  });

  describe.each([
    ['a look', async (destination: Destination, signal: AbortSignal) => await destination.stat('a', signal)],
    ['a read', async (destination, signal) => await destination.get('a', undefined, signal)],
    ['a list', async (destination, signal) => await collectList(destination, signal)],
    ['a delete', async (destination, signal) => await destination.delete('a', signal)],
    ['a put', async (destination, signal) => await destination.put('b', Buffer.alloc(20_000_000), signal)],
  ] satisfies readonly (readonly [
    string,
    (destination: Destination, signal: AbortSignal) => Promise<unknown>,
  ])[])('that says nothing to %s', (_, call) => {
    test('is not asked any longer once that counts as failed', async () => {
      await using store = await startGoogleStore();
      const destination = await openGoogleDestination(placeIn(store), {}, { stallMs: 300 });
      await destination.put('a', Buffer.from('abc'), live);
      store.before = silence;
      await expect(call(destination, live)).rejects.toMatchObject({ details: { stalled: true } });
      await expect.poll(() => store.open).toEqual(new Set());
    });

    test('is not asked any longer by who is told to stop, nor once it is closed', async () => {
      await using store = await startGoogleStore();
      const destination = await openGoogleDestination(placeIn(store));
      await destination.put('a', Buffer.from('abc'), live);
      store.before = silence;
      const abort = new AbortController();
      const reason = new Error('enough');
      const stopped = call(destination, abort.signal);
      stopped.catch(() => {});
      await expect.poll(() => store.open.size).toBe(1);
      abort.abort(reason);
      await expect(stopped).rejects.toBe(reason);
      await expect.poll(() => store.open.size).toBe(0);
      const closed = call(destination, live);
      closed.catch(() => {});
      await expect.poll(() => store.open.size).toBe(1);
      await destination.close();
      await expect(closed).rejects.toMatchObject({ kind: 'unreachable' });
      await expect.poll(() => store.open.size).toBe(0);
    });
  });

  test('that is silent while it is opened is not asked any longer after that', async () => {
    await using store = await startGoogleStore();
    store.before = silence;
    const opening = openGoogleDestination(placeIn(store), {}, { stallMs: 300 });
    await expect(opening).rejects.toMatchObject({ kind: 'unreachable' });
    await expect.poll(() => store.open).toEqual(new Set());
  });

  test('whose lists come slowly is waited for as long as they move', async () => {
    await using store = await startGoogleStore();
    const destination = await openGoogleDestination(placeIn(store), {}, { stallMs: 800 });
    const keys = Array.from({ length: 100 }, (_, at) => `packs/${String(at).padStart(40, '0')}`);
    for (const key of keys) store.objects.set(`pre/${key}`, { body: Buffer.from('a'), ms: 0 });
    store.slowLists = { pieceBytes: 1400, pauseMs: 80 };
    expect(await collectList(destination)).toEqual(keys);
    // Less than a kilobyte in that time is no progress.
    store.slowLists = { pieceBytes: 10, pauseMs: 80 };
    await expect(collectList(destination)).rejects.toMatchObject({
      kind: 'unreachable',
      details: { stalled: true },
    });
    await destination.close();
  });

  test('of which a read is broken off goes on with what else it is asked', async () => {
    await using store = await startGoogleStore();
    const destination = await openGoogleDestination(placeIn(store));
    await destination.put('a', Buffer.from('abc'), live);
    await destination.put('b', Buffer.from('b'), live);
    const begun = Promise.withResolvers<void>();
    store.before = async (asked, response) => {
      if (!asked.includes('alt=media')) return;
      response.writeHead(200, { 'content-length': 3 }).write('a', () => begun.resolve());
      await silence();
    };
    const abort = new AbortController();
    const reading = destination.get('a', undefined, abort.signal);
    reading.catch(() => {});
    await begun.promise;
    const beside = Promise.withResolvers<void>();
    store.before = async () => await beside.promise;
    const others = Promise.all([destination.stat('b', live), collectList(destination)]);
    others.catch(() => {});
    await expect.poll(() => store.open.size).toBe(3);
    abort.abort(new Error('enough'));
    await expect.poll(() => store.open.size).toBe(2);
    beside.resolve();
    expect(await others).toMatchObject([{ size: 1 }, ['a', 'b']]);
  });
});
