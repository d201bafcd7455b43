/** A server that is not whom it should be, and credentials that are taken away: F21 of the fault catalogue. */
import { createServer } from 'node:net';
import { once } from 'node:events';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AddressInfo } from 'node:net';
import { openS3Destination } from '../../src/destination/s3/s3.ts';
import { startMoto } from '../servers/moto.ts';
import { startOrSkip } from '../servers/unavailable.ts';
import type { Fault, SecureOptions } from '../support/fault-proxy.ts';
import { openFaultSite, type FaultSite } from '../support/fault-site.ts';
import { makeBucket } from '../support/s3-bucket.ts';
import { answerWith, anything, below, isPut, refusal } from '../support/store-faults.ts';
import { makeCertificates } from '../support/test-certificates.ts';

const found = await startOrSkip(startMoto);

if ('missing' in found) test.skip(`moto was not tested: ${found.missing}`, () => {});
else {
  const { server } = found;
  const certificates = await makeCertificates();
  const trusted = getCACertificates('default');
  let site: FaultSite;
  beforeAll(async () => {
    setDefaultCACertificates([...trusted, certificates.authority]);
    await makeBucket(server, 'tls');
    site = await openFaultSite({ server, bucket: 'tls', seed: 21, tls: certificates.good });
  });
  afterAll(async () => {
    await site[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
    setDefaultCACertificates(trusted);
  });

  const { expired, good, otherHost, selfSigned, unknownAuthority } = certificates;
  // What is still spoken by servers that nobody has looked after for ten years.
  const old: SecureOptions = {
    ...good,
    minVersion: 'TLSv1',
    maxVersion: 'TLSv1.1',
    ciphers: 'DEFAULT@SECLEVEL=0',
  };
  const impostors: readonly (readonly [string, SecureOptions, RegExp])[] = [
    ['whose certificate has expired', expired, /certificate.*CERT_HAS_EXPIRED/],
    ['whose certificate is of another host', otherHost, /certificate.*ALTNAME_INVALID/],
    ['whose certificate is of an unknown authority', unknownAuthority, /certificate.*UNABLE_TO_VERIFY/],
    ['that vouches for itself', selfSigned, /certificate.*SELF_SIGNED/],
    ['that speaks only an old version of TLS', old, /no secure connection/],
  ];

  test.each(impostors)('a server %s is told nothing, and the reason is said', async (_, options, reason) => {
    for (const operation of ['backup', 'restore'] as const) {
      site.proxy.secure(options);
      const { added, came, error } = await site.attempt(operation, [], 0);
      expect(error).toMatchObject({ kind: 'denied', message: expect.stringMatching(reason) });
      expect([came, added]).toEqual([0, 0]);
    }
    await site.expectSound();
  });

  test.each(impostors)(
    'a server %s that takes the place of the real one in a backup is told nothing more',
    async (_, options, reason) => {
      const turnsUp: Fault = {
        fits: below('packs/', isPut),
        most: 1,
        deed: () => {
          site.proxy.secure(options);
          return 'close';
        },
      };
      const { added, came, error, fired } = await site.attempt('backup', [turnsUp], 0);
      expect(error).toMatchObject({ kind: 'denied', message: expect.stringMatching(reason) });
      expect([fired, added]).toEqual([1, 0]);
      expect(came).toBeGreaterThan(3);
      await site.expectSound();
    },
  );

  test('an answer in plain text on a port for TLS is no answer', async () => {
    const plain = createServer((socket) => socket.on('error', () => {}).end('HTTP/1.1 200 OK\r\n\r\n'));
    plain.listen(0, '127.0.0.1');
    await once(plain, 'listening');
    try {
      const { port } = plain.address() as AddressInfo;
      const endpoint = `https://127.0.0.1:${port}`;
      const place = {
        kind: 's3',
        bucket: 'tls',
        prefix: 'x',
        endpoint,
        region: undefined,
        pathStyle: true,
      } as const;
      await expect(openS3Destination(place, server)).rejects.toMatchObject({
        kind: 'denied',
        message: expect.stringContaining('no secure connection'),
      });
    } finally {
      plain.close();
    }
  });

  test('a server that sends elsewhere, without TLS, is not followed', async () => {
    const elsewhere = answerWith({
      status: 301,
      headers: { location: server.endpoint, 'content-type': 'text/plain' },
      body: Buffer.alloc(0),
    });
    const { error, fired } = await site.attempt('backup', [{ fits: anything, after: 6, deed: elsewhere }], 0);
    expect(error).toMatchObject({ kind: 'unsupported', message: expect.stringContaining('another address') });
    expect(fired).toBeGreaterThan(0);
    await site.expectSound();
  });

  test.each([
    ['InvalidAccessKeyId', 403, /credentials are wrong/],
    ['AccessDenied', 403, /the store refuses/],
    ['ExpiredToken', 400, /have expired/],
    ['SignatureDoesNotMatch', 403, /credentials are wrong/],
  ])(
    'credentials that are taken away in the middle end what is under way with the reason: %s',
    async (code, status, reason) => {
      for (const [operation, after] of [
        ['backup', 9],
        ['backup', 16],
        ['restore', 5],
        ['prune', 12],
      ] as const) {
        const revoked = { fits: anything, after, deed: answerWith(refusal(status, code)) };
        const { added, error, fired, waits } = await site.attempt(operation, [revoked], 0);
        expect(fired).toBeGreaterThan(0);
        expect(error, operation).toMatchObject({ kind: 'denied', message: expect.stringMatching(reason) });
        // Asking again and again locks accounts. What shared a connection with the first refusal is cut off, and asked anew.
        const denied = waits.filter((wait) => wait.error.kind === 'denied');
        expect([added, denied]).toEqual([0, []]);
      }
      await site.expectSound();
    },
  );
}
