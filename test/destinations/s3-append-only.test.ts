/** What somebody who took over a host can do to its backups on a real S3 server: with all its keys, not much. */
import {
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectVersionsCommand,
  PutBucketPolicyCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  PutObjectLockConfigurationCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, describe, expect, test } from 'vitest';
import { join } from 'node:path';
import { startCeph } from '../servers/ceph.ts';
import { startOrSkip } from '../servers/unavailable.ts';
import { jsonLines, openPlace, type RunOptions } from '../support/cli.ts';
import { compareTrees, shownDifference } from '../support/compare-trees.ts';
import { openS3Destination } from '../../src/destination/s3/s3.ts';
import { makeBucket, s3Client } from '../support/s3-bucket.ts';

const live = new AbortController().signal;
const found = await startOrSkip(startCeph);

if ('missing' in found) {
  test.skip(`Ceph was not tested: ${found.missing}`, () => {});
} else {
  const { server } = found;
  const owner = s3Client(server);
  const clients: S3Client[] = [owner];
  afterAll(async () => {
    for (const client of clients) client.destroy();
    await server[Symbol.asyncDispose]();
  });
  const urlOf = (bucket: string): string =>
    `s3://${bucket}/laptop?endpoint=${encodeURIComponent(server.endpoint)}`;
  const optionsOf = (bucket: string, keys: { accessKeyId: string; secretAccessKey: string }): RunOptions => ({
    env: {
      HOLDFAST_REPOSITORY: urlOf(bucket),
      AWS_ACCESS_KEY_ID: keys.accessKeyId,
      AWS_SECRET_ACCESS_KEY: keys.secretAccessKey,
    },
  });

  test('with append-only credentials all works but prune, and no committed snapshot can be removed or altered', async () => {
    await using place = await openPlace();
    await makeBucket(server, 'append');
    const laptop = await server.addUser('laptop');
    await owner.send(
      new PutBucketVersioningCommand({ Bucket: 'append', VersioningConfiguration: { Status: 'Enabled' } }),
    );
    await owner.send(
      new PutBucketPolicyCommand({ Bucket: 'append', Policy: appendOnlyPolicy('append', 'laptop') }),
    );
    const options = optionsOf('append', laptop);
    await place.write({ 'a.txt': 'first', 'b.bin': Buffer.alloc(300_000, 'b') });
    await place.expectRun(['init'], 0, options);
    await place.expectRun(['backup', place.source], 0, options);
    await place.expectRun(['check', '--read-data'], 0, options);
    const pruned = await place.run(['prune', '--grace', '0s', '--no-other-writers'], options);
    expect([pruned.code, pruned.stderr]).toEqual([1, expect.stringMatching(/delete/)]);

    // The attacker has the keys, and tries everything on every object.
    const attacker = s3Client({ ...server, ...laptop });
    clients.push(attacker);
    const { Versions: versions = [] } = await owner.send(new ListObjectVersionsCommand({ Bucket: 'append' }));
    expect(versions.length).toBeGreaterThan(5);
    const refused = async (attempt: Promise<unknown>): Promise<void> =>
      await expect(attempt).rejects.toMatchObject({ $metadata: { httpStatusCode: 403 } });
    for (const { Key, VersionId } of versions) {
      await refused(attacker.send(new DeleteObjectCommand({ Bucket: 'append', Key })));
      await refused(attacker.send(new DeleteObjectCommand({ Bucket: 'append', Key, VersionId })));
      await attacker.send(new PutObjectCommand({ Bucket: 'append', Key, Body: 'gone' })).catch(() => {});
    }
    const Delete = { Objects: versions.map(({ Key }) => ({ Key })) };
    const all = await attacker
      .send(new DeleteObjectsCommand({ Bucket: 'append', Delete }))
      .catch(() => undefined);
    expect(all?.Deleted ?? []).toEqual([]);
    await refused(
      attacker.send(
        new PutBucketVersioningCommand({
          Bucket: 'append',
          VersioningConfiguration: { Status: 'Suspended' },
        }),
      ),
    );
    await refused(attacker.send(new PutBucketPolicyCommand({ Bucket: 'append', Policy: '{}' })));

    // What was committed is there as it was, under what was written over it; its owner brings it back.
    await makeBucket(server, 'saved');
    for (const { Key, VersionId } of versions) {
      const { Body } = await owner.send(new GetObjectCommand({ Bucket: 'append', Key, VersionId }));
      const bytes = await Body?.transformToByteArray();
      await owner.send(new PutObjectCommand({ Bucket: 'saved', Key, Body: bytes ?? '' }));
    }
    const saved = optionsOf('saved', server);
    await place.expectRun(['check', '--read-data'], 0, saved);
    const target = join(place.directory, 'back');
    await place.expectRun(['restore', 'latest', '--target', target], 0, saved);
    expect(compareTrees(place.source, join(target, place.source)).map(shownDifference)).toEqual([]);

    // Somebody else, who may, prunes; the signs of backups at work stay there for a while, as nobody could take them away.
    await place.expectRun(['forget', '--keep-last', '1'], 0, saved);
    await place.expectRun(['prune'], 0, saved);
    expect(jsonLines(await place.expectRun(['snapshots', '--json'], 0, saved))).toHaveLength(1);
  });

  describe('Object Lock', () => {
    test('keeps each version from being removed, and its time begins anew on request', async () => {
      await makeBucket(server, 'locked', { ObjectLockEnabledForBucket: true });
      await owner.send(
        new PutObjectLockConfigurationCommand({
          Bucket: 'locked',
          ObjectLockConfiguration: { ObjectLockEnabled: 'Enabled' },
        }),
      );
      const place = {
        kind: 's3' as const,
        bucket: 'locked',
        prefix: 'laptop',
        endpoint: server.endpoint,
        region: undefined,
        pathStyle: true,
      };
      const access = { ...server, objectLock: { mode: 'compliance' as const, days: 1 } };
      const destination = await openS3Destination(place, access, { create: true });
      await destination.put('packs/a', Buffer.from('a'), live);
      const until = async (): Promise<number> => {
        const { ObjectLockRetainUntilDate: date, ObjectLockMode: mode } = await owner.send(
          new HeadObjectCommand({ Bucket: 'locked', Key: 'laptop/packs/a' }),
        );
        expect(mode).toBe('COMPLIANCE');
        return date?.getTime() ?? 0;
      };
      const first = await until();
      expect(first).toBeGreaterThan(Date.now() + 23 * 3_600_000);
      const { Versions: versions = [] } = await owner.send(
        new ListObjectVersionsCommand({ Bucket: 'locked', Prefix: 'laptop/packs/a' }),
      );
      const [version] = versions;
      const removal = { Bucket: 'locked', Key: version?.Key, VersionId: version?.VersionId };
      await expect(owner.send(new DeleteObjectCommand(removal))).rejects.toMatchObject({
        $metadata: { httpStatusCode: 403 },
      });
      const longer = await openS3Destination(place, {
        ...access,
        objectLock: { mode: 'compliance', days: 3 },
      });
      await longer.retain?.('packs/a', live);
      expect(await until()).toBeGreaterThan(first + 24 * 3_600_000);
      await destination.close();
      await longer.close();
    });
  });
}

/** As docs/destinations.md has it, for a user of Ceph. */
function appendOnlyPolicy(bucket: string, user: string): string {
  const Principal = { AWS: [`arn:aws:iam:::user/${user}`] };
  return JSON.stringify({
    Version: '2012-10-17',
    Statement: [
      {
        Effect: 'Allow',
        Principal,
        Action: ['s3:ListBucket', 's3:GetObject', 's3:PutObject'],
        Resource: [`arn:aws:s3:::${bucket}`, `arn:aws:s3:::${bucket}/*`],
      },
      // Objects belong to who puts them there: without it the owner of the bucket could not read old versions.
      {
        Effect: 'Allow',
        Principal: { AWS: ['arn:aws:iam:::user/test'] },
        Action: ['s3:*'],
        Resource: [`arn:aws:s3:::${bucket}`, `arn:aws:s3:::${bucket}/*`],
      },
    ],
  });
}
