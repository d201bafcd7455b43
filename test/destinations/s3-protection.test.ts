/** Object Lock over the life of a repository: what snapshots need stays protected, and others cannot be made to lose it. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  DeleteObjectCommand,
  HeadObjectCommand,
  ListObjectVersionsCommand,
  PutBucketPolicyCommand,
  type ObjectVersion,
} from '@aws-sdk/client-s3';
import { afterAll, expect, test } from 'vitest';
import type { S3Place } from '../../src/destination/location.ts';
import { openS3Destination } from '../../src/destination/s3/s3.ts';
import { startCeph, type CephServer } from '../servers/ceph.ts';
import { startMoto } from '../servers/moto.ts';
import type { S3Server } from '../servers/s3-server.ts';
import { startOrSkip } from '../servers/unavailable.ts';
import { openPlace, type Place } from '../support/cli.ts';
import { makeBucket, s3Client } from '../support/s3-bucket.ts';

const DAY_MS = 86_400_000;
const live = new AbortController().signal;
/** The command line names the destination; what it is reached with is in the settings. */
const env = { HOLDFAST_REPOSITORY: 'cloud' };

function configure(place: Place, server: S3Server, bucket: string, objectLockDays: number): void {
  const secret = join(place.directory, 's3-secret');
  writeFileSync(secret, `${server.secretAccessKey}\n`);
  chmodSync(secret, 0o600);
  mkdirSync(place.state, { recursive: true, mode: 0o700 });
  const url = `s3://${bucket}/laptop?endpoint=${encodeURIComponent(server.endpoint)}`;
  const s3 = { accessKeyId: server.accessKeyId, secretAccessKey: { file: secret }, objectLockDays };
  const document = { destinations: { cloud: { url, access: { s3 } } } };
  writeFileSync(join(place.state, 'config.json'), JSON.stringify(document), { mode: 0o600 });
}

/** All but to extend the time of key files, which another identity has stored. */
function policyWithoutRetention(bucket: string, user: string): object {
  const Principal = { AWS: [`arn:aws:iam:::user/${user}`] };
  const all = [`arn:aws:s3:::${bucket}`, `arn:aws:s3:::${bucket}/*`];
  return {
    Version: '2012-10-17',
    Statement: [
      { Effect: 'Allow', Principal, Action: ['s3:*'], Resource: all },
      {
        Effect: 'Deny',
        Principal,
        Action: ['s3:PutObjectRetention'],
        Resource: [`arn:aws:s3:::${bucket}/laptop/keys/*`],
      },
      { Effect: 'Allow', Principal: { AWS: ['arn:aws:iam:::user/test'] }, Action: ['s3:*'], Resource: all },
    ],
  };
}

for (const [name, start] of [
  ['moto', startMoto],
  ['Ceph', startCeph],
] as const) {
  const found = await startOrSkip<S3Server>(start);
  if ('missing' in found) {
    test.skip(`${name} was not tested: ${found.missing}`, () => {});
    continue;
  }
  const { server } = found;
  const owner = s3Client(server);
  afterAll(async () => {
    owner.destroy();
    await server[Symbol.asyncDispose]();
  });

  const versionsIn = async (bucket: string): Promise<readonly ObjectVersion[]> =>
    (await owner.send(new ListObjectVersionsCommand({ Bucket: bucket, Prefix: 'laptop/' }))).Versions ?? [];

  /** By key: until when it is protected. */
  const datesIn = async (bucket: string): Promise<ReadonlyMap<string, number>> => {
    const dates = new Map<string, number>();
    for (const { Key: key = '', IsLatest: latest } of await versionsIn(bucket)) {
      if (latest !== true || key.includes('HOLDFAST')) continue;
      const { ObjectLockRetainUntilDate: date } = await owner.send(
        new HeadObjectCommand({ Bucket: bucket, Key: key }),
      );
      dates.set(key.slice('laptop/'.length), date?.getTime() ?? 0);
    }
    return dates;
  };
  const needed = (key: string): boolean => !/^(?:heads|leases|trash)\//.test(key);

  test(`on ${name} backups extend the time of all that is needed, and nothing of it can be removed`, async () => {
    await using place = await openPlace();
    await makeBucket(server, 'protected', { ObjectLockEnabledForBucket: true });
    await place.write({ 'a.txt': 'first', 'b.bin': Buffer.alloc(300_000, 'b') });
    configure(place, server, 'protected', 2);
    await place.expectRun(['init'], 0, { env });
    await place.expectRun(['backup', place.source], 0, { env });
    const before = await datesIn('protected');
    const first = [...before.keys()].filter(needed);
    expect(first.length).toBeGreaterThanOrEqual(6);
    for (const key of first) expect(before.get(key), key).toBeGreaterThan(Date.now() + 1.9 * DAY_MS);

    // The same as if nine of ten days were over.
    configure(place, server, 'protected', 20);
    await place.expectRun(['backup', place.source], 0, { env });
    const after = await datesIn('protected');
    for (const key of first) expect(after.get(key), key).toBeGreaterThan(Date.now() + 19 * DAY_MS);

    const versions = (await versionsIn('protected')).filter(({ Key: key = '' }) =>
      first.includes(key.slice('laptop/'.length)),
    );
    expect(versions.length).toBeGreaterThanOrEqual(first.length);
    for (const { Key, VersionId } of versions)
      await expect(
        owner.send(new DeleteObjectCommand({ Bucket: 'protected', Key, VersionId })),
      ).rejects.toMatchObject({ $metadata: { httpStatusCode: 403 } });
    await place.expectRun(['check', '--read-data'], 0, { env });
  });

  if (name === 'Ceph')
    test('an object that is protected for longer than asked for stays so, and that is no failure', async () => {
      await makeBucket(server, 'longer', { ObjectLockEnabledForBucket: true });
      const place: S3Place = {
        kind: 's3',
        bucket: 'longer',
        prefix: 'laptop',
        endpoint: server.endpoint,
        region: undefined,
        pathStyle: true,
      };
      const openFor = async (days: number) =>
        await openS3Destination(place, { ...server, objectLock: { mode: 'compliance', days } });
      const [long, short] = [await openFor(3), await openFor(1)];
      await long.put('packs/a', Buffer.from('a'), live);
      const before = (await datesIn('longer')).get('packs/a');
      await short.retain?.('packs/a', live);
      expect((await datesIn('longer')).get('packs/a')).toBe(before);
      await expect(short.retain?.('packs/b', live)).rejects.toMatchObject({ kind: 'not-found' });
      await long.close();
      await short.close();
    });

  if (name === 'Ceph')
    test('without the right to extend it a backup is complete, and says what is missing', async () => {
      await using place = await openPlace();
      await makeBucket(server, 'refusing', { ObjectLockEnabledForBucket: true });
      await place.write({ 'a.txt': 'first' });
      configure(place, server, 'refusing', 2);
      await place.expectRun(['init'], 0, { env });
      const laptop = await (server as CephServer).addUser('laptop');
      const Policy = JSON.stringify(policyWithoutRetention('refusing', 'laptop'));
      await owner.send(new PutBucketPolicyCommand({ Bucket: 'refusing', Policy }));
      configure(place, { ...server, ...laptop }, 'refusing', 2);
      const { stderr } = await place.expectRun(['backup', place.source], 0, { env });
      expect(stderr).toMatch(/Warning: The backup is complete, but .*Allow s3:PutObjectRetention/);
      expect((await place.expectRun(['ls', 'latest'], 0, { env })).stdout).toContain('a.txt');
      const dates = await datesIn('refusing');
      for (const [key, until] of dates)
        if (needed(key)) expect(until, key).toBeGreaterThan(Date.now() + 1.9 * DAY_MS);
    });
}
