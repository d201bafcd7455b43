/** Servers that are packages of npm, in a directory of their own. */
import { access, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheDirectory } from './cache-directory.ts';
import { runCommand } from './run-command.ts';

/** The directory that holds `node_modules` with the package, installed when it is not yet: some 20 seconds. */
export async function npmPackage(name: string, version: string): Promise<string> {
  const directory = join(cacheDirectory(), `npm-${name}-${version}`);
  const there = await access(join(directory, 'node_modules', name)).then(
    () => true,
    () => false,
  );
  if (there) return directory;
  const growing = `${directory}.${process.pid}`;
  await mkdir(growing, { recursive: true });
  try {
    await writeFile(join(growing, 'package.json'), '{"private":true}');
    const parameters = ['install', '--no-audit', '--no-fund', '--loglevel=error', `${name}@${version}`];
    await runCommand('npm', parameters, { cwd: growing });
    await rm(directory, { recursive: true, force: true });
    await rename(growing, directory);
  } finally {
    await rm(growing, { recursive: true, force: true });
  }
  return directory;
}
