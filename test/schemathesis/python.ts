/** schemathesis in a Python environment of its own, which is made once and kept. */
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheDirectory } from '../servers/cache-directory.ts';
import { runCommand } from '../servers/run-command.ts';

const VERSION = '4.32.5';

export interface Schemathesis {
  readonly python: string;
  readonly program: string;
}

/** Needs Python 3.10 or newer with `venv`, and the Python package index the first time. @throws {ServerUnavailable} */
export async function schemathesis(): Promise<Schemathesis> {
  const directory = join(cacheDirectory(), `schemathesis-${VERSION}`);
  const bin = join(directory, 'bin');
  const python = join(bin, 'python');
  if (!existsSync(join(directory, '.complete'))) {
    await rm(directory, { recursive: true, force: true });
    await runCommand('python3', ['-m', 'venv', directory], { timeoutMs: 120_000 });
    await runCommand(python, ['-m', 'pip', 'install', '--quiet', `schemathesis==${VERSION}`]);
    await writeFile(join(directory, '.complete'), '');
  }
  return { python, program: join(bin, 'schemathesis') };
}
