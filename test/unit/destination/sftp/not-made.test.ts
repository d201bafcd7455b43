/** Where a directory cannot be made, the server's refusal to make it is the reason, and not that it is absent. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ssh2 from 'ssh2';
import { expect, test } from 'vitest';
import { openSftpDestination } from '../../../../src/destination/sftp/sftp.ts';
import { startSftpStore } from '../../../support/sftp-store.ts';

const { STATUS_CODE } = ssh2.utils.sftp;

async function refusalOf(makesNone: number, directory: string): Promise<unknown> {
  const home = mkdtempSync(join(tmpdir(), 'holdfast-sftp-'));
  const server = await startSftpStore({ makesNone });
  const hostKeyFile = join(home, 'host.pub');
  writeFileSync(hostKeyFile, `${server.publicKey}\n`);
  const place = { kind: 'sftp', user: 'keeper', host: '127.0.0.1', port: server.port, directory } as const;
  try {
    const access = { password: 'secret', hostKeyFile };
    return await openSftpDestination(place, access, { create: true }).then(
      () => 'opened',
      (error: unknown) => error,
    );
  } finally {
    await server.stop();
    rmSync(home, { recursive: true });
  }
}

test.each([
  [STATUS_CODE.PERMISSION_DENIED, 'permission denied \\(status 3'],
  [STATUS_CODE.FAILURE, 'does not make the directory \\(status 4'],
])('with status %i', async (status, words) => {
  for (const directory of ['/new', '/keep/a/b', '/no/such/one']) {
    expect(await refusalOf(status, directory)).toMatchObject({
      kind: 'denied',
      retry: 'never',
      message: expect.stringMatching(
        new RegExp(`^Cannot create sftp://.*${directory}: .*${words}`),
      ) as string,
    });
  }
});
