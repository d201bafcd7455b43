/**
 * Snapshots as a folder: `node webdav-bench.ts DIR [PROGRAM]`. Lets the real program, with a state of its own, back up a
 * directory of 100,000 files in DIR (made once), lists it by one PROPFIND, and reads a thousand files one after the other.
 * Prints how long the first bytes and all of them take, the processor time, and what memory the agent has before, at most,
 * and afterwards.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { callAgent } from '../../src/control/client.ts';

const ENTRIES = 100_000;
const READ = 1_000;
const ROUNDS = 3;
/** Of the kernel's counts of time. */
const TICKS_PER_SECOND = 100;

const print = (text: string): void => void process.stdout.write(`${text}\n`);
const { signal } = new AbortController();

const directory = resolve(process.argv[2] ?? '.');
const program = resolve(process.argv[3] ?? join(import.meta.dirname, '../../service/bin/holdfast.js'));
const source = join(directory, 'webdav-source');
if (!existsSync(source)) {
  mkdirSync(join(source, 'crowd'), { recursive: true });
  for (let index = 0; index < ENTRIES; index += 1)
    writeFileSync(join(source, 'crowd', `entry number ${index}.txt`), `${index}\n`);
}
const state = mkdtempSync(join(directory, 'webdav-state-'));
const child = spawn(process.execPath, [program, 'start', '--port', '0', '--json', '--source', source], {
  env: { PATH: process.env['PATH'], HOME: state, HOLDFAST_STATE_DIR: state },
  stdio: ['ignore', 'pipe', 'inherit'],
});

function megabytes(field: 'VmRSS' | 'VmHWM'): string {
  const status = readFileSync(`/proc/${child.pid}/status`, 'latin1');
  return `${((Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1]) * 1024) / 1e6).toFixed(0)} MB`;
}

/** Of processor time so far, of all threads. */
function cpuSeconds(): number {
  const stat = readFileSync(`/proc/${child.pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** Forgets the most memory that the process ever had. */
function resetMost(): void {
  writeFileSync(`/proc/${child.pid}/clear_refs`, '5');
}

async function list(
  address: string,
  depth: '0' | '1',
): Promise<{ firstMs: number; allMs: number; text: string }> {
  const beganMs = performance.now();
  const reply = await fetch(address, { method: 'PROPFIND', headers: { depth } });
  let firstMs = 0;
  const parts: Uint8Array[] = [];
  for await (const part of reply.body ?? []) {
    if (parts.length === 0) firstMs = performance.now() - beganMs;
    parts.push(part);
  }
  return { firstMs, allMs: performance.now() - beganMs, text: Buffer.concat(parts).toString() };
}

try {
  for await (const line of createInterface(child.stdout)) {
    const said = JSON.parse(line) as { readonly type: string; readonly status?: string };
    if (said.type !== 'job') continue;
    print(`backup of ${ENTRIES} files: ${said.status}`);
    break;
  }
  child.stdout.resume();
  const { address } = await callAgent(join(state, 'run'), 'turn_on_webdav', {}, signal);
  const snapshot = `${address}${encodeURIComponent(source.slice(1).replaceAll('/', '+'))}/latest`;
  while ((await fetch(snapshot, { method: 'HEAD' })).status !== 200) await delay(1_000);
  await list(`${snapshot}/crowd/`, '0');
  print(`memory before: ${megabytes('VmRSS')}`);
  for (let round = 1; round <= ROUNDS; round += 1) {
    resetMost();
    const before = cpuSeconds();
    const { firstMs, allMs, text } = await list(`${snapshot}/crowd/`, '1');
    const entries = text.split('<D:response>').length - 2;
    print(
      `${entries} entries, ${(text.length / 1e6).toFixed(1)} MB: first bytes after ${firstMs.toFixed(0)} ms, ` +
        `all after ${allMs.toFixed(0)} ms (${(cpuSeconds() - before).toFixed(2)} s of processor time); at most ${megabytes('VmHWM')}, then ${megabytes('VmRSS')}`,
    );
  }
  resetMost();
  const firstMs = performance.now();
  await (await fetch(`${snapshot}/crowd/entry%20number%200.txt`)).text();
  const beganMs = performance.now();
  for (let index = 0; index < READ; index += 1)
    await (await fetch(`${snapshot}/crowd/entry%20number%20${index * 97}.txt`)).text();
  const eachMs = (performance.now() - beganMs) / READ;
  print(
    `first file after ${(beganMs - firstMs).toFixed(0)} ms, ${READ} more ${eachMs.toFixed(2)} ms each; ` +
      `at most ${megabytes('VmHWM')}, then ${megabytes('VmRSS')}`,
  );
} finally {
  child.kill('SIGTERM');
  if (child.exitCode === null) await new Promise((end) => child.once('exit', end));
  rmSync(state, { recursive: true, force: true });
}
