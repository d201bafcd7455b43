/** A server that does not see for a moment what was made there just now, as one with a cache of directories may not. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ssh2, { type SFTPWrapper } from 'ssh2';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { withRetry } from '../../../../src/destination/retry.ts';
import { openSftpDestination } from '../../../../src/destination/sftp/sftp.ts';

const { OPEN_MODE, STATUS_CODE } = ssh2.utils.sftp;
const live = new AbortController().signal;
const DIRECTORY = 0o040_755;
const FILE = 0o100_600;

interface ForgetfulServer {
  readonly port: number;
  readonly publicKey: string;
  /** So many files more cannot be made, as if their directory were not there. */
  forget(times: number): void;
  stop(): Promise<void>;
}

async function startServer(): Promise<ForgetfulServer> {
  // Not ed25519: of those that ssh2 makes, one in 256 cannot be read back by it.
  const key = ssh2.utils.generateKeyPairSync('ecdsa', { bits: 256 });
  const directories = new Set(['/', '/keep']);
  const files = new Map<string, Buffer>();
  const open: string[] = [];
  let forgotten = 0;
  const serve = (sftp: SFTPWrapper): void => {
    const nameOf = (handle: Buffer): string => open[handle.readUInt32BE()] ?? '';
    const known = (id: number, path: string): void => {
      const content = files.get(path);
      if (content === undefined && !directories.has(path)) sftp.status(id, STATUS_CODE.NO_SUCH_FILE);
      else
        sftp.attrs(id, {
          mode: content === undefined ? DIRECTORY : FILE,
          size: content?.length ?? 0,
          uid: 0,
          gid: 0,
          atime: 0,
          mtime: 0,
        });
    };
    sftp.on('STAT', known);
    sftp.on('LSTAT', known);
    sftp.on('FSTAT', (id, handle) => known(id, nameOf(handle)));
    sftp.on('MKDIR', (id, path) => {
      sftp.status(id, directories.has(path) ? STATUS_CODE.FAILURE : STATUS_CODE.OK);
      directories.add(path);
    });
    sftp.on('OPEN', (id, path, flags) => {
      const isThere = directories.has(path.slice(0, path.lastIndexOf('/')));
      const isForgotten = isThere && path.startsWith('/keep/packs/') && forgotten > 0;
      if (isForgotten) forgotten -= 1;
      if (!isThere || isForgotten) return sftp.status(id, STATUS_CODE.NO_SUCH_FILE);
      if ((flags & OPEN_MODE.EXCL) !== 0 && files.has(path)) return sftp.status(id, STATUS_CODE.FAILURE);
      if ((flags & OPEN_MODE.CREAT) !== 0) files.set(path, Buffer.alloc(0));
      const handle = Buffer.alloc(4);
      handle.writeUInt32BE(open.push(path) - 1);
      sftp.handle(id, handle);
    });
    sftp.on('WRITE', (id, handle, offset, data) => {
      const before = files.get(nameOf(handle)) ?? Buffer.alloc(0);
      files.set(nameOf(handle), Buffer.concat([before.subarray(0, offset), data]));
      sftp.status(id, STATUS_CODE.OK);
    });
    sftp.on('CLOSE', (id) => sftp.status(id, STATUS_CODE.OK));
    sftp.on('REMOVE', (id, path) => {
      sftp.status(id, files.delete(path) ? STATUS_CODE.OK : STATUS_CODE.NO_SUCH_FILE);
    });
    sftp.on('RENAME', (id, from, to) => {
      files.set(to, files.get(from) ?? Buffer.alloc(0));
      sftp.status(id, files.delete(from) ? STATUS_CODE.OK : STATUS_CODE.NO_SUCH_FILE);
    });
  };
  const server = new ssh2.Server({ hostKeys: [key.private] }, (connection) => {
    connection.on('error', () => {});
    connection.on('authentication', (context) => context.accept());
    connection.on('session', (accept) => {
      accept().on('sftp', (begin) => serve(begin()));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    publicKey: key.public,
    forget: (times) => void (forgotten = times),
    stop: async () => {
      server.close();
      await once(server, 'close');
    },
  };
}

let directory: string;
let server: ForgetfulServer;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-sftp-'));
  server = await startServer();
});
afterEach(async () => {
  await server.stop();
  rmSync(directory, { recursive: true });
});

async function openThere() {
  const hostKeyFile = join(directory, 'host.pub');
  writeFileSync(hostKeyFile, `${server.publicKey}\n`);
  return await openSftpDestination(
    { kind: 'sftp', user: 'keeper', host: '127.0.0.1', port: server.port, directory: '/keep' },
    { password: 'secret', hostKeyFile },
  );
}

test('is asked again, and what was to be stored is stored', async () => {
  const raw = await openThere();
  const pauses: number[] = [];
  const destination = withRetry(raw, undefined, async (milliseconds) => void pauses.push(milliseconds));
  try {
    // Before its directory is made and after.
    server.forget(3);
    await destination.put('packs/one', Buffer.from('content'), live);
    expect(pauses.length).toBeGreaterThanOrEqual(1);
    expect(await destination.stat('packs/one', live)).toMatchObject({ size: 7 });
  } finally {
    await destination.close();
  }
});

test('is no reason to call the destination absent', async () => {
  const destination = await openThere();
  try {
    server.forget(2);
    await expect(destination.put('packs/one', Buffer.from('content'), live)).rejects.toMatchObject({
      kind: 'unreachable',
      retry: 'now',
      message: expect.stringContaining('what was just made is not there'),
    });
  } finally {
    await destination.close();
  }
});
