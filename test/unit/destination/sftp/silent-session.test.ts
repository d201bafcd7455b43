/** A server that lets one in and then never speaks SFTP: its program hangs, or what the account's home lies on. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openSftpDestination } from '../../../../src/destination/sftp/sftp.ts';
import { startSftpStore, type SftpStore } from '../../../support/sftp-store.ts';

let directory: string;
let server: SftpStore;
let silent: PromiseWithResolvers<void>;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-sftp-'));
  silent = Promise.withResolvers();
  server = await startSftpStore({ onSilence: () => silent.resolve() });
});

afterEach(async () => {
  vi.useRealTimers();
  await server.stop();
  rmSync(directory, { recursive: true });
});

async function openThere(signal?: AbortSignal): Promise<unknown> {
  const hostKeyFile = join(directory, 'host.pub');
  writeFileSync(hostKeyFile, `${server.publicKey}\n`);
  return await openSftpDestination(
    { kind: 'sftp', user: 'keeper', host: '127.0.0.1', port: server.port, directory: '/keep' },
    { password: 'secret', hostKeyFile },
    {},
    signal,
  );
}

test('is given up after a minute', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const outcome = expect(openThere()).rejects.toMatchObject({
    kind: 'unreachable',
    details: { stalled: true },
  });
  await silent.promise;
  vi.advanceTimersByTime(61_000);
  await outcome;
});

test('is left at once by who is told to stop', async () => {
  const controller = new AbortController();
  const reason = new Error('stopped by the test');
  const outcome = expect(openThere(controller.signal)).rejects.toBe(reason);
  await silent.promise;
  controller.abort(reason);
  await outcome;
});
