/**
 * Programs of Debian packages, unpacked into a directory of their own: nothing is installed on this machine, and a
 * package that is small is there in seconds. Needs apt and a Debian mirror, and no rights.
 */
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheDirectory } from './cache-directory.ts';
import { runCommand } from './run-command.ts';

export interface DebianPrograms {
  /** What the packages hold is below it: `usr/sbin/…`. */
  readonly directory: string;
  /** For programs that need libraries of theirs. */
  readonly environment: Readonly<Record<string, string>>;
}

/** @throws {ServerUnavailable} */
export async function debianPrograms(name: string, packages: readonly string[]): Promise<DebianPrograms> {
  const directory = join(cacheDirectory(), `programs-${name}`);
  if (!existsSync(join(directory, '.complete'))) await make(directory, packages);
  const libraries = [
    'usr/lib/x86_64-linux-gnu',
    'lib/x86_64-linux-gnu',
    'usr/lib/aarch64-linux-gnu',
    'usr/lib',
    // libpulse, which Chromium has, looks for a library of its own by an absolute path.
    'usr/lib/x86_64-linux-gnu/pulseaudio',
    'usr/lib/aarch64-linux-gnu/pulseaudio',
  ];
  return {
    directory,
    environment: { LD_LIBRARY_PATH: libraries.map((path) => join(directory, path)).join(':') },
  };
}

async function make(directory: string, packages: readonly string[]): Promise<void> {
  const growing = `${directory}.${process.pid}`;
  const archives = join(growing, 'archives');
  await rm(growing, { recursive: true, force: true });
  try {
    await mkdir(join(archives, 'partial'), { recursive: true });
    // Without any of the system's lists nothing is found: they are brought up to date first where that is allowed.
    await runCommand('apt-get', ['update', '-q'], { timeoutMs: 120_000 }).catch(() => '');
    await runCommand(
      'apt-get',
      [
        'install',
        '--yes',
        '--quiet',
        '--reinstall',
        '--no-install-recommends',
        '--download-only',
        '-o',
        `Dir::Cache::Archives=${archives}`,
        '-o',
        'Debug::NoLocking=true',
        ...packages,
      ],
      { timeoutMs: 300_000 },
    );
    for (const file of await readdir(archives))
      if (file.endsWith('.deb')) await runCommand('dpkg-deb', ['--extract', join(archives, file), growing]);
    await rm(archives, { recursive: true });
    await writeFile(join(growing, '.complete'), '');
    await rm(directory, { recursive: true, force: true });
    await rename(growing, directory);
  } finally {
    await rm(growing, { recursive: true, force: true });
  }
}
