#!/usr/bin/env node
// Starts Holdfast. Runs on any Node.js from 20 on: what is too old starts the private runtime that `npm ci` installed.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, statSync } from 'node:fs';
import module from 'node:module';
import { homedir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { OLDEST_NODE, isNewEnough, privateRuntime } from './runtime.js';

/** Marks a process that was started here, so that a runtime that is too old is not started for ever. */
const MARK = 'HOLDFAST_LAUNCHED';

const here = fileURLToPath(import.meta.url);
const root = path.join(path.dirname(here), '..', '..');

if (isNewEnough(process.versions.node)) {
  await startHere();
} else {
  const runtime = process.env[MARK] === undefined ? privateRuntime(root) : undefined;
  if (runtime === undefined) {
    fail(
      `Holdfast needs Node.js ${OLDEST_NODE.join('.')} or newer; this is ${process.versions.node}, and its own runtime is not installed. Run: ${npm('ci')}`,
    );
  } else startWith(runtime);
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
  if (process.env.NODE_COMPILE_CACHE !== undefined) return;
  for (const directory of [cacheBesideBuild(), cacheDirectory()]) {
    if (directory === undefined) continue;
    try {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      if (!isPrivate(directory)) continue;
      module.enableCompileCache(directory);
      return;
    } catch {
      // A directory that cannot be written only costs the time of compiling.
    }
  }
}

function isPrivate(directory) {
  const { uid, mode } = statSync(directory);
  return process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
}

/** Who runs what they built themselves finds nothing of it in their home. An installed program is not written to. */
function cacheBesideBuild() {
  const dist = path.join(root, 'dist');
  return existsSync(path.join(root, 'src')) && isPrivate(dist) ? path.join(dist, '.code') : undefined;
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
