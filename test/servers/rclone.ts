/** Debian's rclone, unpacked and not installed: as the program that a destination starts, and as a server. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RcloneAccess, SftpAccess } from '../../src/destination/access.ts';
import type { RclonePlace, SftpPlace } from '../../src/destination/location.ts';
import { debianPrograms } from './debian-programs.ts';
import { runCommand } from './run-command.ts';
import { removeDirectory, runServer, scratchDirectory } from './running-server.ts';
import { freePort } from './running.ts';
import { webdavPlaceAt } from './webdav-server.ts';
import type { WebdavServer } from './webdav-server.ts';

export interface RcloneRemote {
  /** A folder of the remote, which is a directory of this machine below {@link RcloneRemote.data}. */
  place(name: string): RclonePlace;
  readonly access: RcloneAccess & { readonly program: string };
  readonly data: string;
  stop(): Promise<void>;
}

/** @throws {ServerUnavailable} */
export async function makeRcloneRemote(): Promise<RcloneRemote> {
  const program = await rcloneProgram();
  const directory = await scratchDirectory('rclone');
  const data = join(directory, 'data');
  await mkdir(data);
  const configFile = join(directory, 'rclone.conf');
  await writeFile(configFile, `[disk]\ntype = alias\nremote = ${data}\n`);
  return {
    data,
    access: { program, configFile },
    place: (name) => ({ kind: 'rclone', remote: 'disk', path: name }),
    stop: async () => await removeDirectory(directory),
  };
}

async function rcloneProgram(): Promise<string> {
  const { directory } = await debianPrograms('rclone', ['rclone']);
  return join(directory, 'usr/bin/rclone');
}

/** @throws {ServerUnavailable} */
export async function startRcloneWebdav(): Promise<WebdavServer> {
  const program = await rcloneProgram();
  const directory = await scratchDirectory('rclone-webdav');
  const data = join(directory, 'data');
  await mkdir(data);
  const port = await freePort();
  const running = await runServer(port, directory, {
    program,
    parameters: ['serve', 'webdav', '--addr', `127.0.0.1:${port}`, '--dir-cache-time', '0s', data],
    environment: { RCLONE_USER: 'keeper', RCLONE_PASS: 'secret', RCLONE_CONFIG: join(directory, 'none') },
  });
  return {
    port,
    data,
    access: { password: 'secret' },
    place: (name) => webdavPlaceAt(port, name, 'keeper'),
    log: running.log,
    stop: async () => {
      await running.kill();
      await removeDirectory(directory);
    },
  };
}

export interface RcloneSftp {
  place(name: string): SftpPlace;
  readonly access: SftpAccess;
  log(): Promise<string>;
  stop(): Promise<void>;
}

/** @throws {ServerUnavailable} */
export async function startRcloneSftp(): Promise<RcloneSftp> {
  const program = await rcloneProgram();
  const directory = await scratchDirectory('rclone-sftp');
  const at = (name: string): string => join(directory, name);
  await mkdir(at('data'));
  for (const name of ['host', 'user'])
    await runCommand('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', at(name)]);
  const port = await freePort();
  const running = await runServer(port, directory, {
    program,
    parameters: [
      'serve',
      'sftp',
      '--addr',
      `127.0.0.1:${port}`,
      '--dir-cache-time',
      '0s',
      '--key',
      at('host'),
      '--authorized-keys',
      at('user.pub'),
      at('data'),
    ],
    environment: { RCLONE_CONFIG: at('none') },
  });
  return {
    access: { keyFile: at('user'), hostKeyFile: at('host.pub') },
    place: (name) => ({ kind: 'sftp', user: 'keeper', host: '127.0.0.1', port, directory: `/${name}` }),
    log: running.log,
    stop: async () => {
      await running.kill();
      await removeDirectory(directory);
    },
  };
}
