/** A server that does not see for a moment what was made there just now, as one with a cache of directories may not. */
// Turn 1 of 8.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { withRetry } from '../../../../src/destination/retry.ts';
import { openSftpDestination } from '../../../../src/destination/sftp/sftp.ts';
import { startSftpStore, type SftpStore } from '../../../support/sftp-store.ts';

const live = new AbortController().signal;

let directory: string;
let server: SftpStore;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-sftp-'));
  server = await startSftpStore();
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
      message: expect.stringContaining('a file that was just created is missing'),
    });
  } finally {
    await destination.close();
  }
});
