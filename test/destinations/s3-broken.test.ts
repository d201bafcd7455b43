/** An S3 server that does not keep what it promises is found out, and nothing is lost to it in silence. */
import { afterAll, describe, expect, test } from 'vitest';
import { DestinationError } from '../../src/base/errors.ts';
import { systemClock } from '../../src/base/clock.ts';
import { probeDestination } from '../../src/destination/open/probe.ts';
import { openS3Destination } from '../../src/destination/s3/s3.ts';
import { startS3rver } from '../servers/s3rver.ts';
import { startOrSkip } from '../servers/unavailable.ts';
import { makeBucket } from '../support/s3-bucket.ts';

const live = new AbortController().signal;
const found = await startOrSkip(startS3rver);

if ('missing' in found) {
  test.skip(`s3rver was not tested: ${found.missing}`, () => {});
} else {
  const { server } = found;
  afterAll(async () => await server[Symbol.asyncDispose]());
  await makeBucket(server, 'bucket');
  const open = async (prefix: string) =>
    await openS3Destination(
      { kind: 's3', bucket: 'bucket', prefix, endpoint: server.endpoint, region: undefined, pathStyle: true },
      server,
      { create: true },
    );

  describe('s3rver', () => {
    test('is known to let every creator win, and what is there is not replaced all the same', async () => {
      const destination = await open('conditions');
      expect(destination.properties.conditionalCreate).toBe(false);
      await destination.put('a', Buffer.from('one'), live);
      await expect(destination.put('a', Buffer.from('two'), live)).rejects.toMatchObject({ kind: 'exists' });
      const findings = await probeDestination(destination, systemClock, live);
      const statusOf = (wanted: string) => findings.find(({ check }) => check === wanted)?.status;
      expect(['warning', 'error']).toContain(statusOf('one of several'));
      // It gives other bytes than those before the end of an object.
      expect(statusOf('range')).toBe('error');
    });

    test('lists all of more than 1,000 objects, or fails', async () => {
      const destination = await open('pages');
      const keys = Array.from({ length: 1_100 }, (_, number) => `a/${number}`);
      for (let from = 0; from < keys.length; from += 20)
        await Promise.all(
          keys.slice(from, from + 20).map(async (key) => await destination.put(key, Buffer.from(key), live)),
        );
      const listed: string[] = [];
      const outcome = await (async () => {
        for await (const page of destination.list('', live)) listed.push(...page.map(({ key }) => key));
        return 'complete';
      })().catch((error: unknown) => error);
      if (outcome === 'complete') expect(listed.toSorted()).toEqual(keys.toSorted());
      else expect(outcome).toBeInstanceOf(DestinationError);
    });
  });
}
