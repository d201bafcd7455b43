#!/usr/bin/env node
// Starts Holdfast. Runs on any Node.js from 20 on: what is too old starts the private runtime that `npm ci` installed.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import module from 'node:module';
import { homedir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';

/** The first Node.js whose node:crypto has Argon2. */
const NEEDED = [24, 7];
/** Marks a process that was started here, so that a runtime that is too old is not started for ever. */
const MARK = 'HOLDFAST_LAUNCHED';

const here = fileURLToPath(import.meta.url);
const root = path.join(path.dirname(here), '..', '..');

if (isNewEnough(process.versions.node)) {
  await startHere();
} else {
  const runtime = process.env[MARK] === undefined ? findRuntime() : undefined;
  if (runtime === undefined) {
    fail(
      `Holdfast needs Node.js ${NEEDED.join('.')} or newer; this is ${process.versions.node}, and its own runtime is not installed. Run: ${npm('ci')}`,
    );
  } else startWith(runtime);
}

function isNewEnough(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1]);
}

async function startHere() {
  const main = path.join(root, 'dist', 'main.js');
  if (!existsSync(main)) {
    fail(`Holdfast is not built yet. Run: ${npm('run build')}`);
    return;
  }
  // The agent starts seldom and stays: what counts is what it keeps in memory. The young generation doubles under load
  // (a third less time for each request) and is small again after half a minute of rest.
  if (process.argv[2] === 'start') setFlagsFromString('--semi-space-growth-factor=2');
  else useCompileCache();
  await import(new URL('../../dist/main.js', import.meta.url).href);
}

/**
 * Compiled code is kept between runs. It is trusted when it is loaded, so it lies where only this user writes, never in
 * the shared temporary directory.
 */
function useCompileCache() {
  const directory = cacheDirectory();
  if (directory === undefined || process.env.NODE_COMPILE_CACHE !== undefined) return;
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const { uid, mode } = statSync(directory);
    const isPrivate = process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
    if (isPrivate) module.enableCompileCache(directory);
  } catch {
    // A home that cannot be written only costs the time of compiling.
  }
}

function cacheDirectory() {
  const { XDG_CACHE_HOME, LOCALAPPDATA } = process.env;
  const home = homedir();
  if (process.platform === 'win32')
    return LOCALAPPDATA && path.join(LOCALAPPDATA, 'Holdfast', 'Cache', 'code');
  if (XDG_CACHE_HOME !== undefined && path.isAbsolute(XDG_CACHE_HOME))
    return path.join(XDG_CACHE_HOME, 'holdfast', 'code');
  if (!path.isAbsolute(home)) return undefined;
  return process.platform === 'darwin'
    ? path.join(home, 'Library', 'Caches', 'Holdfast', 'code')
    : path.join(home, '.cache', 'holdfast', 'code');
}

/** The program file of the private runtime, or undefined. */
function findRuntime() {
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  const require = module.createRequire(path.join(root, 'package.json'));
  for (const name of [`node-${platform}-${process.arch}`, `node-bin-${platform}-${process.arch}`]) {
    try {
      const manifest = require.resolve(`${name}/package.json`);
      const { bin } = JSON.parse(readFileSync(manifest, 'utf8'));
      const file = path.join(path.dirname(manifest), typeof bin === 'string' ? bin : bin.node);
      if (existsSync(file)) return file;
    } catch {
      // Not installed: only the package of this platform is.
    }
  }
  const linked = path.join(root, 'node_modules', '.bin', process.platform === 'win32' ? 'node.exe' : 'node');
  return existsSync(linked) ? linked : undefined;
}

/**
 * The same command in the other runtime. The channel between both tells it when this process is killed, so that it never
 * goes on alone.
 */
function startWith(runtime) {
  const child = spawn(runtime, [...process.execArgv, here, ...process.argv.slice(2)], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, [MARK]: '1' },
  });
  const passOn = (signal) => child.kill(signal);
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of signals) process.on(signal, passOn);
  child.on('error', (error) => fail(`The runtime ${runtime} cannot be started: ${error.message}`));
  child.on('exit', (code, signal) => {
    for (const name of signals) process.off(name, passOn);
    if (signal === null) process.exitCode = code ?? 1;
    else process.kill(process.pid, signal);
  });
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
}

/** As it works in every directory. */
function npm(words) {
  const folder = path.resolve(root);
  return `npm --prefix ${/^[\w./-]+$/.test(folder) ? folder : JSON.stringify(folder)} ${words}`;
}
