/** From the first request on that nobody answers, whoever waits with a store is told for what: of every kind of store. */
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { toldWait, waitedText } from '../../../src/base/waits.ts';
import { openDestination, type OpenOptions } from '../../../src/destination/open/open.ts';
import { startSilentServer } from '../../support/silent-server.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-waits-'));
});

afterEach(async () => await rm(directory, { recursive: true, force: true }));

interface Kind {
  readonly url: (port: number) => string;
  readonly options?: () => Promise<OpenOptions>;
}

const KINDS: Readonly<Record<string, Kind>> = {
  s3: {
    url: (port) => `s3://bucket/p?endpoint=http://127.0.0.1:${port}`,
    options: async () =>
      await Promise.resolve({ access: { s3: { accessKeyId: 'AK', secretAccessKey: 'SK' } } }),
  },
  azblob: {
    url: (port) => `azblob://container/p?account=account&endpoint=http://127.0.0.1:${port}/account`,
    options: async () => await Promise.resolve({ access: { azblob: { accountKey: 'QUJD' } } }),
  },
  gs: { url: (port) => `gs://bucket/p?endpoint=http://127.0.0.1:${port}` },
  webdav: { url: (port) => `webdav://127.0.0.1:${port}/dav` },
};

/** What is said so many milliseconds from now if nothing comes until then. */
function toldAfter(ms: number): string | undefined {
  const wait = toldWait(systemClock.monotonic() + ms);
  return wait && waitedText(wait);
}

describe.each(Object.entries(KINDS))('%s', (_, { url, options }) => {
  test('of a server that takes the request and says nothing', async () => {
    await using server = await startSilentServer();
    const controller = new AbortController();
    const opening = openDestination(url(server.port), await options?.(), controller.signal);
    const outcome = expect(opening).rejects.toThrow();
    await server.connected();
    expect(toldAfter(5_000)).toMatch(/^waiting for the store: no answer for \d s; given up in \d+ s$/);
    controller.abort();
    await outcome;
    expect(toldAfter(5_000)).toBeUndefined();
  });

  test.each([503, 429])('of one that answers %i', async (status) => {
    const server = createServer((_request, response) => {
      response.writeHead(status, { 'retry-after': '20', 'x-amz-request-id': '1', 'x-ms-request-id': '1' });
      response.end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const controller = new AbortController();
    const { port } = server.address() as AddressInfo;
    const opening = openDestination(url(port), await options?.(), controller.signal);
    const outcome = expect(opening).rejects.toThrow();
    try {
      await expect
        .poll(() => toldAfter(0), { timeout: 8_000 })
        .toMatch(/^waiting for the store \(.*\), again in 2\d s$/);
    } finally {
      controller.abort();
      await outcome;
      server.closeAllConnections();
      server.close();
    }
  });
});

test('sftp, of a server that takes the connection and says nothing', async () => {
  await using server = await startSilentServer();
  const hostKeyFile = join(directory, 'host.pub');
  const blob = [Buffer.from('ssh-ed25519'), Buffer.alloc(32, 1)].flatMap((part) => [
    Buffer.from([0, 0, 0, part.length]),
    part,
  ]);
  await writeFile(hostKeyFile, `ssh-ed25519 ${Buffer.concat(blob).toString('base64')}\n`);
  const controller = new AbortController();
  const access = { sftp: { password: 'secret', hostKeyFile } };
  const url = `sftp://keeper@127.0.0.1:${server.port}/keep`;
  const outcome = expect(openDestination(url, { access }, controller.signal)).rejects.toThrow();
  await server.connected();
  await expect.poll(() => toldAfter(5_000)).toMatch(/^waiting for the store: no answer for \d s/);
  controller.abort();
  await outcome;
});

test.skipIf(process.platform === 'win32')('rclone, of a program that says nothing', async () => {
  const program = join(directory, 'rclone');
  await writeFile(program, '#!/bin/sh\nexec sleep 100\n');
  await chmod(program, 0o755);
  const controller = new AbortController();
  const opening = openDestination('rclone:drive:x', { access: { rclone: { program } } }, controller.signal);
  const outcome = expect(opening).rejects.toThrow();
  await expect.poll(() => toldAfter(5_000)).toMatch(/^waiting for rclone: no answer for \d s; given up in/);
  controller.abort();
  await outcome;
});

test.each([423, 503])(
  'what the server itself says with %i is told while it is waited for',
  async (status) => {
    const says = '"packs" is locked by the virus scanner';
    const server = createServer((_request, response) => {
      response.writeHead(status, { 'retry-after': '20', 'content-type': 'application/xml' });
      response.end(
        `<d:error xmlns:d="DAV:" xmlns:s="http://sabredav.org/ns"><s:message>${says}</s:message></d:error>`,
      );
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const controller = new AbortController();
    const { port } = server.address() as AddressInfo;
    const opening = openDestination(`webdav://127.0.0.1:${port}/dav`, undefined, controller.signal);
    const outcome = expect(opening).rejects.toThrow();
    try {
      await expect
        .poll(() => toldAfter(0), { timeout: 10_000 })
        .toMatch(new RegExp(`^waiting for the store \\(status ${status}: "${says}"\\), again in`));
    } finally {
      controller.abort();
      await outcome;
      server.closeAllConnections();
      server.close();
    }
  },
);
