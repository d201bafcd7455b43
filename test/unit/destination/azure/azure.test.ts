/** A container of Azure Blob Storage in whose place something else answers. */
// Turn 8 of 8.
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DestinationError } from '../../../../src/base/errors.ts';
import { openAzureDestination, type AzureOptions } from '../../../../src/destination/azure/azure.ts';
import type { Destination } from '../../../../src/destination/destination.ts';
import { trickle } from '../../../support/trickle.ts';

const live = new AbortController().signal;
const EMPTY =
  '<?xml version="1.0"?><EnumerationResults ContainerName="c"><Blobs/><NextMarker/></EnumerationResults>';
const PAGE = '<!DOCTYPE html><html><head><title>Sign in</title></head><body><p>Sign in<br></body></html>';
const XHTML =
  '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><body><p>Sign in</p></body></html>';

let server: Server;
let destination: Destination;
let answer: (method: string, response: ServerResponse) => void;

/** As the store: with its own headers. */
function own(
  method: string,
  response: ServerResponse,
  text = EMPTY,
  status = method === 'DELETE' ? 202 : 200,
) {
  response.writeHead(status, {
    'content-type': 'application/xml',
    'x-ms-request-id': '1',
    'x-ms-version': '1',
  });
  response.end(text);
}

beforeEach(async () => {
  answer = own;
  server = createServer((request, response) => {
    request.resume().once('end', () => answer(request.method ?? '', response));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  destination = await open();
});

async function open(options: AzureOptions = {}): Promise<Destination> {
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return await openAzureDestination(
    { kind: 'azblob', container: 'c', prefix: 'p', account: 'account', endpoint },
    { accountKey: Buffer.from('key').toString('base64') },
    options,
  );
}

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

async function listAll(from = destination): Promise<number> {
  let count = 0;
  for await (const page of from.list('', live)) count += page.length;
  return count;
}

const calls = [
  ['a list', async () => await listAll()],
  ['a look', async () => await destination.stat('a', live)],
  ['a read', async () => await destination.get('a', undefined, live)],
  ['a read of a part', async () => await destination.get('a', { offset: 0, length: 2 }, live)],
  ['a put', async () => await destination.put('a', Buffer.from('abc'), live)],
  ['a delete', async () => await destination.delete('a', live)],
] as const;

describe.each([
  ['a page', 'text/html', PAGE],
  ['a page as XML', 'application/xml', XHTML],
  ['a page without a type', undefined, PAGE],
  ['nothing', undefined, ''],
  ['an empty list of somebody else', 'application/xml', EMPTY],
])('%s in its place', (_, type, text) => {
  test.each(calls)(`is no answer to %s, with success or without`, async (_call, call) => {
    for (const status of [200, 201, 202, 403, 404]) {
      answer = (method, response) => {
        const head = { 'last-modified': new Date().toUTCString(), 'content-length': text.length };
        response.writeHead(status, type === undefined ? head : { ...head, 'content-type': type });
        response.end(method === 'HEAD' ? undefined : text);
      };
      await expect(call()).rejects.toMatchObject({ kind: 'unreachable', retry: 'later' });
    }
  });
});

test('a list that is cut short is no list', async () => {
  for (const text of ['<?xml version="1.0"?><EnumerationResults><Blobs><Blob><Name>p/a</Name>', '', '<a/>']) {
    answer = (method, response) => own(method, response, text);
    await expect(listAll()).rejects.toMatchObject({ kind: 'corrupt-reply', retry: 'now' });
  }
});

test('a gateway that says that the store is away is told of with the status', async () => {
  answer = (_, response) => response.writeHead(503).end(PAGE);
  const failure = await destination.stat('a', live).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(DestinationError);
  expect(failure).toMatchObject({ kind: 'unreachable', details: { status: 503 } });
});

test.each([
  ['text without a type', {}, 'wait'],
  ['what is no JSON', { 'content-type': 'application/json' }, '{"a'],
  ['what is no XML', { 'content-type': 'application/xml' }, '<a'],
])('a refusal with %s is told in no words of a library', async (_, head, text) => {
  for (const status of [429, 503]) {
    answer = (_method, response) => response.writeHead(status, head).end(text);
    const failure = await listAll().catch((error: unknown) => error);
    expect(failure).toMatchObject({ details: { status } });
    expect(String(failure)).not.toMatch(/pars|Syntax|JSON|says/i);
  }
});

test('a list that comes slowly is waited for as long as it moves', async () => {
  const hasty = await open({ stallMs: 800 });
  const time = new Date(0).toUTCString();
  const blobs = Array.from(
    { length: 80 },
    (_, at) =>
      `<Blob><Name>p/${String(at).padStart(40, '0')}</Name><Properties><Last-Modified>${time}</Last-Modified><Content-Length>1</Content-Length><BlobType>BlockBlob</BlobType></Properties></Blob>`,
  );
  const text = EMPTY.replace('<Blobs/>', `<Blobs>${blobs.join('')}</Blobs>`);
  const slowly = (pieceBytes: number) => (_method: string, response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'application/xml', 'x-ms-request-id': '1' });
    void trickle(response, text, pieceBytes, 80);
  };
  answer = slowly(1400);
  expect(await listAll(hasty)).toBe(80);
  // Less than a kilobyte in that time is no progress.
  answer = slowly(10);
  await expect(listAll(hasty)).rejects.toMatchObject({ kind: 'unreachable', details: { stalled: true } });
});

test('a list whose connection breaks is no list', async () => {
  answer = (_, response) => {
    response.writeHead(200, { 'content-type': 'application/xml', 'x-ms-request-id': '1' });
    response.write(EMPTY.slice(0, 60), () => response.destroy());
  };
  await expect(listAll()).rejects.toMatchObject({ kind: 'unreachable' });
});

// As HTTP allows, and as proxies do that drop the header of ranges.
test('a part is taken of a blob that comes whole', async () => {
  answer = (_, response) => {
    response.writeHead(200, {
      'content-length': 10,
      etag: '"1"',
      'content-type': 'application/octet-stream',
      'last-modified': new Date(0).toUTCString(),
      'x-ms-request-id': '1',
    });
    response.end('0123456789');
  };
  expect((await destination.get('a', { offset: 2, length: 4 }, live)).toString()).toBe('2345');
  await expect(destination.get('a', { offset: 8, length: 4 }, live)).rejects.toMatchObject({
    kind: 'corrupt-reply',
  });
});
