/**
 * Work on a disk of a machine by this machine's own kernel, ten times as fast as within: in a view of the mounts that ends
 * with the process, and under the machine's name. Needs root, loop devices, and a kernel that knows the file system.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { FileSystem } from '../parts/mounts.ts';

export const HOST_NAME = 'holdfast-test';

/** Those that this kernel can mount. */
export function mountableHere(kinds: readonly FileSystem[]): readonly FileSystem[] {
  if (process.getuid?.() !== 0) return [];
  for (const kind of kinds) spawnSync('modprobe', ['-q', kind], { stdio: 'ignore' });
  const known = readFileSync('/proc/filesystems', 'utf8').split(/\s+/);
  return kinds.filter((kind) => known.includes(kind));
}

/** Runs a program of this folder there; what it says at the end. */
export async function inOwnMounts<Result>(program: string, given: object, withinMs: number): Promise<Result> {
  const words = ['--mount', '--uts', '--propagation', 'private', process.execPath, '--no-warnings'];
  const child = spawn('unshare', [...words, path.join(import.meta.dirname, program)], {
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: withinMs,
  });
  child.stdin.end(JSON.stringify(given));
  let [out, err] = ['', ''];
  child.stdout.on('data', (bytes: Buffer) => (out += bytes.toString()));
  child.stderr.on('data', (bytes: Buffer) => (err += bytes.toString()));
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  if (code !== 0)
    throw new Error(`${program} ended with ${code ?? signal}: ${err.slice(-3_000)}${out.slice(-500)}`);
  return JSON.parse(out) as Result;
}
