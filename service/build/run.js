/**
 * `node service/build/run.js SCRIPT [ARGUMENTS]`: builds what is older than its sources, then runs a script of this project
 * with the Node.js that runs Holdfast, as npm 10 does not make that one the `node` of npm scripts. `vitest` is a script too.
 */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { isNewEnough, privateRuntime } from '../bin/runtime.js';
import { build } from './build.js';
import { isFresh } from './fresh.js';

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '..', '..');

/** Ends this process with the script's exit code, when the script has ended. */
export async function buildAndRun([script, ...words]) {
  if (!isFresh(root)) await build();
  const file = script === 'vitest' ? path.join('node_modules', 'vitest', 'vitest.mjs') : script;
  const node = isNewEnough(process.versions.node) ? process.execPath : privateRuntime(root);
  if (node === undefined) throw new Error('no Node.js that is new enough is installed');
  const child = spawn(node, ['--no-warnings', file, ...words], {
    cwd: root,
    stdio: 'inherit',
    // Whatever calls `node` means this one.
    env: { ...process.env, PATH: [path.dirname(node), process.env['PATH']].join(path.delimiter) },
  });
  // Ctrl-C reaches both: the script has the time that it needs to clear up.
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    process.exit(signal === null ? code : 128 + constants.signals[signal]);
  });
}

export function failed(error) {
  process.stderr.write(`This could not be run: ${error.message}. To install what is missing, run: npm ci\n`);
  process.exitCode = 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await buildAndRun(process.argv.slice(2)).catch(failed);
