/** S3 servers keep the contract of a destination. */
import { randomBytes } from 'node:crypto';
import { PutObjectCommand, GetObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, describe, expect, test } from 'vitest';
import type { S3Place } from '../../src/destination/location.ts';
import { openS3Destination } from '../../src/destination/s3/s3.ts';
import { destinationContract } from '../contract/destination-suite.ts';
import { startCeph } from '../servers/ceph.ts';
import { startMoto } from '../servers/moto.ts';
import type { S3Server } from '../servers/s3-server.ts';
import { startOrSkip } from '../servers/unavailable.ts';
import { makeBucket, s3Client } from '../support/s3-bucket.ts';

const RECORD = 'HOLDFAST-STORE';

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
  afterAll(async () => await server[Symbol.asyncDispose]());
  const place = (prefix: string): S3Place => ({
    kind: 's3',
    bucket: 'contract',
    prefix,
    endpoint: server.endpoint,
    region: undefined,
    pathStyle: true,
  });
  await makeBucket(server, 'contract');
  const client = s3Client(server);
  afterAll(() => client.destroy());

  // What the store can do is found out once for all of the many places.
  const first = await openS3Destination(place('first'), server, { create: true });
  await first.close();
  const record = await client.send(new GetObjectCommand({ Bucket: 'contract', Key: `first/${RECORD}` }));
  const text = (await record.Body?.transformToString()) ?? '';

  destinationContract(name, async () => {
    const prefix = `${randomBytes(6).toString('hex')}/a b`;
    await client.send(new PutObjectCommand({ Bucket: 'contract', Key: `${prefix}/${RECORD}`, Body: text }));
    return {
      open: async () => await openS3Destination(place(prefix), server),
      remove: async () => {},
    };
  });

  describe(`${name}, asked what it can do`, () => {
    test('lets one of several creators win, and keeps checksums', () => {
      expect(JSON.parse(text)).toMatchObject({ create: 'one', checksum: true });
    });
  });
}
