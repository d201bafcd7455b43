/** An OpenSSH server that offers hard links, on a file system that has none: exFAT, FAT, CIFS, many of FUSE. */
// Turn 3 of 8.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ssh2 from 'ssh2';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Lane } from '../../../../src/destination/sftp/lane.ts';
import { openSftpDestination } from '../../../../src/destination/sftp/sftp.ts';
import { startSftpStore, type SftpStore } from '../../../support/sftp-store.ts';

const { STATUS_CODE } = ssh2.utils.sftp;
const live = new AbortController().signal;

let directory: string;
let server: SftpStore;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-sftp-'));
  server = await startSftpStore({ software: 'OpenSSH_9.6p1' });
  // The server of this test cannot offer it by itself.
  vi.spyOn(Lane.prototype, 'offers').mockImplementation((name) => name === 'hardlink@openssh.com');
});

afterEach(async () => {
  vi.restoreAllMocks();
  await server.stop();
  rmSync(directory, { recursive: true });
});

async function openThere(access: { readonly appendOnly?: boolean } = {}) {
  const hostKeyFile = join(directory, 'host.pub');
  writeFileSync(hostKeyFile, `${server.publicKey}\n`);
  return await openSftpDestination(
    { kind: 'sftp', user: 'keeper', host: '127.0.0.1', port: server.port, directory: '/keep' },
    { password: 'secret', hostKeyFile, ...access },
  );
}

function refuseLinks(code: number) {
  return vi.spyOn(Lane.prototype, 'link').mockImplementation(async () => {
    throw Object.assign(new Error('refused'), { code });
  });
}

test.each([
  ['permission denied', STATUS_CODE.PERMISSION_DENIED],
  ['failure', STATUS_CODE.FAILURE],
  ['unsupported', STATUS_CODE.OP_UNSUPPORTED],
])('takes objects all the same where a link is answered with %s', async (_, code) => {
  const link = refuseLinks(code);
  const destination = await openThere();
  expect(server.files.size).toBe(0);
  await Promise.all(['a', 'b'].map(async (key) => await destination.put(key, Buffer.from(key), live)));
  const asked = link.mock.calls.length;
  await destination.put('c', Buffer.from('c'), live);
  expect(link.mock.calls).toHaveLength(asked);
  await expect(destination.put('c', Buffer.from('d'), live)).rejects.toMatchObject({ kind: 'exists' });
  await destination.close();
  expect([...server.files].map(([path, bytes]) => `${path}: ${bytes.toString()}`).toSorted()).toEqual([
    '/keep/a: a',
    '/keep/b: b',
    '/keep/c: c',
  ]);
});

test('is told of as it is where nothing may be removed', async () => {
  refuseLinks(STATUS_CODE.PERMISSION_DENIED);
  const destination = await openThere({ appendOnly: true });
  await expect(destination.put('a', Buffer.from('a'), live)).rejects.toMatchObject({ kind: 'denied' });
  await destination.close();
});
