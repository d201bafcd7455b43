/** Buckets that protect what is stored, by versions and Object Lock or by refusing to delete. */
// Turn 2 of 8.
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../../src/base/clock.ts';
import type { Destination } from '../../../../src/destination/destination.ts';
import { probeDestination } from '../../../../src/destination/open/probe.ts';
import { openS3Destination } from '../../../../src/destination/s3/s3.ts';
import { startS3Store, type S3Store } from '../../../support/s3-store.ts';

const live = new AbortController().signal;

async function open(store: S3Store, access: object = {}): Promise<Destination> {
  const { endpoint } = store;
  const place = { kind: 's3' as const, bucket: 'bucket', prefix: 'pre', endpoint, region: undefined };
  const keys = { accessKeyId: 'AKTEST', secretAccessKey: 'canary' };
  return await openS3Destination({ ...place, pathStyle: true }, { ...keys, ...access }, { create: true });
}

async function finding(destination: Destination, check: string) {
  const findings = await probeDestination(destination, systemClock, live);
  return findings.find((one) => one.check === check);
}

test('a bucket that protects all it gets is tried out and used like any other', async () => {
  await using store = await startS3Store();
  store.protectsByDefault = true;
  const destination = await open(store);
  expect(destination.properties.conditionalCreate).toBe(true);
  await destination.put('a', Buffer.from('abc'), live);
  await expect(destination.put('a', Buffer.from('abd'), live)).rejects.toMatchObject({ kind: 'exists' });
  await destination.close();
});

test('a bucket without Object Lock that is to protect objects is named as what is wrong', async () => {
  await using store = await startS3Store();
  const destination = await open(store, { objectLock: { mode: 'compliance', days: 3 } });
  store.plan(({ method }) => method === 'PUT', { status: 400, code: 'InvalidRequest' });
  await expect(destination.put('a', Buffer.from('abc'), live)).rejects.toMatchObject({
    kind: 'unsupported',
    hint: expect.stringContaining('Object Lock must be enabled on the bucket'),
  });
  await destination.close();
});

describe('a bucket that keeps versions', () => {
  test('is known by what it says of a delete', async () => {
    await using store = await startS3Store();
    store.keepsVersions = true;
    const destination = await open(store);
    await destination.put('a', Buffer.from('abc'), live);
    await destination.delete('a', live);
    expect(destination.properties.keepsDeleted).toBe('hidden');
    await destination.close();
  });

  test('gets no large object on trial, and the trial says what stays', async () => {
    await using store = await startS3Store();
    store.keepsVersions = true;
    const destination = await open(store);
    const findings = await probeDestination(destination, systemClock, live);
    expect(findings.map(({ status }) => status)).toEqual(findings.map(() => 'ok'));
    expect(findings.find(({ check }) => check === 'large')?.message).toContain('was not tested');
    expect(findings.find(({ check }) => check === 'delete')?.message).toContain('as an older version');
    await destination.close();
  });

  test('an ordinary bucket is none', async () => {
    await using store = await startS3Store();
    const destination = await open(store);
    await destination.put('a', Buffer.from('abc'), live);
    await destination.delete('a', live);
    expect(destination.properties.keepsDeleted).toBeUndefined();
    await destination.close();
  });
});

test.each([
  'Access Denied because object protected by object lock.',
  'The object is subject to the retention policy of the bucket and cannot be deleted until 2027-01-01',
  'Object is WORM protected and cannot be overwritten',
])('a store that refuses to delete for now can be used: %s', async (words) => {
  await using store = await startS3Store();
  store.protects = words;
  const destination = await open(store);
  await destination.put('a', Buffer.from('abc'), live);
  await expect(destination.delete('a', live)).rejects.toMatchObject({
    kind: 'denied',
    retry: 'later',
    message: expect.stringContaining('protects it from being removed for now'),
    details: { protectedForNow: true },
  });
  expect(destination.properties.keepsDeleted).toBe('refused');
  expect(await finding(destination, 'delete')).toMatchObject({
    status: 'warning',
    hint: expect.stringContaining('Backups work nevertheless'),
  });
  await destination.close();
});

test('whoever has no right to delete is told so', async () => {
  await using store = await startS3Store();
  store.protects = 'User is not allowed to do that, because of its policy';
  const destination = await open(store);
  await destination.put('a', Buffer.from('abc'), live);
  await expect(destination.delete('a', live)).rejects.toMatchObject({
    kind: 'denied',
    message: expect.stringContaining('the store refuses'),
  });
  await destination.close();
});
