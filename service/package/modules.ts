/**
 * The packages that the program needs on one platform, as the lock file has them: fetched by npm into a directory of their
 * own, whatever platform builds. No script of a package runs, so what is fetched is the same everywhere.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  closeSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { RUNTIME_PACKAGE } from '../bin/runtime.js';
import { OUTPUT, ROOT } from './facts.ts';
import { isWanted, neededPackages } from './package-files.ts';
import { PLATFORMS, type Platform, type PlatformName } from './platforms.ts';

interface Entry {
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  engines?: unknown;
}

/** Its binary is hosted elsewhere than the npm registry. Without it Node.js's own zstd does the same (src/codec/zstd-choice.ts). */
const NOT_PACKAGED = 'zstd-napi';

/**
 * A directory with `node_modules` and the runtime as `bin/node`, of which each file is of use. What was made once is kept
 * until the lock file, the choice of files, or what strips them changes.
 */
export function modulesFor(name: PlatformName): string {
  const { manifest, lock } = onlyRuntime(PLATFORMS[name].runtime);
  const rules = readFileSync(path.join(import.meta.dirname, 'package-files.ts'));
  const content = createHash('sha256').update(lock).update(rules).update(stripVersion(PLATFORMS[name]));
  const mark = content.digest('hex').slice(0, 16);
  const place = path.join(OUTPUT, '.modules', `${name}-${mark}`);
  if (existsSync(place)) return place;
  const [fetched, begun] = [`${place}.fetched`, `${place}.begun`];
  for (const directory of [fetched, begun]) {
    rmSync(directory, { recursive: true, force: true });
    mkdirSync(directory, { recursive: true });
  }
  writeFileSync(path.join(fetched, 'package.json'), manifest);
  writeFileSync(path.join(fetched, 'package-lock.json'), lock);
  const { os, cpu } = PLATFORMS[name];
  const words = ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const there = [`--os=${os}`, `--cpu=${cpu}`, ...(os === 'linux' ? ['--libc=glibc'] : [])];
  execFileSync('npm', [...words, ...there, '--prefer-offline'], { cwd: fetched, stdio: ['ignore', 2, 2] });
  takeWanted(fetched, begun, name);
  rmSync(fetched, { recursive: true });
  renameSync(begun, place);
  return place;
}

function takeWanted(from: string, to: string, name: PlatformName): void {
  const platform = PLATFORMS[name];
  const move = (one: string, place = one): void => {
    mkdirSync(path.dirname(path.join(to, place)), { recursive: true });
    renameSync(path.join(from, one), path.join(to, place));
  };
  for (const place of neededPackages(from))
    for (const entry of readdirSync(path.join(from, place), { recursive: true, encoding: 'utf8' })) {
      const file = path.join(from, place, entry);
      if (lstatSync(file, { throwIfNoEntry: false })?.isFile() !== true) continue;
      if (isWanted(entry.replaceAll(path.sep, '/'), platform) && !isScript(file))
        move(path.join(place, entry));
    }
  move(path.join('node_modules', platform.runtime, platform.node), platform.node);
  const license = path.join('node_modules', platform.runtime, 'LICENSE');
  if (existsSync(path.join(from, license))) move(license, path.join('bin', 'LICENSE'));
  // The package for Windows has none. Node.js has one license for all systems.
  else copyFileSync(path.join(modulesFor('linux-x64'), 'bin', 'LICENSE'), path.join(to, 'bin', 'LICENSE'));
  if (platform.os === 'linux') strip(to, platform);
}

/** For a command line: nothing of ours loads it. */
function isScript(file: string): boolean {
  const fd = openSync(file, 'r');
  try {
    const start = Buffer.alloc(2);
    readSync(fd, start);
    return start.toString('latin1') === '#!';
  } finally {
    closeSync(fd);
  }
}

/** Names of functions that only debuggers look for: a good part of the size. */
function strip(directory: string, platform: Platform): void {
  const program = stripFor(platform);
  if (stripVersion(platform) === '') {
    process.stderr.write(`Not stripped: that takes ${program}, of binutils.\n`);
    return;
  }
  const binaries = readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:node|so)$|^bin\/node$/.test(name))
    .sort();
  const sections = ['--strip-unneeded', '--remove-section=.comment', '--remove-section=.note'];
  execFileSync(program, [...sections, ...binaries], { cwd: directory });
}

function stripFor({ cpu }: Platform): string {
  return cpu === 'arm64' ? 'aarch64-linux-gnu-strip' : 'strip';
}

/** Empty where nothing is stripped: for other systems than Linux, and without binutils. */
function stripVersion(platform: Platform): string {
  if (platform.os !== 'linux') return '';
  const { status, stdout } = spawnSync(stripFor(platform), ['--version'], { encoding: 'utf8' });
  return status === 0 ? stdout.split('\n', 1).join('') : '';
}

/**
 * The manifest and the lock file with one runtime in place of all of them. Without `engines`: npm would skip the runtime on
 * a Node.js that needs none.
 */
function onlyRuntime(runtime: string): { readonly manifest: string; readonly lock: string } {
  const { name, version, dependencies, optionalDependencies } = JSON.parse(
    readFileSync(path.join(ROOT, 'package.json'), 'utf8'),
  ) as Entry & { readonly name: string; readonly version: string };
  const optional = Object.entries(optionalDependencies ?? {}).filter(([one]) => isPackaged(one, runtime));
  const manifest = { name, version, dependencies, optionalDependencies: Object.fromEntries(optional) };
  const lock = JSON.parse(readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, Entry>;
  };
  const entries = Object.entries(lock.packages)
    .filter(([place]) => isPackaged(place.replace(/^node_modules\//, ''), runtime))
    .map(([place, entry]) => {
      if (place === '') return [place, manifest] as const;
      const { engines: _engines, ...rest } = entry;
      return [place, rest] as const;
    });
  return {
    manifest: `${JSON.stringify(manifest, undefined, 2)}\n`,
    lock: `${JSON.stringify({ ...lock, packages: Object.fromEntries(entries) }, undefined, 2)}\n`,
  };
}

function isPackaged(name: string, runtime: string): boolean {
  return name === runtime || (name !== NOT_PACKAGED && !RUNTIME_PACKAGE.test(name));
}
