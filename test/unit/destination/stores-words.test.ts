/** What a store says of its refusal reaches whoever reads of it, and no hint speaks against it. */
import { expect, test } from 'vitest';
import { describeError } from '../../../src/cli/command/exit-codes.ts';
import { openHttpSite } from '../../../src/destination/http-site.ts';
import { saysFull, storesWords } from '../../../src/destination/http-failure.ts';
import { openS3Destination } from '../../../src/destination/s3/s3.ts';
import { startS3Store, type S3Store, type StoreFault } from '../../support/s3-store.ts';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const live = new AbortController().signal;

async function open(store: S3Store) {
  return await openS3Destination(
    {
      kind: 's3',
      bucket: 'bucket',
      prefix: 'p',
      endpoint: store.endpoint,
      region: undefined,
      pathStyle: true,
    },
    { accessKeyId: 'AKTEST', secretAccessKey: 'secret' },
    { create: true },
  );
}

async function refusal(fault: StoreFault): Promise<unknown> {
  await using store = await startS3Store();
  const destination = await open(store);
  store.plan(({ method }) => method === 'PUT', fault);
  const error = await destination.put('a', Buffer.from('1'), live).catch((thrown: unknown) => thrown);
  await destination.close();
  return error;
}

function refusalIn(code: string, message: string, status = 403): StoreFault {
  const text = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`;
  return { status, type: 'application/xml', text };
}

test('an account that is full, called one that may do nothing', async () => {
  const words = 'This account has reached its storage limit of 10 GB, raise it under Billing.';
  expect(await refusal(refusalIn('AccessDenied', words))).toMatchObject({
    kind: 'full',
    message: expect.stringContaining(`(AccessDenied). It says: "${words.slice(0, -1)}"`),
    hint: 'Free up some space there, or get more.',
  });
});

test.each(['Storage quota exceeded', 'Quota exceeded.', 'Bucket quota exceeded'])(
  'the same in few words: %s',
  async (words) => {
    expect(await refusal(refusalIn('AccessDenied', words))).toMatchObject({
      kind: 'full',
      message: expect.stringContaining(`It says: "${words.replace('.', '')}"`),
    });
  },
);

test.each([
  ['System in maintenance mode.', true],
  ['Account is suspended', true],
  ['503 Service Unavailable', false],
  ['Request Entity Too Large', false],
  ['Network Authentication Required', false],
  ['invalid_grant', false],
  ['Access denied', false],
])('a few words are a reason unless they name a status or a kind: %s', (words, isReason) => {
  expect(storesWords(words) !== undefined).toBe(isReason);
});

test('a reason that nothing here knows', async () => {
  const words = 'Your contract was ended on the first of May.';
  expect(await refusal(refusalIn('AccessDenied', words))).toMatchObject({
    kind: 'denied',
    message: expect.stringContaining(words.slice(0, -1)),
    hint: expect.not.stringContaining('credentials'),
  });
});

test('the name of the failure once more is no reason', async () => {
  expect(await refusal(refusalIn('AccessDenied', 'Access Denied'))).toMatchObject({
    message: expect.not.stringContaining('It says'),
    hint: expect.stringContaining('allows s3:ListBucket on the bucket itself'),
  });
});

test.each<[string, StoreFault]>([
  ['a redirect to it', { status: 302, type: 'text/html', text: '<html><body>sign in' }],
  ['a refusal', { status: 403, type: 'text/html', text: '<html><body>sign in' }],
  ['the status for it', { status: 511, type: 'text/html', text: '<html><body>sign in' }],
])('a network that wants a sign-in, by %s, is none of the store, and passes', async (_, fault) => {
  const error = await refusal(fault);
  expect(error).toMatchObject({
    kind: 'unreachable',
    retry: 'later',
    hint: expect.stringContaining('Sign in'),
  });
  expect(describeError(error, {})).not.toMatch(/because|hidden field|Deserialization/i);
});

test.each([
  ['Sun, 29 Nov 2026 10:20:30 +0000', Date.UTC(2026, 10, 29, 10, 20, 30)],
  ['2026-11-29T10:20:30.000Z', Date.UTC(2026, 10, 29, 10, 20, 30)],
  ['Sunday, 29-Nov-26 10:20:30 GMT', Date.UTC(2026, 10, 29, 10, 20, 30)],
])('a time written as %s is read', async (text, ms) => {
  expect(await timeOf(text)).toMatchObject({ modifiedMs: ms });
});

test('a time that is none is named, at once', async () => {
  const error = await timeOf('29.11.2026 midday');
  expect(error).toMatchObject({ kind: 'unsupported', retry: 'never' });
  expect(describeError(error, {})).toMatch(/it gives a time that cannot be read: "29\.11\.2026 midday"/);
});

async function timeOf(text: string): Promise<unknown> {
  const server = createServer((request, response) => {
    const headers = { 'x-amz-request-id': '1', 'content-length': 3, 'last-modified': text };
    if (request.method === 'HEAD') response.writeHead(200, headers).end();
    else response.writeHead(request.method === 'DELETE' ? 204 : 404, { 'x-amz-request-id': '1' }).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { s3Store } = await import('../../../src/destination/s3/s3-client.ts');
  const { headObject } = await import('../../../src/destination/s3/s3-look.ts');
  const place = {
    kind: 's3',
    bucket: 'b',
    prefix: '',
    endpoint,
    region: undefined,
    pathStyle: true,
  } as const;
  const store = await s3Store(place, { accessKeyId: 'A', secretAccessKey: 'B' }, {});
  try {
    return await headObject(store, 'a', live).catch((error: unknown) => error);
  } finally {
    store.client.destroy();
    server.closeAllConnections();
    server.close();
  }
}

test.each([
  ['text/plain', 'The disk quota of this folder was exceeded by you'],
  [
    'application/xml; charset=utf-8',
    '<d:error xmlns:d="DAV:" xmlns:s="x"><s:exception>E</s:exception><s:message>Uploads &quot;here&quot; end at 5 GB for you</s:message></d:error>',
  ],
  ['application/json', '{"error":{"code":1,"message":"Uploads \\"here\\" end at 5 GB for you"}}'],
])('a refusal in %s', async (type, text) => {
  const server = createServer((_request, response) => {
    response.writeHead(403, { 'content-type': type }).end(text);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const site = openHttpSite({ origin, url: 'webdav://test', credentials: {}, maxSockets: 1 });
  const asked = site.ask({ method: 'GET', path: '/', op: 'read', accepts: [200] }, live, async () => {});
  await expect(asked).rejects.toThrow(/It says: "(?:The disk quota of|Uploads "here" end at 5 GB)/);
  site.close();
  server.close();
});

test('words are a sentence: no page, no mark that is not seen, and no more than fits', () => {
  expect(storesWords('<html>no</html>')).toBeUndefined();
  expect(storesWords('Request Entity Too Large')).toBeUndefined();
  expect(storesWords('one two\u001b[31m three\nfour https://me:secret@host five')).toBe(
    'one two [31m three four https://host five',
  );
  expect(storesWords('a word '.repeat(200))).toHaveLength(300);
});

test.each([
  ['Cannot upload files, storage cap exceeded. See the Caps & Alerts page', true],
  ['The storage quota has been exceeded', true],
  ["Quota exceeded for quota metric 'Queries'", false],
  ['denying write due to space limit', true],
  ['User is not authorized to perform: s3:PutObject', false],
])('%s: full is %s', (words, isFull) => {
  expect(saysFull(words)).toBe(isFull);
});
