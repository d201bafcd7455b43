/**
 * Servers that answer without end, in every way that their protocol has: none of it is read beyond what an answer of its
 * kind can have, and what is told says what happened.
 */
import { once } from 'node:events';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createLine, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import ssh2 from 'ssh2';
import { afterAll, describe, expect, test } from 'vitest';
import { DestinationError } from '../../src/base/errors.ts';
import { openAzureDestination } from '../../src/destination/azure/azure.ts';
import { ListBound } from '../../src/destination/bounds.ts';
import type { Destination } from '../../src/destination/destination.ts';
import { openGoogleDestination } from '../../src/destination/gcs/gcs.ts';
import { openLocalDestination } from '../../src/destination/local/local.ts';
import { orderedPages } from '../../src/destination/ordered-pages.ts';
import { openS3Destination } from '../../src/destination/s3/s3.ts';
import { openSftpDestination } from '../../src/destination/sftp/sftp.ts';
import { openWebdavDestination } from '../../src/destination/webdav/webdav.ts';
import { liveMemory } from '../support/live-memory.ts';
import { removeTree } from '../support/remove-tree.ts';
import { startSftpStore, type SftpStoreOptions } from '../support/sftp-store.ts';

const live = new AbortController().signal;
const MIB = 1024 * 1024;
/** What the sockets of both sides may hold, and has been sent when nobody reads any more. */
const UNDER_WAY = 24 * MIB;
/** Of bodies that come byte by byte; the others come as fast as this machine lets them. */
const SHORT_MS = 300;
const LONG_MS = 60_000;

interface Kind {
  readonly name: string;
  open(endpoint: string, stallMs?: number): Promise<Destination>;
  /** With each answer. */
  readonly headers: Readonly<Record<string, string>>;
  readonly type: string;
  /** How a list begins, and one object in it. */
  readonly list: readonly [begin: string, object: string];
  /** Of a list and of what is none of it: the most that is read. */
  readonly most: number;
  readonly isPatient?: boolean;
  /** Answers what is asked before anything is listed. */
  readonly before?: (request: IncomingMessage, response: ServerResponse) => boolean;
}

const key = Buffer.from('secret').toString('base64');
const AT_ONCE = {
  policy: { attempts: 1, firstDelayMs: 0, maxDelayMs: 0, random: () => 0 },
  sleep: async () => {},
};

const KINDS: readonly Kind[] = [
  {
    name: 'S3',
    open: async (endpoint, stallMs = LONG_MS) =>
      await openS3Destination(
        { kind: 's3', bucket: 'bucket', prefix: 'p', endpoint, region: 'eu', pathStyle: true },
        { accessKeyId: 'key', secretAccessKey: 'secret' },
        { stallMs, patience: AT_ONCE },
      ),
    headers: { 'x-amz-request-id': '1' },
    before: ({ url = '', method }, response) => {
      if (url.includes('list-type=2')) return false;
      const words = '<Error><Code>NoSuchKey</Code><Message>no</Message></Error>';
      response.writeHead(404, { 'x-amz-request-id': '1', 'Content-Type': 'application/xml' });
      response.end(method === 'HEAD' ? undefined : words);
      return true;
    },
    type: 'application/xml',
    list: [
      '<?xml version="1.0"?><ListBucketResult><IsTruncated>false</IsTruncated>',
      '<Contents><Key>p/a</Key><Size>1</Size><LastModified>2026-01-01T00:00:00Z</LastModified></Contents>',
    ],
    most: 8 * MIB,
  },
  {
    name: 'Azure',
    open: async (endpoint, stallMs = LONG_MS) =>
      await openAzureDestination(
        { kind: 'azblob', container: 'box', prefix: 'p', account: 'me', endpoint: `${endpoint}/me` },
        { accountKey: key },
        { stallMs },
      ),
    headers: { 'x-ms-request-id': '1', 'x-ms-version': '2025-01-05' },
    type: 'application/xml',
    list: [
      '<?xml version="1.0"?><EnumerationResults><Blobs>',
      '<Blob><Name>p/a</Name><Properties><Content-Length>1</Content-Length></Properties></Blob>',
    ],
    most: 8 * MIB,
  },
  {
    name: 'Google',
    open: async (endpoint, stallMs = LONG_MS) =>
      await openGoogleDestination({ kind: 'gs', bucket: 'bucket', prefix: 'p', endpoint }, {}, { stallMs }),
    headers: {},
    type: 'application/json',
    list: ['{"kind":"storage#objects","items":[', '{"kind":"storage#object","name":"p/a","size":"1"},'],
    most: 8 * MIB,
  },
  {
    name: 'WebDAV',
    open: async (endpoint) =>
      await openWebdavDestination({ kind: 'webdav', url: `${endpoint}/dav`, user: undefined }, {}),
    // It waits for a minute.
    isPatient: true,
    headers: {},
    type: 'application/xml',
    list: ['<?xml version="1.0"?><multistatus xmlns="DAV:">', '<response><href>/dav/a</href></response>'],
    most: 8 * MIB,
  },
];

interface Server extends AsyncDisposable {
  readonly endpoint: string;
  /** Bytes of bodies that were written. */
  sent: number;
}

async function serve(
  answer: (request: IncomingMessage, response: ServerResponse, server: Server) => void,
): Promise<Server> {
  const server = createServer((request, response) => {
    request.resume();
    response.on('error', () => {});
    answer(request, response, made);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const made: Server = {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sent: 0,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return made;
}

/** Writes for as long as anybody reads. */
function pour(response: ServerResponse, part: string, server: Server): void {
  const piece = Buffer.from(part.repeat(Math.ceil(65_536 / part.length)));
  const more = (): void => {
    while (!response.destroyed) {
      server.sent += piece.length;
      // Should nobody stop it, the test does.
      if (server.sent > 400 * MIB) return void response.destroy();
      if (!response.write(piece)) return void response.once('drain', more);
    }
  };
  more();
}

/** Opens and lists. */
async function use(opening: Promise<Destination>): Promise<void> {
  const destination = await opening;
  try {
    for await (const _ of destination.list('', live));
  } finally {
    await destination.close();
  }
}

async function failureOf(work: Promise<unknown>): Promise<DestinationError> {
  const error: unknown = await work.then(
    () => new Error('it was taken'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof DestinationError)) throw error;
  return error;
}

describe.each(KINDS)(
  '$name',
  ({ open, headers, type, list: [begin, object], most, isPatient = false, before = () => false }) => {
    test.each([200, 207, 404, 500])('a body without end, with status %i', async (status) => {
      await using server = await serve((request, response, self) => {
        if (before(request, response)) return;
        response.writeHead(status, { ...headers, 'Content-Type': type });
        response.write(begin);
        pour(response, object, self);
      });
      const error = await failureOf(use(open(server.endpoint)));
      if (status === 207 || (status === 200 && type.includes('json')))
        expect(error.message).toMatch(
          /the answer is (?:larger than 8 MiB|made of more than 262144 parts)$|its names are out of order$/,
        );
      // No text of a library.
      expect(error.message).not.toMatch(/deserial|\$response|\n/i);
      expect(error.hint).not.toBe('');
      expect(server.sent).toBeLessThan(4 * most + UNDER_WAY);
    });

    test.skipIf(isPatient)('a body that comes byte by byte', async () => {
      const timers: NodeJS.Timeout[] = [];
      await using server = await serve((request, response) => {
        if (before(request, response)) return;
        response.writeHead(207, { ...headers, 'Content-Type': type });
        response.write(begin);
        timers.push(setInterval(() => response.write(' '), 20));
      });
      const error = await failureOf(use(open(server.endpoint, SHORT_MS)));
      for (const timer of timers) clearInterval(timer);
      expect(error).toMatchObject({ kind: 'unreachable', details: { stalled: true } });
    });

    test('a small body that unpacks to a large one', async () => {
      const bomb = Buffer.concat([gzipSync(begin), gzipSync(Buffer.alloc(100 * MIB))]);
      await using server = await serve((request, response) => {
        if (before(request, response)) return;
        response.writeHead(200, { ...headers, 'Content-Type': type, 'Content-Encoding': 'gzip' });
        response.end(bomb);
      });
      const held = process.memoryUsage().arrayBuffers;
      const { message } = await failureOf(use(open(server.endpoint)));
      // What it is read by has no way to unpack.
      if (!isPatient) expect(message).toContain('the answer is compressed');
      expect(process.memoryUsage().arrayBuffers - held).toBeLessThan(32 * MIB);
    });

    test('a text without end', async () => {
      await using server = await serve((request, response, self) => {
        if (before(request, response)) return;
        response.writeHead(207, { ...headers, 'Content-Type': type });
        response.write(`${begin}${object.slice(0, 12)}`);
        pour(response, 'x', self);
      });
      const error = await failureOf(use(open(server.endpoint)));
      expect(error.message).toMatch(/the answer is larger than \d MiB$/);
      expect(server.sent).toBeLessThan(most + UNDER_WAY);
    });

    test('a page of nothing but beginnings', async () => {
      const hollow = Buffer.from((type.includes('json') ? '[' : '<a/>').repeat(1_900_000));
      await using server = await serve((request, response) => {
        if (before(request, response)) return;
        response.writeHead(207, { ...headers, 'Content-Type': type });
        response.write(begin);
        response.end(hollow);
      });
      const held = process.memoryUsage();
      const error = await failureOf(use(open(server.endpoint)));
      // The parts of a WebDAV answer are kept one at a time.
      if (!isPatient) expect(error.message).toContain('made of more than 262144 parts');
      const { heapUsed, external } = process.memoryUsage();
      expect(heapUsed + external - held.heapUsed - held.external).toBeLessThan(64 * MIB);
    });

    test.each([
      [
        'headers',
        'HTTP/1.1 200 OK\r\n',
        'X-Filler: aaaaaaaaaaaaaaaaaaaa\r\n',
        'the header of the answer is endless',
      ],
      [
        'notices that an answer will come',
        '',
        'HTTP/1.1 102 Processing\r\n\r\n',
        'the answer is announced more than 1000 times, and does not come',
      ],
    ])('%s without end', async (_what, first, repeated, told) => {
      const sockets: Socket[] = [];
      let sent = 0;
      const line = createLine((socket) => {
        sockets.push(socket);
        socket.on('error', () => {});
        socket.write(first);
        const more = (): void => {
          while (!socket.destroyed && sent < 200 * MIB) {
            sent += repeated.length * 2_048;
            if (!socket.write(repeated.repeat(2_048))) return void socket.once('drain', more);
          }
        };
        more();
      }).listen(0, '127.0.0.1');
      await once(line, 'listening');
      const error = await failureOf(use(open(`http://127.0.0.1:${(line.address() as AddressInfo).port}`)));
      expect(error).toMatchObject({ kind: 'corrupt-reply', retry: 'never' });
      expect(error.message).toContain(told);
      expect(sent).toBeLessThan(UNDER_WAY);
      for (const socket of sockets) socket.destroy();
      line.close();
    });
  },
);

describe('pages without end', () => {
  const pagesOf = (prefix: string) =>
    orderedPages('s3://bucket', '', '', async (next, take) => {
      const from = Number(next ?? 0);
      for (let i = 0; i < 1_000; i += 1)
        take({ name: `${prefix}${String(from + i).padStart(9, '0')}`, size: 1, modifiedMs: 1 });
      // Should nobody stop it, the test does.
      return from > 1_000_000 ? undefined : String(from + 1_000);
    });

  test.each([
    ['', 'more than 262144 other files'],
    ['snapshots/', 'more than 524288 objects below snapshots/'],
    ['keys/', 'more than 65536 objects below keys/'],
    ['UPPER', 'more than 262144 other files'],
  ])('of names that begin with "%s"', async (prefix, said) => {
    const taken = (async () => {
      for await (const _ of pagesOf(prefix));
    })();
    expect(await failureOf(taken)).toMatchObject({
      kind: 'corrupt-reply',
      retry: 'never',
      message: expect.stringContaining(said) as string,
    });
  });

  test('names that are longer than any key are passed over', async () => {
    const pages = orderedPages('s3://bucket', '', '', async (next, take) => {
      const index = Number(next ?? 0);
      take({ name: `snapshots/${index}${'x'.repeat(250)}`, size: 1, modifiedMs: 1 });
      return index === 9 ? undefined : String(index + 1);
    });
    expect(await pages.next()).toMatchObject({ done: true });
  });

  test('names that are longer than any store takes end the list', async () => {
    const pages = orderedPages('s3://bucket', '', '', async (_, take) => {
      take({ name: `snapshots/${'x'.repeat(5_000)}`, size: 1, modifiedMs: 1 });
      return undefined;
    });
    await expect(pages.next()).rejects.toThrow('it has names longer than any store allows');
  });

  test('names that are longer than any key are counted by their length', () => {
    const bound = new ListBound('s3://bucket');
    expect(() => {
      for (let count = 0; count < 70_000; count += 1) bound.count(`packs/${'x'.repeat(1_000)}`);
    }).toThrow('more than 16 MiB of names');
  });

  test('folders that are read at once count together', () => {
    const bound = new ListBound('webdav://store');
    const folders = Array.from({ length: 24 }, (_, index) => bound.folder(`d${index}`));
    expect(() => {
      for (let index = 0; index < 20_000; index += 1) for (const { count } of folders) count(`f${index}`);
    }).toThrow('more than 262144 other files');
  });

  test('what comes once more counts once', () => {
    const bound = new ListBound('webdav://store');
    const { count, restart } = bound.folder('keys');
    for (let times = 0; times < 3; times += 1) {
      restart();
      for (let index = 0; index < 60_000; index += 1) count(`${index}`);
    }
    expect(() => {
      for (let index = 0; index < 10_000; index += 1) count(`more-${index}`);
    }).toThrow('has more than 65536');
  });

  test('millions of packs are a list as others are', () => {
    const bound = new ListBound('s3://bucket');
    for (let count = 0; count < 4_000_000; count += 1) bound.count('packs/00/a');
    expect(() => {
      for (let count = 0; count < 1_000_000; count += 1) bound.count('packs/00/a');
    }).toThrow('objects below packs/');
  });

  test('a name of the next page that is no name', async () => {
    const pages = orderedPages('s3://bucket', '', '', async () => 'x'.repeat(100_000));
    await expect(pages.next()).rejects.toMatchObject({ kind: 'corrupt-reply' });
  });
});

describe('SFTP', () => {
  /** A list of a directory that has always more. */
  async function listOf(options: SftpStoreOptions): Promise<DestinationError> {
    const store = await startSftpStore(options);
    const { port, publicKey } = store;
    const site = mkdtempSync(join(tmpdir(), 'holdfast-endless-'));
    const hostKeyFile = join(site, 'host.pub');
    writeFileSync(hostKeyFile, `${publicKey}\n`);
    const destination = await openSftpDestination(
      { kind: 'sftp', user: 'keeper', host: '127.0.0.1', port, directory: '/keep' },
      { password: 'secret', hostKeyFile },
    );
    const taken = (async () => {
      for await (const _ of destination.list('', live));
    })();
    try {
      return await failureOf(taken);
    } finally {
      await destination.close();
      await store.stop();
      removeTree(site);
    }
  }

  test('a directory without end', async () => {
    expect((await listOf({ isEndless: true })).message).toContain('does not end');
  });

  test('a directory whose names are as long as an answer', async () => {
    const attrs = { mode: 0o100_600, size: 1, uid: 0, gid: 0, atime: 0, mtime: 1_000 };
    const filename = 'x'.repeat(100_000);
    let kept = 0;
    let answers = 0;
    const held = liveMemory();
    const { message } = await listOf({
      fault: ({ kind, id }, sftp) => {
        if (kind !== 'READDIR') return false;
        answers += 1;
        if (answers === 160) kept = liveMemory() - held;
        sftp.name(id, [{ filename, longname: '', attrs }]);
        return true;
      },
    });
    expect(message).toContain('more than 16 MiB of names');
    // Where they were kept that is 16 MB.
    expect(kept).toBeLessThan(8 * MIB);
  });

  test('a directory without end beside one that fails is not read on', async () => {
    const attrs = { mode: 0o100_600, size: 1, uid: 0, gid: 0, atime: 0, mtime: 1_000 };
    let answers = 0;
    const { message } = await listOf({
      folders: ['/keep/a', '/keep/b'],
      fault: ({ kind, id, path }, sftp) => {
        if (kind === 'READDIR' && path === '/keep/a')
          sftp.name(id, [{ filename: `f${(answers += 1)}`, longname: '', attrs }]);
        else if (kind === 'OPENDIR' && path === '/keep/b')
          sftp.status(id, ssh2.utils.sftp.STATUS_CODE.PERMISSION_DENIED);
        else return false;
        return true;
      },
    });
    expect(message).toContain('permission denied');
    expect(answers).toBeLessThan(1_000);
  });
});

describe('a directory of this machine', () => {
  const site = mkdtempSync(join(tmpdir(), 'holdfast-endless-'));
  afterAll(() => removeTree(site));

  test.each([
    ['keys/ring-1', 32 * MIB],
    ['keys/0123', 8 * 1024],
    ['config/1', MIB],
    ['snapshots/a', 17 * MIB],
    ['leases/prune/1', MIB],
    ['copies/keys/ring-1', 32 * MIB],
  ])('a huge file as %s is not read', async (name, most) => {
    const destination = await openLocalDestination(join(site));
    mkdirSync(join(site, name, '..'), { recursive: true });
    writeFileSync(join(site, name), '');
    truncateSync(join(site, name), most + 1);
    expect(await failureOf(destination.get(name, undefined, live))).toMatchObject({
      kind: 'corrupt-reply',
      message: expect.stringContaining('more than any object of its kind has') as string,
    });
    await destination.close();
  });

  test.skipIf(process.platform === 'win32')('a pipe in place of an object is none', async () => {
    const destination = await openLocalDestination(site);
    mkdirSync(join(site, 'config'), { recursive: true });
    execFileSync('mkfifo', [join(site, 'config', '7')]);
    expect(await failureOf(destination.get('config/7', undefined, live))).toMatchObject({
      kind: 'not-found',
    });
    await destination.close();
  });
});
