/** Every client of the web in the program, in a network that is left only through a proxy. */
// Turn 5 of 8.
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openAzureDestination } from '../../../src/destination/azure/azure.ts';
import { openGoogleDestination } from '../../../src/destination/gcs/gcs.ts';
import { drain, openHttpSite } from '../../../src/destination/http-site.ts';
import { openS3Destination } from '../../../src/destination/s3/s3.ts';
import { askPartner } from '../../../src/enrollment/ask-partner.ts';
import { post } from '../../../src/notify/http-post.ts';
import { startGoogleStore } from '../../support/google-store.ts';
import { startS3Store } from '../../support/s3-store.ts';
import { makeCertificates } from '../../support/test-certificates.ts';
import { startWebProxy, type WebProxy } from '../../support/web-proxy.ts';

const live = new AbortController().signal;
const LOGIN = 'me:p@ss';
const NAME = 'store.invalid';
const VARIABLES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'];

let proxy: WebProxy;
beforeEach(async () => {
  proxy = await startWebProxy(LOGIN);
  for (const name of [...VARIABLES, 'NO_PROXY', 'no_proxy']) vi.stubEnv(name, '');
  for (const name of ['http_proxy', 'HTTPS_PROXY'])
    vi.stubEnv(name, `http://me:p%40ss@localhost:${proxy.port}`);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await proxy[Symbol.asyncDispose]();
});

const elsewhere = (address: string): string => address.replace('127.0.0.1', NAME);
const keys = { accessKeyId: 'AK', secretAccessKey: 'SK' };
const s3Place = (endpoint: string) =>
  ({ kind: 's3', bucket: 'bucket', prefix: 'p', endpoint, region: undefined, pathStyle: true }) as const;

test('S3 stores and reads through it', async () => {
  await using store = await startS3Store();
  const destination = await openS3Destination(s3Place(elsewhere(store.endpoint)), keys);
  await destination.put('a', Buffer.from('x'), live);
  expect((await destination.get('a', undefined, live)).toString()).toBe('x');
  await destination.close();
  expect(proxy.asked.length).toBeGreaterThan(3);
});

test('Google stores and reads through it', async () => {
  await using store = await startGoogleStore();
  const place = { kind: 'gs', bucket: 'bucket', prefix: 'p', endpoint: elsewhere(store.endpoint) } as const;
  const destination = await openGoogleDestination(place);
  await destination.put('a', Buffer.from('x'), live);
  expect((await destination.get('a', undefined, live)).toString()).toBe('x');
  await destination.close();
  expect(proxy.asked.length).toBeGreaterThan(3);
});

test('Azure is asked through it', async () => {
  const place = { kind: 'azblob', container: 'c', prefix: '', account: 'acc' } as const;
  const opening = async () =>
    await openAzureDestination(
      { ...place, endpoint: `https://${NAME}` },
      { accountKey: Buffer.from('key').toString('base64') },
    );
  proxy.status = 403;
  await expect(opening()).rejects.toMatchObject({
    kind: 'denied',
    message: expect.stringContaining(
      `the proxy localhost:${proxy.port} refuses to connect to it (403)`,
    ) as unknown,
    hint: expect.stringContaining('HTTPS_PROXY') as unknown,
  });
  expect(proxy.asked).toContain(`CONNECT ${NAME}:443`);
  vi.stubEnv('HTTPS_PROXY', 'http://localhost:1');
  await expect(opening()).rejects.toMatchObject({
    message: expect.stringContaining('the proxy localhost:1 cannot be reached') as unknown,
  });
});

/** A request to a server whose authority is known to the destination alone. */
async function askEncrypted(): Promise<string> {
  const { authority, good } = await makeCertificates();
  const server = createTlsServer(good, (_, response) => response.end()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  // Not this machine's own address, which no proxy is asked for, though the certificate is for that.
  const origin = `https://${NAME}:${(server.address() as AddressInfo).port}`;
  const site = openHttpSite({
    origin,
    url: 'webdavs://test',
    credentials: {},
    certificates: authority,
    maxSockets: 1,
  });
  try {
    const request = { method: 'GET', path: '/', op: 'read', accepts: [200] };
    return await site.ask(request, live, drain).then(
      () => 'answered',
      (error: unknown) => (error as Error).message,
    );
  } finally {
    site.close();
    server.closeAllConnections();
    server.close();
  }
}

test('WebDAV is asked through a tunnel, in which the server still proves who it is', async () => {
  expect(await askEncrypted()).toContain('the certificate of the server is for another name');
  expect(proxy.asked).toEqual([expect.stringMatching(/^CONNECT store\.invalid:\d+$/)]);
});

test.each([
  [407, 'asks for a user name and password'],
  [403, 'refuses to connect to it (403)'],
  [502, 'cannot reach it (502)'],
])('a proxy that answers %i is told as such', async (status, words) => {
  proxy.status = status;
  expect(await askEncrypted()).toContain(`the proxy localhost:${proxy.port} ${words}`);
});

test('one that is away is told as such, and not as the store', async () => {
  vi.stubEnv('HTTPS_PROXY', 'http://localhost:1');
  expect(await askEncrypted()).toContain('the proxy localhost:1 cannot be reached');
});

test('one that cannot be gone through is refused', async () => {
  vi.stubEnv('HTTPS_PROXY', 'socks5://localhost:1');
  await expect(openS3Destination(s3Place('https://store.invalid'), keys)).rejects.toMatchObject({
    kind: 'unsupported',
    message: expect.stringContaining('HTTPS_PROXY names a socks5 proxy') as unknown,
  });
});

/** A server that answers all with `body`. */
async function answering(body: string): Promise<{ readonly port: number; close(): void }> {
  const server = createServer((incoming: IncomingMessage, response) => {
    incoming.resume();
    response.end(body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, close: () => void server.close() };
}

test('notices and reports to a partner go through it, and say when it asks for a login', async () => {
  const receiver = await answering('{"success":true,"data":{}}');
  const url = `http://${NAME}:${receiver.port}/hook`;
  await post({ url, headers: {}, body: 'text' }, live);
  await askPartner(
    `http://${NAME}:${receiver.port}`,
    { method: 'GET', route: '/status', version: '1' },
    live,
  );
  expect(proxy.asked).toEqual([`POST ${url}`, expect.stringMatching(/^GET http:\/\/store\.invalid/)]);
  vi.stubEnv('http_proxy', `http://localhost:${proxy.port}`);
  await expect(post({ url, headers: {}, body: 'text' }, live)).rejects.toMatchObject({
    message: expect.stringContaining('asks for a user name and password') as unknown,
  });
  receiver.close();
});
