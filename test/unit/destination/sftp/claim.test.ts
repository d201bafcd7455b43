/** A claim on a name, where a server has no hard links: who stands behind it, when the answer to who made it is lost. */
// Turn 6 of 8.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Destination } from '../../../../src/destination/destination.ts';
import { claimName, temporaryName } from '../../../../src/destination/new-file.ts';
import { Lane } from '../../../../src/destination/sftp/lane.ts';
import { openSftpDestination } from '../../../../src/destination/sftp/sftp.ts';
import { startSftpStore, type SftpStore } from '../../../support/sftp-store.ts';

const live = new AbortController().signal;
const claim = `/keep/${claimName('a')}`;
const body = Buffer.from('abc');

let directory: string;
let server: SftpStore;
let destination: Destination;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-sftp-'));
  server = await startSftpStore();
  const hostKeyFile = join(directory, 'host.pub');
  writeFileSync(hostKeyFile, `${server.publicKey}\n`);
  destination = await openSftpDestination(
    { kind: 'sftp', user: 'keeper', host: '127.0.0.1', port: server.port, directory: '/keep' },
    { password: 'secret', hostKeyFile },
  );
});

afterEach(async () => {
  vi.restoreAllMocks();
  await destination.close();
  await server.stop();
  rmSync(directory, { recursive: true });
});

/** Made before anything that the server keeps now. */
function makeOld(path: string): void {
  server.files.set(path, Buffer.alloc(0));
  server.times.set(path, 999);
}

test('keeps nobody from storing once it is nobody’s', async () => {
  makeOld(claim);
  expect(await destination.put('a', body, live)).toMatchObject({ size: 3 });
  expect([...server.files.keys()]).toEqual(['/keep/a']);
});

test('is left to another writer whose temporary file is there, or whose object is by then', async () => {
  makeOld(claim);
  const rival = `/keep/${temporaryName()}`;
  server.files.set(rival, Buffer.from('other'));
  const { openDirectory } = Lane.prototype;
  let lists = 0;
  vi.spyOn(Lane.prototype, 'openDirectory').mockImplementation(async function (this: Lane, path) {
    lists += 1;
    // The other one gives its object the name just before the second list.
    if (lists === 2) {
      server.files.set('/keep/a', Buffer.from('other'));
      server.files.delete(rival);
    }
    return await openDirectory.call(this, path);
  });
  await expect(destination.put('a', body, live)).rejects.toMatchObject({ kind: 'exists' });
  expect(lists).toBe(2);
  expect(server.files.has(claim)).toBe(true);
});

test('is one’s own when it was made, whatever becomes of closing it', async () => {
  const { open, close } = Lane.prototype;
  let ofClaim: Buffer | undefined;
  vi.spyOn(Lane.prototype, 'open').mockImplementation(async function (this: Lane, path, how, mode) {
    const handle = await open.call(this, path, how, mode);
    if (path === claim) ofClaim = handle;
    return handle;
  });
  vi.spyOn(Lane.prototype, 'close').mockImplementation(async function (this: Lane, handle) {
    await close.call(this, handle);
    if (ofClaim?.equals(handle) === true) throw new Error('The answer is lost');
  });
  expect(await destination.put('a', body, live)).toMatchObject({ size: 3 });
  expect([...server.files.keys()]).toEqual(['/keep/a']);
});

test('that cannot be removed is not removed later, when it may be that of another', async () => {
  const { remove } = Lane.prototype;
  const stuck = vi.spyOn(Lane.prototype, 'remove').mockImplementation(async function (this: Lane, path) {
    if (path === claim) throw new Error('The line is lost');
    await remove.call(this, path);
  });
  await destination.put('a', body, live);
  stuck.mockRestore();
  await destination.put('b', body, live);
  expect([...server.files.keys()].toSorted()).toEqual([claim, '/keep/a', '/keep/b'].toSorted());
});
