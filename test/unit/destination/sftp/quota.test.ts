/** A server that makes files and writes nothing to them, as OpenSSH answers for an account whose quota is used up. */
// Turn 2 of 8.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Destination } from '../../../../src/destination/destination.ts';
import { withRetry } from '../../../../src/destination/retry.ts';
import { openSftpDestination } from '../../../../src/destination/sftp/sftp.ts';
import { startSftpStore, type SftpStore } from '../../../support/sftp-store.ts';

const live = new AbortController().signal;
let directory: string;
let server: SftpStore;
let destination: Destination;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-sftp-'));
  server = await startSftpStore();
  const hostKeyFile = join(directory, 'host.pub');
  writeFileSync(hostKeyFile, `${server.publicKey}\n`);
  const place = {
    kind: 'sftp',
    user: 'keeper',
    host: '127.0.0.1',
    port: server.port,
    directory: '/keep',
  } as const;
  destination = withRetry(await openSftpDestination(place, { password: 'secret', hostKeyFile }));
});

afterEach(async () => {
  await destination.close();
  await server.stop();
  rmSync(directory, { recursive: true });
});

test('is full, which is told at once and leaves nothing behind', async () => {
  server.refuseWrites(1_000);
  const began = performance.now();
  await expect(destination.put('a', Buffer.from('abc'), live)).rejects.toMatchObject({
    kind: 'full',
    message: expect.stringContaining('the quota of the account may be used up'),
  });
  expect(performance.now() - began).toBeLessThan(10_000);
  expect([...server.files.keys()]).toEqual([]);
  server.refuseWrites(0);
  expect(await destination.put('a', Buffer.from('abc'), live)).toMatchObject({ size: 3 });
});

test('a write that is refused once is tried again', async () => {
  server.refuseWrites(1);
  expect(await destination.put('a', Buffer.from('abc'), live)).toMatchObject({ size: 3 });
});
