/** Folders on WebDAV servers, as far as real servers do it only now and then. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { openHttpSite } from '../../../../src/destination/http-site.ts';
import { folderAt, type Folder } from '../../../../src/destination/webdav/folder.ts';

const live = new AbortController().signal;
/** What Nextcloud and ownCloud send with a refusal. */
const WORDS =
  '<d:error xmlns:d="DAV:" xmlns:s="http://sabredav.org/ns"><s:message>No folders may be made here</s:message></d:error>';
let server: Server;
let asked: string[];

/** Answers each request with the next status, whatever it asks. */
async function folderOf(statuses: readonly number[]): Promise<Folder> {
  asked = [];
  server = createServer((request, response) => {
    asked.push(request.method ?? '');
    response.writeHead(statuses[asked.length - 1] ?? 500, { 'content-type': 'application/xml' }).end(WORDS);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const site = openHttpSite({ origin, url: 'webdav://test', credentials: {}, maxSockets: 1 });
  return folderAt(site, origin, '/dav', 'webdav://test');
}

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

test('a folder of somebody else that is gone again by the time it is looked at is made anew', async () => {
  const folder = await folderOf([403, 404, 201]);
  expect(await folder.makeFolder('claim', live)).toBe('made');
  expect(asked).toEqual(['MKCOL', 'PROPFIND', 'MKCOL']);
  folder.close();
});

test('a server that goes on refusing is told of as one', async () => {
  const folder = await folderOf(Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? 403 : 404)));
  await expect(folder.makeFolder('claim', live)).rejects.toMatchObject({
    kind: 'denied',
    message: expect.stringMatching(
      /Cannot create the folder claim in .*"No folders may be made here"/,
    ) as string,
  });
  expect(asked).toHaveLength(6);
  folder.close();
});
