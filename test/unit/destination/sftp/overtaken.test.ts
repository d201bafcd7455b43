/** Two writers of one name on a server that knows no way to create a file only where there is none. */
// Turn 2 of 8.
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Destination } from '../../../../src/destination/destination.ts';
import { Lane } from '../../../../src/destination/sftp/lane.ts';
import { openSftpDestination } from '../../../../src/destination/sftp/sftp.ts';
import { startSftpStore, type SftpStore } from '../../../support/sftp-store.ts';

const live = new AbortController().signal;
const own = Buffer.from('of this writer');
const others = Buffer.from('of another writer');

let directory: string;
let server: SftpStore;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-sftp-'));
});

afterEach(async () => {
  vi.restoreAllMocks();
  await server.stop();
  rmSync(directory, { recursive: true });
});

async function openThere(options: { readonly createsTwice: boolean }): Promise<Destination> {
  server = await startSftpStore(options);
  const hostKeyFile = join(directory, 'host.pub');
  writeFileSync(hostKeyFile, `${server.publicKey}\n`);
  return await openSftpDestination(
    { kind: 'sftp', user: 'keeper', host: '127.0.0.1', port: server.port, directory: '/keep' },
    { password: 'secret', hostKeyFile },
  );
}

/** Once a file has its name, other bytes lie there. */
function putInItsPlace(bytes: Buffer): void {
  const { rename } = Lane.prototype;
  vi.spyOn(Lane.prototype, 'rename').mockImplementationOnce(async function (this: Lane, from, to) {
    await rename.call(this, from, to);
    server.files.set(to, bytes);
  });
}

test('the object of another who came after stays, and is said to exist', async () => {
  const destination = await openThere({ createsTwice: true });
  expect(destination.properties.conditionalCreate).toBe(false);
  putInItsPlace(others);
  await expect(destination.put('ring-2', own, live)).rejects.toMatchObject({ kind: 'exists' });
  // The other one was told that it is stored.
  expect(server.files.get('/keep/ring-2')?.toString()).toBe(others.toString());
  await destination.close();
});

test('what lies in the place of an object that is named by its bytes is damaged, and goes', async () => {
  const destination = await openThere({ createsTwice: true });
  const key = createHash('sha256').update(own).digest('hex');
  putInItsPlace(others);
  await expect(destination.put(key, own, live)).rejects.toMatchObject({
    kind: 'corrupt-reply',
    retry: 'now',
  });
  expect([...server.files.keys()]).toEqual([]);
  await destination.close();
});

test('what lies in the place of an object that only one writer can create is damaged, and goes', async () => {
  const destination = await openThere({ createsTwice: false });
  expect(destination.properties.conditionalCreate).toBe(true);
  putInItsPlace(others);
  await expect(destination.put('ring-2', own, live)).rejects.toMatchObject({
    kind: 'corrupt-reply',
    retry: 'now',
  });
  expect([...server.files.keys()]).toEqual([]);
  await destination.close();
});
