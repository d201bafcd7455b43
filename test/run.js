/**
 * `node test/run.js SCRIPT [ARGUMENTS]`: how npm scripts run tests, lint and the benchmark. Installs what these need besides
 * what the program needs (test/package.json, once for each lock file), then builds and runs (service/build/run.js).
 *
 * zstd-napi is compiled where it can be, so that both implementations of zstd are tried (test/property/zstd.test.ts);
 * where it cannot, its stored frames speak for it.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildAndRun, failed } from '../service/build/run.js';

const COMPILE_WITHIN_MS = 180_000;

const here = path.dirname(fileURLToPath(import.meta.url));
const root = path.join(here, '..');
const mark = path.join(here, 'node_modules', '.installed');
const lock = readFileSync(path.join(here, 'package-lock.json'), 'utf8');

const isInstalled = existsSync(mark) && readFileSync(mark, 'utf8') === lock;
if (isInstalled || install()) await buildAndRun(process.argv.slice(2)).catch(failed);
else process.exitCode = 1;

function install() {
  const { status } = npm(['ci', '--prefix', here], { stdio: ['ignore', 2, 2] });
  if (status !== 0) return false;
  if (!hasNativeZstd())
    npm(['run', 'native'], {
      stdio: 'ignore',
      timeout: COMPILE_WITHIN_MS,
      // On all cores: make takes one otherwise, which is half a minute more.
      env: { ...process.env, JOBS: 'max' },
    });
  writeFileSync(mark, lock);
  return true;
}

function npm(words, options) {
  const { npm_execpath: script } = process.env;
  const [program, ...first] = script === undefined ? ['npm'] : [process.execPath, script];
  return spawnSync(program, [...first, ...words], { cwd: root, shell: script === undefined, ...options });
}

function hasNativeZstd() {
  try {
    createRequire(path.join(root, 'package.json'))('zstd-napi/binding.js');
    return true;
  } catch {
    return false;
  }
}
