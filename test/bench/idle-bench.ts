/**
 * What the agent takes while nothing happens: `node idle-bench.ts DIR [PROGRAM]`. It makes a source of 15,000 directories
 * in DIR (once), lets the real program back it up and watch it with a state of its own, waits until only what stays is
 * left, and then does nothing for a minute. Prints the memory of all its processes and the processor time they took.
 */

import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { callAgent } from '../../src/control/client.ts';

const DIRECTORIES = 15_000;
const IDLE_SECONDS = 60;
/** Milliseconds: an engine process is kept for the next job for a minute. */
const SETTLE_MS = 240_000;
/** A catalog stays ready for a minute after the last question, and memory is given back within another one. */
const REST_MS = 130_000;
const MOST_MEGABYTES = 120;
/** Of one processor: what the clocks that the agent looks at by itself take. */
const MOST_SHARE = 0.005;
/** Of the kernel's counts of time. */
const TICKS_PER_SECOND = 100;

const print = (text: string): void => void process.stdout.write(`${text}\n`);
const { signal } = new AbortController();

function makeTree(source: string): void {
  if (existsSync(source)) return;
  for (let index = 0; index < DIRECTORIES; index += 1) {
    const directory = join(source, `d${index % 25}`, `d${Math.floor(index / 25) % 24}`, `d${index}`);
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, 'file.txt'), `${index}`);
  }
}

/** A process and all that it started. */
function family(pid: number): readonly number[] {
  const threads = readdirSync(`/proc/${pid}/task`);
  const children = threads.flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1').trim().split(' '),
  );
  return [pid, ...children.filter((child) => child !== '').flatMap((child) => family(Number(child)))];
}

function megabytesOf(pid: number, field: string): number {
  const status = readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1');
  return (Number(new RegExp(`^${field}: +(\\d+)`, 'm').exec(status)?.[1]) * 1024) / 1e6;
}

/** Seconds of processor time so far. */
function secondsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

const directory = resolve(process.argv[2] ?? '.');
const program = resolve(process.argv[3] ?? join(import.meta.dirname, '../../service/bin/holdfast.js'));
const source = join(directory, 'idle-source');
mkdirSync(directory, { recursive: true });
makeTree(source);
const state = mkdtempSync(join(directory, 'idle-state-'));
const child = spawn(process.execPath, [program, 'start', '--port', '0', '--json', '--source', source], {
  env: { PATH: process.env['PATH'], HOME: state, HOLDFAST_STATE_DIR: state },
  stdio: ['ignore', 'pipe', 'inherit'],
});
try {
  const { pid = 0 } = child;
  for await (const line of createInterface(child.stdout)) {
    const said = JSON.parse(line) as { readonly type: string; readonly status?: string };
    if (said.type !== 'job') continue;
    print(`first backup: ${said.status}`);
    break;
  }
  child.stdout.resume();
  const settledMs = performance.now() + SETTLE_MS;
  while (family(pid).length > 1 && performance.now() < settledMs) await delay(1_000);
  await delay(REST_MS);
  const { watcher } = await callAgent(join(state, 'run'), 'status', {}, signal);
  const processes = family(pid);
  const before = processes.map(secondsOf);
  await delay(IDLE_SECONDS * 1_000);
  const seconds = processes.reduce((sum, one, at) => sum + secondsOf(one) - (before[at] ?? 0), 0);
  const rss = processes.reduce((sum, one) => sum + megabytesOf(one, 'Rss'), 0);
  const own = processes.reduce((sum, one) => sum + megabytesOf(one, 'Private_Dirty'), 0);
  const isFine = rss <= MOST_MEGABYTES && seconds <= IDLE_SECONDS * MOST_SHARE;
  print(
    `${watcher.directories} watched directories, ${processes.length} process(es), idle for ${IDLE_SECONDS} s:`,
  );
  print(
    `${rss.toFixed(1)} MB resident (at most ${MOST_MEGABYTES}), of which ${own.toFixed(1)} MB are its own;`,
  );
  print(`${seconds.toFixed(2)} s of processor time: ${((seconds / IDLE_SECONDS) * 100).toFixed(2)} % of one`);
  process.exitCode = isFine ? 0 : 1;
} finally {
  child.kill('SIGTERM');
  if (child.exitCode === null) await new Promise((end) => child.once('exit', end));
  rmSync(state, { recursive: true, force: true });
}
