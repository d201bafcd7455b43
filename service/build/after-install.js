/**
 * npm runs this after an installation. Whatever goes wrong here changes nothing that is needed: zstd-napi is the first
 * choice and not the only one (src/codec/zstd-choice.ts), and what is removed is of no use to anybody.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { RUNTIME_PACKAGE } from '../bin/runtime.js';

/** A network that swallows packets must not hold up an installation. */
const FETCH_WITHIN_MS = 10_000;

/** Maps, types for a TypeScript of long ago, and what stands as a package's own tests and measurements at its top. */
const USELESS =
  /\.map$|[/\\]dist-types[/\\]ts3\.4$|(?:^|node_modules[/\\])(?:@[^/\\]+[/\\])?[^@/\\]+[/\\](?:tests?|__tests__|benchmarks?)$/;

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '..', '..');
const modules = path.join(root, 'node_modules');

fetchZstd();
// Elsewhere when another package's installation has this one in it: what lies there is not only ours.
if (existsSync(modules)) removeUnused();

/** The binary that the authors of zstd-napi publish for this platform. It is never compiled here: that takes a minute. */
function fetchZstd() {
  const place = path.join(modules, 'zstd-napi');
  const fetcher = path.join(modules, 'prebuild-install', 'bin.js');
  if (!existsSync(place) || !existsSync(fetcher) || loads('zstd-napi/binding.js')) return;
  spawnSync(process.execPath, [fetcher, '--runtime', 'napi'], {
    cwd: place,
    stdio: 'ignore',
    timeout: FETCH_WITHIN_MS,
    killSignal: 'SIGKILL',
  });
}

function loads(name) {
  try {
    createRequire(path.join(root, 'package.json'))(name);
    return true;
  } catch {
    return false;
  }
}

/**
 * Headers of the private runtime, sources of SQLite and its builds for other systems, the Azure library's builds for
 * other loaders, and what is only of use to who changes a package: 150 MB of 405.
 */
function removeUnused() {
  for (const name of namesIn(modules).filter((one) => RUNTIME_PACKAGE.test(one)))
    for (const part of ['include', 'share', 'CHANGELOG.md']) remove(name, part);
  remove('better-sqlite3', 'deps');
  const foreign = namesIn(path.join(modules, 'better-sqlite3', 'prebuilds')).filter(
    (name) => !isForHere(name),
  );
  for (const name of foreign) remove('better-sqlite3', 'prebuilds', name);
  for (const scope of ['@azure', '@typespec'])
    for (const name of namesIn(path.join(modules, scope)))
      for (const part of ['browser', 'react-native']) remove(scope, name, 'dist', part);
  // Of the others the modules share their state with what is loaded by require.
  for (const name of ['storage-blob', 'storage-common']) remove('@azure', name, 'dist', 'commonjs');
  const names = readdirSync(modules, { recursive: true });
  for (const name of names.filter((one) => USELESS.test(one))) remove(name);
}

function isForHere(prebuild) {
  return new RegExp(`^${process.platform}(?:musl)?-${process.arch}\\.node$`).test(prebuild);
}

function namesIn(directory) {
  return existsSync(directory) ? readdirSync(directory) : [];
}

function remove(...parts) {
  rmSync(path.join(modules, ...parts), { recursive: true, force: true });
}
