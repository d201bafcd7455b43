/** The agent with a destination that is not on this machine: an S3 store in this process. */
// Turn 6 of 8.
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { AT_USUAL_COST, openDaemonSite, type DaemonSite } from '../support/daemon-site.ts';
import { startS3Store, type S3Store } from '../support/s3-store.ts';

const SECRET = 'canary/of+the/secret+access+key+0123456789';

async function configureBucket(site: DaemonSite, store: S3Store, more: object = {}): Promise<void> {
  const file = join(site.directory, 's3-secret');
  writeFileSync(file, `${SECRET}\n`);
  chmodSync(file, 0o600);
  const passphrase = join(site.directory, 'passphrase');
  writeFileSync(passphrase, 'correct horse battery staple\n');
  chmodSync(passphrase, 0o600);
  await site.configure({
    defaultDestination: 'bucket',
    destinations: {
      bucket: {
        url: `s3://bucket/laptop?endpoint=${store.endpoint}`,
        passphrase: { file: passphrase },
        access: { s3: { accessKeyId: 'AKTEST', secretAccessKey: { file }, ...more } },
      },
    },
  });
}

/** All that the agent wrote down. */
function written(directory: string): string {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n');
}

test('the agent backs up to a bucket with the access of the settings, finds files there and keeps the secret', async () => {
  await using store = await startS3Store();
  await using site = await openDaemonSite({ environment: AT_USUAL_COST });
  await configureBucket(site, store);
  site.write({ 'a.txt': 'hello', 'deep/b.txt': 'there' });
  const first = await site.backUp();
  expect(first).toMatchObject({ status: 'completed', spec: { destination: 'bucket' } });
  expect([...store.objects.keys()].filter((key) => key.startsWith('laptop/snapshots/'))).toHaveLength(1);
  const signed = store.requests.filter(
    ({ headers }) => headers.authorization?.includes('Credential=AKTEST/') === true,
  );
  expect(signed).toHaveLength(store.requests.length);

  const { data: found } = await site.get<{ data: { items: { name: string }[] } }>('/v1/files?q=b.txt');
  expect(found.items.map(({ name }) => name)).toEqual(['b.txt']);
  const { data: status } = await site.get<{ data: { destinations: object[] } }>('/v1/status');
  expect(status.destinations).toMatchObject([
    { name: 'bucket', url: expect.stringMatching(/^s3:\/\/bucket\/laptop/), reachable: true },
  ]);

  /** What was asked since the last time, once nothing more is. */
  const asked = async (): Promise<readonly string[]> => {
    await site.get<object>('/v1/files?q=c.txt');
    return (
      store.requests
        .splice(0)
        .map(({ method, key }) => (key === '' ? 'LIST' : `${method} ${key.split('/')[1]}`))
        // A directory above the source, which all tests share, may change at any time, and is then stored anew.
        .filter((one) => !/^(?:PUT|HEAD) (?:packs|index)$/.test(one))
    );
  };
  site.write({ 'c.txt': 'new' });
  expect(await site.backUp()).toMatchObject({ status: 'completed' });
  await asked();
  expect(await site.backUp()).toMatchObject({ status: 'completed' });
  const all = await asked();
  const backup = ['LIST', 'PUT leases', 'HEAD leases', 'LIST', 'LIST', 'LIST'];
  const commit = ['PUT snapshots', 'HEAD snapshots', 'PUT heads', 'HEAD heads', 'DELETE leases'];
  const catalog = ['DELETE HOLDFAST-TRIAL-delete', 'GET HOLDFAST-STORE', 'LIST'];
  expect(all.toSorted()).toEqual([...backup, ...commit, ...catalog].toSorted());
  expect(written(site.state)).not.toContain(SECRET);
  expect(site.log.join('\n')).not.toContain(SECRET);
});

test('a bucket that was emptied behind the agent’s back is not made a new repository', async () => {
  await using store = await startS3Store();
  await using site = await openDaemonSite();
  await configureBucket(site, store);
  site.write({ 'a.txt': 'hello' });
  expect(await site.backUp()).toMatchObject({ status: 'completed' });
  store.objects.clear();
  const after = await site.backUp();
  expect(after).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('is empty') } });
  expect([...store.objects.keys()].filter((key) => !key.includes('HOLDFAST'))).toEqual([]);
});

test('credentials that are revoked while a backup runs end it with that reason, and what was there stays', async () => {
  await using store = await startS3Store();
  await using site = await openDaemonSite();
  await configureBucket(site, store);
  site.write({ 'a.txt': 'hello' });
  expect(await site.backUp()).toMatchObject({ status: 'completed' });
  const before = [...store.objects.keys()].filter((key) => key.startsWith('laptop/snapshots/'));
  site.write({ 'b.txt': 'new' });
  store.plan(({ method, key }) => method === 'PUT' && key.includes('/packs/'), {
    status: 403,
    code: 'InvalidAccessKeyId',
  });
  const after = await site.backUp();
  expect(after).toMatchObject({
    status: 'failed',
    error: { code: 'DESTINATION_AUTH_FAILED', message: expect.stringContaining('credentials are wrong') },
  });
  expect([...store.objects.keys()].filter((key) => key.startsWith('laptop/snapshots/'))).toEqual(before);
  expect(await site.backUp()).toMatchObject({ status: 'completed' });
});

test('what snapshots need stays protected, and a job whose right to that is missing says so and is complete', async () => {
  await using store = await startS3Store();
  await using site = await openDaemonSite();
  await configureBucket(site, store, { objectLockDays: 30 });
  site.write({ 'a.txt': 'hello' });
  const extended = (): readonly string[] =>
    store.requests
      .splice(0)
      .filter(({ query }) => query.has('retention'))
      .map(({ key }) => key.split('/')[1] ?? '');
  for (const name of ['first', 'second']) {
    expect(await site.backUp(), name).toMatchObject({ status: 'completed' });
    // What the agent has put itself is protected for the whole time.
    expect(extended(), name).toEqual([]);
  }
  await configureBucket(site, store, { objectLockDays: 90 });
  expect(await site.backUp()).toMatchObject({ status: 'completed' });
  expect([...new Set(extended())].toSorted()).toEqual([
    'config',
    'copies',
    'index',
    'keys',
    'packs',
    'snapshots',
  ]);

  await configureBucket(site, store, { objectLockDays: 270 });
  store.refusesRetention = true;
  const job = await site.backUp();
  expect(job).toMatchObject({ status: 'completed' });
  expect(extended().length).toBeGreaterThan(5);
  const told = await site.get<object>(`/v1/backup/${job.id}/log`);
  expect(JSON.stringify(told)).toContain('Allow s3:PutObjectRetention');
});
