/**
 * Debian's OpenSSH server, unpacked and not installed. As root it has a user of its own for the tests, in namespaces of
 * its own, so that the machine has none; as anybody else it lets that one in.
 */
import { copyFile, mkdir, readFile, writeFile, chmod, chown, appendFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import type { SftpAccess } from '../../src/destination/access.ts';
import type { SftpPlace } from '../../src/destination/location.ts';
import { debianPrograms } from './debian-programs.ts';
import { runCommand } from './run-command.ts';
import { freePort } from './running.ts';
import { removeDirectory, runServer, scratchDirectory } from './running-server.ts';
import type { RunningServer } from './running-server.ts';

export interface OpenSshServer {
  readonly port: number;
  readonly user: string;
  /** As `chown` takes it. */
  readonly owner: string;
  readonly keyFile: string;
  /** A public key, which names no host. */
  readonly hostKeyFile: string;
  /** Below it lie the directories of destinations; this process sees them too. */
  readonly data: string;
  place(name: string): SftpPlace;
  readonly access: SftpAccess;
  log(): Promise<string>;
  /** Kills it, sessions included, and starts it again on the same port. */
  restart(): Promise<void>;
  kill(): Promise<void>;
  stop(): Promise<void>;
}

export interface OpenSshOptions {
  /** Lines for the account of the tests: `ForceCommand …`. */
  readonly accountSettings?: readonly string[];
  readonly settings?: readonly string[];
  /** As root only: so many bytes of room for data, which this process then does not see. */
  readonly room?: number;
  /** As root only: lets the account in by this, and by no key. */
  readonly password?: string;
  /** Another type of key than ed25519. */
  readonly hostKeyType?: 'ed25519' | 'ecdsa' | 'rsa';
}

const USER = { name: 'holdfast-test', uid: 40_922, gid: 65_534 };

/** @throws {ServerUnavailable} */
export async function startOpenSsh(options: OpenSshOptions = {}): Promise<OpenSshServer> {
  const programs = await debianPrograms('openssh', ['openssh-server', 'openssh-sftp-server']);
  const directory = await scratchDirectory('sshd');
  const asRoot = process.getuid?.() === 0;
  const user = asRoot ? USER.name : userInfo().username;
  const at = (name: string): string => join(directory, name);
  const type = options.hostKeyType ?? 'ed25519';
  await runCommand('ssh-keygen', ['-q', '-t', type, '-N', '', '-f', at('host')]);
  await runCommand('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', at('user')]);
  await copyFile(at('user.pub'), at('authorized_keys'));
  await mkdir(at('data'));
  if (asRoot) await chown(at('data'), USER.uid, USER.gid);
  const port = await freePort();
  await writeFile(at('sshd_config'), configuration(port, directory, user, options));
  const binary = join(programs.directory, 'usr/sbin/sshd');
  const server = [binary, '-D', '-e', '-f', at('sshd_config')];
  if (asRoot) await writeAccounts(directory, options.password);
  const start = async (): Promise<RunningServer> =>
    await runServer(port, directory, {
      program: asRoot ? 'unshare' : binary,
      parameters: asRoot ? ownNamespace(directory, server, options.room) : server.slice(1),
      environment: programs.environment,
    });
  let running = await start();
  return {
    port,
    user,
    owner: asRoot ? `${USER.uid}:${USER.gid}` : user,
    keyFile: at('user'),
    hostKeyFile: at('host.pub'),
    data: at('data'),
    place: (name) => ({ kind: 'sftp', user, host: '127.0.0.1', port, directory: `${at('data')}/${name}` }),
    access: { keyFile: at('user'), hostKeyFile: at('host.pub') },
    log: async () => await running.log(),
    restart: async () => {
      await running.kill();
      running = await start();
    },
    kill: async () => await running.kill(),
    stop: async () => {
      await running.kill();
      await removeDirectory(directory);
    },
  };
}

function configuration(port: number, directory: string, user: string, options: OpenSshOptions): string {
  return [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${directory}/host`,
    `AuthorizedKeysFile ${directory}/authorized_keys`,
    'PidFile none',
    'StrictModes no',
    'UsePAM no',
    ...(options.password === undefined
      ? ['PasswordAuthentication no']
      : ['PasswordAuthentication yes', 'PubkeyAuthentication no']),
    'Subsystem sftp internal-sftp',
    ...(options.settings ?? []),
    ...(options.accountSettings === undefined ? [] : [`Match User ${user}`, ...options.accountSettings]),
    '',
  ].join('\n');
}

/** The machine's accounts and two more; seen by the server alone. */
async function writeAccounts(directory: string, password: string | undefined): Promise<void> {
  const passwd = join(directory, 'passwd');
  const shadow = join(directory, 'shadow');
  await writeFile(passwd, await readFile('/etc/passwd'));
  await writeFile(shadow, await readFile('/etc/shadow'));
  await chmod(shadow, 0o600);
  await appendFile(passwd, `sshd:x:40921:65534::/run/sshd:/usr/sbin/nologin\n`);
  await appendFile(passwd, `${USER.name}:x:${USER.uid}:${USER.gid}::${directory}:/bin/sh\n`);
  const hash =
    password === undefined
      ? '*'
      : (await runCommand('openssl', ['passwd', '-6', '-salt', 'holdfasttest', password])).trim();
  await appendFile(shadow, `sshd:*:19000::::::\n${USER.name}:${hash}:19000::::::\n`);
}

/** With its end everything that it has started ends too. */
function ownNamespace(
  directory: string,
  server: readonly string[],
  room: number | undefined,
): readonly string[] {
  const script = [
    'set -e',
    'mount --bind "$1/passwd" /etc/passwd',
    'mount --bind "$1/shadow" /etc/shadow',
    'mount -t tmpfs -o mode=755 tmpfs /run',
    'mkdir /run/sshd',
    ...(room === undefined
      ? []
      : [`mount -t tmpfs -o size=${room},mode=700,uid=${USER.uid},gid=${USER.gid} tmpfs "$1/data"`]),
    'shift',
    'exec "$@"',
  ].join('\n');
  return ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', script, 'sshd', directory, ...server];
}
