/**
 * Servers of Debian in a root directory of their own, so that nothing is installed on this machine. Needs root, apt,
 * Perl and a Debian mirror.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { access, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheDirectory } from './cache-directory.ts';
import { debianPrograms } from './debian-programs.ts';
import { runCommand } from './run-command.ts';
import { ServerUnavailable } from './unavailable.ts';

export interface DebianRoot {
  readonly directory: string;
  /** Runs a program inside to its end. `binds` are directories of this machine that it sees too. */
  run(binds: readonly string[], command: string, ...parameters: readonly string[]): Promise<string>;
  /** Starts one that stays; killing the process kills it, and all that it has started. */
  start(
    binds: readonly string[],
    log: number,
    command: string,
    ...parameters: readonly string[]
  ): ChildProcess;
}

/** Of the newest suite: servers of the stable one are years old. */
const SUITE = 'sid';

/** Makes the root when it is not there yet: one to two minutes. @throws {ServerUnavailable} */
export async function debianRoot(name: string, packages: readonly string[]): Promise<DebianRoot> {
  const directory = join(cacheDirectory(), `debian-${name}`);
  if (!(await isThere(join(directory, '.complete')))) await make(directory, packages);
  return {
    directory,
    run: async (binds, command, ...parameters) =>
      await runCommand('unshare', enter(directory, binds, command, parameters), { timeoutMs: 120_000 }),
    start: (binds, log, command, ...parameters) =>
      spawn('unshare', enter(directory, binds, command, parameters), { stdio: ['ignore', log, log] }),
  };
}

async function make(directory: string, packages: readonly string[]): Promise<void> {
  if (process.getuid?.() !== 0)
    throw new ServerUnavailable('A root directory of Debian is made by root only');
  const mirror = await debianMirror();
  const tool = join((await debianPrograms('mmdebstrap', ['mmdebstrap'])).directory, 'usr', 'bin');
  const growing = `${directory}.${process.pid}`;
  await rm(growing, { recursive: true, force: true });
  try {
    // It calls a program of its own package by its name.
    const env = { ...process.env, PATH: `${tool}:${process.env['PATH'] ?? ''}` };
    await runCommand(
      'mmdebstrap',
      [
        '--quiet',
        '--variant=minbase',
        '--mode=root',
        '--aptopt=APT::Install-Recommends "false"',
        // A mirror may be older than its lists say they may be.
        '--aptopt=Acquire::Check-Valid-Until "false"',
        '--aptopt=Acquire::Check-Date "false"',
        '--aptopt=Acquire::Languages "none"',
        '--dpkgopt=path-exclude=/usr/share/doc/*',
        '--dpkgopt=path-exclude=/usr/share/man/*',
        // What starts services when packages are installed finds that it may not.
        '--essential-hook=printf "#!/bin/sh\\nexit 101\\n" > "$1/usr/sbin/policy-rc.d"',
        '--essential-hook=chmod +x "$1/usr/sbin/policy-rc.d"',
        `--include=${packages.join(',')}`,
        SUITE,
        growing,
        `deb ${mirror} ${SUITE} main`,
      ],
      { env },
    );
    await writeFile(join(growing, '.complete'), '');
    await rm(directory, { recursive: true, force: true });
    await rename(growing, directory);
  } finally {
    await rm(growing, { recursive: true, force: true });
  }
}

/** In namespaces of its own: its mounts are gone with it, and so is every process that it leaves. */
function enter(
  root: string,
  binds: readonly string[],
  command: string,
  parameters: readonly string[],
): readonly string[] {
  const script = [
    'set -e',
    'root=$1; binds=$2; shift 2',
    'mount -t proc proc "$root/proc"',
    'mount --rbind /dev "$root/dev"',
    'for path in $binds; do mkdir -p "$root$path"; mount --bind "$path" "$root$path"; done',
    'exec chroot "$root" "$@"',
  ].join('\n');
  return [
    '--mount',
    '--pid',
    '--fork',
    '--kill-child',
    'sh',
    '-c',
    script,
    'enter',
    root,
    binds.join(' '),
    command,
    ...parameters,
  ];
}

/** The one that this machine takes its own packages from. */
async function debianMirror(): Promise<string> {
  const parts = await readdir('/etc/apt/sources.list.d').catch(() => []);
  const files = ['/etc/apt/sources.list', ...parts.map((name) => join('/etc/apt/sources.list.d', name))];
  const texts = await Promise.all(files.map(async (file) => await readFile(file, 'utf8').catch(() => '')));
  const found = [...texts.join('\n').matchAll(/^(?!\s*#).*?(https?:\/\/[^\s]+)/gm)].map((match) => match[1]);
  const mirror = found.find((url) => url !== undefined && !url.includes('security'));
  if (mirror === undefined) throw new ServerUnavailable('No Debian mirror is configured on this machine');
  return mirror;
}

async function isThere(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}
