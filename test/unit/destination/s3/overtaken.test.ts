/** Two writers of one key where the store does not keep the second from replacing what the first has stored. */
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Destination } from '../../../../src/destination/destination.ts';
import { withRetry } from '../../../../src/destination/retry.ts';
import { openS3Destination } from '../../../../src/destination/s3/s3.ts';
import { startS3Store, type S3Store, type StoreRequest } from '../../../support/s3-store.ts';

const live = new AbortController().signal;
const policy = { attempts: 3, firstDelayMs: 0, maxDelayMs: 0, random: () => 0 };
const own = Buffer.from('of this writer');
const others = Buffer.from('of another writer');

async function open({ endpoint }: S3Store): Promise<Destination> {
  return await openS3Destination(
    { kind: 's3', bucket: 'bucket', prefix: 'pre', endpoint, region: undefined, pathStyle: true },
    { accessKeyId: 'AKTEST', secretAccessKey: 'secret' },
    { create: true },
  );
}

const of =
  (method: string, key: string) =>
  (request: StoreRequest): boolean =>
    request.method === method && request.key === `pre/${key}`;

describe.each<[string, Partial<S3Store>]>([
  ['ignores conditions', { ignoresConditions: true }],
  ['lets all win who come at the same moment', { looksFirst: true }],
])('a store that %s', (_, ways) => {
  test('keeps the object of another who came after, and says that it exists', async () => {
    await using store = await startS3Store();
    Object.assign(store, ways);
    const destination = withRetry(await open(store), policy);
    expect(destination.properties.conditionalCreate).toBe(false);
    store.plan(of('PUT', 'keys/ring-2'), { overtakenBy: others });
    await expect(destination.put('keys/ring-2', own, live)).rejects.toMatchObject({ kind: 'exists' });
    // The other one was told that it is stored.
    expect(store.objects.get('pre/keys/ring-2')?.body.toString()).toBe(others.toString());
    expect(store.requests.filter(of('DELETE', 'keys/ring-2'))).toEqual([]);
    await destination.close();
  });

  test('has a damaged object in the place of one that is named by its bytes: it is stored anew', async () => {
    await using store = await startS3Store();
    Object.assign(store, ways);
    const destination = withRetry(await open(store), policy);
    const key = `packs/aa/${createHash('sha256').update(own).digest('hex')}`;
    store.plan(of('PUT', key), 'keep-half');
    expect(await destination.put(key, own, live)).toMatchObject({ size: own.length });
    expect(store.objects.get(`pre/${key}`)?.body.toString()).toBe(own.toString());
    await destination.close();
  });
});

test('a store of whose writers exactly one creates has a damaged object where it has other bytes: it is stored anew', async () => {
  await using store = await startS3Store();
  const destination = withRetry(await open(store), policy);
  store.plan(of('PUT', 'keys/ring-2'), 'keep-half');
  expect(await destination.put('keys/ring-2', own, live)).toMatchObject({ size: own.length });
  expect(store.objects.get('pre/keys/ring-2')?.body.toString()).toBe(own.toString());
  await destination.close();
});
