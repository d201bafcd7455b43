/** An account whose shell prints something before SFTP begins is told from a server that has no SFTP. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSftpDestination } from '../../../../src/destination/sftp/sftp.ts';
import { startSftpStore } from '../../../support/sftp-store.ts';

async function refusalOf(greeting: Buffer | string): Promise<unknown> {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-sftp-'));
  const server = await startSftpStore({ greeting: Buffer.from(greeting) });
  const hostKeyFile = join(directory, 'host.pub');
  writeFileSync(hostKeyFile, `${server.publicKey}\n`);
  const place = {
    kind: 'sftp',
    user: 'keeper',
    host: '127.0.0.1',
    port: server.port,
    directory: '/keep',
  } as const;
  try {
    return await openSftpDestination(place, { password: 'secret', hostKeyFile }, {}).then(
      () => 'opened',
      (error: unknown) => error,
    );
  } finally {
    await server.stop();
    rmSync(directory, { recursive: true });
  }
}

test.each([
  ['Welcome to the server\n', 'Welcome to the server'],
  ['\nÜbung "1" \\\r\nend\n', String.raw`Übung \"1\" \\\r\nend`],
  ['\u001b[31mred\u202e', String.raw`\u{1b}[31mred\u{202e}`],
  ['x'.repeat(100_000), `${'x'.repeat(80)}…`],
  [Buffer.concat([Buffer.from('Hello'), Buffer.from([0, 0, 0, 5, 2, 0, 0, 0, 3])]), 'Hello'],
  [Buffer.from([10, 0, 0, 0, 5, 2, 0, 0, 0, 3]), String.raw`\n`],
  ['This account is currently not available.\n', 'This account is currently not available.'],
])('%j is quoted, escaped and cut', async (greeting, said) => {
  expect(await refusalOf(greeting)).toMatchObject({
    kind: 'unsupported',
    message: expect.stringContaining(`sends a text in place of SFTP: "${said}"`) as string,
    hint: expect.stringMatching(/\[ -n "\$PS1" \].*Subsystem sftp internal-sftp/) as string,
  });
});

test('bytes that are no text are no greeting', async () => {
  expect(await refusalOf(Buffer.alloc(4))).toMatchObject({
    message: expect.stringContaining('offers no SFTP') as string,
  });
});
