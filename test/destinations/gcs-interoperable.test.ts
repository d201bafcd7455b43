/**
 * Google Cloud Storage by its interface for programs that speak S3, under the settings of docs/destinations.md. No server
 * of it can be had: a real S3 server behind a proxy that takes away what that interface does not have.
 */
import { randomBytes } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { openDestination } from '../../src/destination/open/open.ts';
import { probeDestination } from '../../src/destination/open/probe.ts';
import { destinationContract } from '../contract/destination-suite.ts';
import { startMoto } from '../servers/moto.ts';
import { startOrSkip } from '../servers/unavailable.ts';
import { startFaultProxy, type Deed } from '../support/fault-proxy.ts';
import { makeBucket } from '../support/s3-bucket.ts';
import { anything } from '../support/store-faults.ts';
import { CYCLE_MS, repositoryCycle } from './repository-cycle.ts';

/** Conditions of a put and a delete are not looked at, and no checksums of Amazon's are kept. */
const asGoogleDoes: Deed = async (asked, pass) => {
  const kept = Object.entries(asked.headers).filter(
    ([name]) => !/^(?:if-none-match|if-match|x-amz-checksum|x-amz-sdk-checksum)/.test(name),
  );
  const answer = await pass({ ...asked, headers: Object.fromEntries(kept) });
  const told = Object.entries(answer.headers).filter(([name]) => !name.startsWith('x-amz-checksum'));
  return { ...answer, headers: Object.fromEntries(told) };
};

const found = await startOrSkip(startMoto);
if ('missing' in found) test.skip(`moto was not tested: ${found.missing}`, () => {});
else {
  const { server } = found;
  const proxy = await startFaultProxy(server.endpoint);
  afterAll(async () => {
    await proxy[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });
  await makeBucket(server, 'interoperable');
  proxy.inject([{ fits: anything, deed: asGoogleDoes }]);
  const locationOf = (prefix: string): string =>
    `s3://interoperable/${prefix}?endpoint=${encodeURIComponent(proxy.endpoint)}`;
  const { accessKeyId, secretAccessKey } = server;
  const open = async (prefix: string) =>
    await openDestination(locationOf(prefix), {
      create: true,
      access: { s3: { accessKeyId, secretAccessKey } },
    });

  destinationContract(
    'Google Cloud Storage in its S3-compatible mode',
    async () => {
      const prefix = `${randomBytes(6).toString('hex')}/a b`;
      return { open: async () => await open(prefix), remove: async () => {} };
    },
    { racingWriters: true },
  );

  test('that mode is known to let every creator win, which is said, and nothing is replaced all the same', async () => {
    const destination = await open('probed');
    expect(destination.properties).toMatchObject({ conditionalCreate: false, canDelete: true });
    const findings = await probeDestination(destination, systemClock, new AbortController().signal);
    const other = findings.filter(({ status }) => status !== 'ok');
    expect(other).toMatchObject([{ check: 'one of several', status: 'warning' }]);
    await destination.close();
  });

  test(
    'a repository lives in that mode from its first backup to its restore',
    { timeout: CYCLE_MS },
    async () => {
      await repositoryCycle(locationOf('laptop'), {
        AWS_ACCESS_KEY_ID: accessKeyId,
        AWS_SECRET_ACCESS_KEY: secretAccessKey,
      });
      expect(proxy.fired).toBeGreaterThan(100);
    },
  );
}
