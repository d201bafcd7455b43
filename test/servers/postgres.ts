/**
 * Debian's PostgreSQL, unpacked and not installed, on loopback with its data in a directory of its own. It refuses to run
 * as root: then it runs as nobody, in namespaces of its own, with which all its processes end.
 */
import { chown, mkdir, readdir, readlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { debianPrograms } from './debian-programs.ts';
import { runCommand } from './run-command.ts';
import { freePort } from './running.ts';
import {
  removeDirectory,
  runServer,
  scratchDirectory,
  type Command,
  type RunningServer,
} from './running-server.ts';
import { ServerUnavailable } from './unavailable.ts';

export interface PostgresServer {
  readonly port: number;
  /** Of its first database, for a user that may make others. */
  readonly url: string;
  log(): Promise<string>;
  /** Ends it as a power failure would, and starts it again on the same port. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export interface PostgresOptions {
  /** Lines of `postgresql.conf`. */
  readonly settings?: readonly string[];
}

const NOBODY = { id: 65_534 };

/** @throws {ServerUnavailable} */
export async function startPostgres({ settings = [] }: PostgresOptions = {}): Promise<PostgresServer> {
  const version = await packagedVersion();
  const programs = await debianPrograms(`postgres-${version}`, [
    `postgresql-${version}`,
    `postgresql-client-${version}`,
    'libpq5',
  ]);
  const directory = await scratchDirectory('postgres');
  const data = join(directory, 'data');
  await mkdir(data, { mode: 0o700 });
  const asRoot = process.getuid?.() === 0;
  if (asRoot) await chown(data, NOBODY.id, NOBODY.id);
  // Where whoever runs it can see them: the cache is its owner's alone.
  const mounted = join(directory, 'programs');
  await mkdir(mounted);
  const binaries = join(asRoot ? mounted : programs.directory, 'usr/lib/postgresql', version, 'bin');
  const asOther = (program: string, ...parameters: readonly string[]): Command => ({
    ...(asRoot
      ? { program: 'unshare', parameters: asNobody(programs.directory, mounted, [program, ...parameters]) }
      : { program, parameters }),
    environment: libraries(asRoot ? mounted : programs.directory),
  });

  const initialise = asOther(
    join(binaries, 'initdb'),
    `--pgdata=${data}`,
    '--username=holdfast',
    '--auth=trust',
    '--no-sync',
    // Not that of the C library, by which text has another order than by bytes: as many have it who run the service.
    '--encoding=UTF8',
    '--locale-provider=icu',
    '--icu-locale=en-US',
    '--locale=C.UTF-8',
  );
  await runCommand(initialise.program, initialise.parameters, {
    cwd: directory,
    env: { ...process.env, ...initialise.environment },
  });
  const port = await freePort();
  await writeFile(join(data, 'postgresql.conf'), configuration(port, settings));
  const start = async (): Promise<RunningServer> =>
    await runServer(port, directory, asOther(join(binaries, 'postgres'), '-D', data));
  let running = await start();
  const url = `postgres://holdfast@127.0.0.1:${port}/postgres`;
  await untilReady(running.log);

  const kill = async (): Promise<void> => {
    await running.kill();
    // The others of its processes end when they find it gone; in namespaces they have ended with it.
    if (!asRoot) await untilAlone(data);
  };
  return {
    port,
    url,
    log: async () => await running.log(),
    restart: async () => {
      await kill();
      running = await start();
      await untilReady(running.log);
    },
    stop: async () => {
      await kill();
      await removeDirectory(directory);
    },
  };
}

/** That which Debian's package `postgresql` stands for here. */
async function packagedVersion(): Promise<string> {
  const printed = await runCommand('apt-cache', ['depends', 'postgresql']);
  const version = /Depends: postgresql-(\d+)/.exec(printed)?.[1];
  if (version === undefined) throw new ServerUnavailable('No list of packages here has PostgreSQL');
  return version;
}

function configuration(port: number, settings: readonly string[]): string {
  return [
    `port = ${port}`,
    "listen_addresses = '127.0.0.1'",
    "unix_socket_directories = ''",
    'max_connections = 100',
    'shared_buffers = 64MB',
    'jit = off',
    // Deadlocks are to be found, and soon.
    'deadlock_timeout = 100ms',
    'log_min_messages = warning',
    ...settings,
    '',
  ].join('\n');
}

function libraries(directory: string): Readonly<Record<string, string>> {
  const paths = ['usr/lib/x86_64-linux-gnu', 'usr/lib/aarch64-linux-gnu', 'lib/x86_64-linux-gnu', 'usr/lib'];
  return { LD_LIBRARY_PATH: paths.map((path) => join(directory, path)).join(':'), LC_ALL: 'C.UTF-8' };
}

function asNobody(programs: string, mounted: string, command: readonly string[]): readonly string[] {
  const script = [
    'set -e',
    'mount --bind "$1" "$2"',
    'mount -t tmpfs -o mode=1777 tmpfs /dev/shm',
    'shift 2',
    // Not in place of the shell: whoever changes its user no longer ends with what started it.
    `setpriv --reuid=${NOBODY.id} --regid=${NOBODY.id} --clear-groups "$@"`,
    'exit $?',
  ].join('\n');
  const namespaces = ['--mount', '--pid', '--ipc', '--fork', '--kill-child'];
  return [...namespaces, 'sh', '-c', script, 'postgres', programs, mounted, ...command];
}

/** Its port is open before it takes connections. */
async function untilReady(log: () => Promise<string>): Promise<void> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    const starts = (await log()).split('starting PostgreSQL');
    if (starts.at(-1)?.includes('database system is ready to accept connections') === true) return;
    if (performance.now() > deadline) throw new Error(`PostgreSQL is not ready: ${await log()}`);
    await delay(20);
  }
}

/** All its processes are at home where the data is. */
async function untilAlone(data: string): Promise<void> {
  for (;;) {
    const processes = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
    const homes = processes.map(async (pid) => await readlink(join('/proc', pid, 'cwd')).catch(() => ''));
    if (!(await Promise.all(homes)).includes(data)) return;
    await delay(20);
  }
}
