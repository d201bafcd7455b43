/** `npm run lint:deb`: makes the Debian package and has lintian look at it; each override says why (lintian-overrides). */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const output = mkdtempSync(path.join(tmpdir(), 'holdfast-lintian-'));
try {
  run(process.execPath, [
    path.join(import.meta.dirname, 'build.ts'),
    '--output',
    output,
    '--compression',
    'gzip',
  ]);
  const [file = ''] = readdirSync(output);
  run('lintian', [
    '--allow-root',
    '--fail-on',
    'error,warning',
    '--tag-display-limit',
    '0',
    path.join(output, file),
  ]);
} finally {
  rmSync(output, { recursive: true, force: true });
}

function run(program: string, words: readonly string[]): void {
  const { status, error } = spawnSync(program, words, { stdio: 'inherit' });
  if (error !== undefined)
    process.stderr.write(`${program} cannot be run: install the package of that name.\n`);
  if (status !== 0) process.exitCode = 1;
}
