/** What this machine must have to boot another one: programs of Debian packages, and a directory that is kept between runs. */
import { accessSync, constants, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { runCommand } from '../servers/run-command.ts';

/** Program -> the package that has it. */
const PROGRAMS: Readonly<Record<string, string>> = {
  mmdebstrap: 'mmdebstrap',
  'qemu-system-x86_64': 'qemu-system-x86',
  'qemu-img': 'qemu-utils',
  mke2fs: 'e2fsprogs',
  'mkfs.xfs': 'xfsprogs',
  'mkfs.btrfs': 'btrfs-progs',
  'dpkg-deb': 'dpkg',
};

/** Images and the states of machines that were booted. Everything in it can be made anew. */
export function systemCache(): string {
  const cache = process.env['XDG_CACHE_HOME'] ?? path.join(homedir(), '.cache');
  const directory = process.env['HOLDFAST_SYSTEM_CACHE'] ?? path.join(cache, 'holdfast-system');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  return directory;
}

/** Installs what is missing, where this is root. */
export async function requirePrograms(): Promise<void> {
  const missing = Object.keys(PROGRAMS).filter((program) => !isThere(program));
  if (missing.length === 0) return;
  const packages = [...new Set(missing.map((program) => PROGRAMS[program] ?? program))];
  if (process.getuid?.() !== 0)
    throw new Error(
      `Missing here: ${missing.join(', ')}. Run as root: apt-get install ${packages.join(' ')}`,
    );
  await runCommand('apt-get', ['update', '-q']);
  await runCommand('apt-get', ['install', '--yes', '--quiet', '--no-install-recommends', ...packages], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    timeoutMs: 900_000,
  });
}

function isThere(program: string): boolean {
  // Those of the file systems are not on the way of everybody.
  const directories = `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin`.split(':');
  return directories.some((directory) => {
    try {
      accessSync(path.join(directory, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** KVM where it carries a machine: that the device is there says nothing, as within another machine. */
export function acceleration(): readonly string[] {
  return process.env['HOLDFAST_SYSTEM_KVM'] === '1'
    ? ['-accel', 'kvm', '-cpu', 'host']
    : // Without AVX, which is slow where it is emulated.
      ['-accel', 'tcg,thread=multi,tb-size=512', '-cpu', 'Westmere'];
}

/** Where the packages of this machine come from: `mmdebstrap` reads the same files. */
export function aptSources(): readonly string[] {
  const [single, directory] = ['/etc/apt/sources.list', '/etc/apt/sources.list.d'];
  const names = existsSync(directory)
    ? readdirSync(directory).filter((name) => /\.(?:list|sources)$/.test(name))
    : [];
  return [...(existsSync(single) ? [single] : []), ...names.sort().map((name) => path.join(directory, name))];
}
