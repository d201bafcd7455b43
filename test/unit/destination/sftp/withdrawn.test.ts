/** An object that the server does not keep whole, and does not remove either. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { Lane } from '../../../../src/destination/sftp/lane.ts';
import { openSftpDestination } from '../../../../src/destination/sftp/sftp.ts';
import { startSftpStore } from '../../../support/sftp-store.ts';

const live = new AbortController().signal;

test('is not removed by a later put, when another may have the name', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-sftp-'));
  const server = await startSftpStore();
  const hostKeyFile = join(directory, 'host.pub');
  writeFileSync(hostKeyFile, `${server.publicKey}\n`);
  const destination = await openSftpDestination(
    { kind: 'sftp', user: 'keeper', host: '127.0.0.1', port: server.port, directory: '/keep' },
    { password: 'secret', hostKeyFile },
  );
  const { stat } = Lane.prototype;
  const cut = vi.spyOn(Lane.prototype, 'stat').mockImplementation(async function (this: Lane, path) {
    const facts = await stat.call(this, path);
    return path === '/keep/a' ? { ...facts, size: 1 } : facts;
  });
  const remove = vi.spyOn(Lane.prototype, 'remove').mockRejectedValue(new Error('The line is lost'));
  await expect(destination.put('a', Buffer.from('abc'), live)).rejects.toMatchObject({
    kind: 'corrupt-reply',
  });
  cut.mockRestore();
  remove.mockRestore();
  await destination.put('b', Buffer.from('b'), live);
  expect(server.files.has('/keep/a')).toBe(true);
  await destination.close();
  await server.stop();
  rmSync(directory, { recursive: true });
});
