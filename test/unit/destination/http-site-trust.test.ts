/** Whose certificates are trusted by who asks a web server. */
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { expect, test } from 'vitest';
import { drain, openHttpSite } from '../../../src/destination/http-site.ts';
import { makeCertificates, type KeyAndCertificate } from '../../support/test-certificates.ts';

const live = new AbortController().signal;

/** What becomes of a request to a server with that certificate. */
async function outcome(server: KeyAndCertificate, certificates: string | undefined): Promise<string> {
  const listening = createServer(server, (_, response) => response.end()).listen(0, '127.0.0.1');
  await once(listening, 'listening');
  const origin = `https://127.0.0.1:${(listening.address() as AddressInfo).port}`;
  const site = openHttpSite({ origin, url: 'webdavs://test', credentials: {}, certificates, maxSockets: 1 });
  try {
    const request = { method: 'GET', path: '/', op: 'read', accepts: [200] };
    return await site.ask(request, live, drain).then(
      () => 'trusted',
      (error: unknown) => (error as { readonly kind: string }).kind,
    );
  } finally {
    site.close();
    listening.closeAllConnections();
    listening.close();
  }
}

test('certificates of a destination are trusted beside those that the whole program trusts', async () => {
  const { authority, good, selfSigned } = await makeCertificates();
  expect(await outcome(good, undefined)).toBe('denied');
  expect(await outcome(good, authority)).toBe('trusted');
  const usual = getCACertificates('default');
  // As NODE_EXTRA_CA_CERTS does.
  setDefaultCACertificates([...usual, authority]);
  try {
    expect(await outcome(good, undefined)).toBe('trusted');
    expect(await outcome(good, selfSigned.cert)).toBe('trusted');
    expect(await outcome(selfSigned, selfSigned.cert)).toBe('trusted');
    expect(await outcome(selfSigned, undefined)).toBe('denied');
  } finally {
    setDefaultCACertificates(usual);
  }
});
