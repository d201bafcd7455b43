/**
 * Bounds the memory of the rclone program. It holds what a storage answers as a whole, and has no limit of its own: an
 * answer without end would otherwise use up the memory of the machine.
 */
import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { DestinationError } from '../../base/errors.ts';

const GIB = 1024 ** 3;
/** rclone was seen to take up to 200 MB in a second. */
const EVERY_MS = 250;

/**
 * Bytes that rclone may take. In a list it needs some 1.5 KB for each object: 4 GiB are enough for the packs of
 * some 40 TB.
 */
export function mostMemory(total = machineMemory()): number {
  return Math.min(4 * GIB, Math.max(GIB, total / 2));
}

/** Of the machine, or of the container that this process runs in. */
function machineMemory(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

/** Ends the program, and calls `grown`, when it takes more. Only Linux tells how much it takes. */
export function watchMemory(child: ChildProcess, most: number, grown: () => void): void {
  const timer = setInterval(() => {
    const taken = memoryOf(child.pid);
    if (taken === undefined) clearInterval(timer);
    if (taken === undefined || taken <= most) return;
    grown();
    child.kill('SIGKILL');
  }, EVERY_MS);
  timer.unref();
  child.once('exit', () => clearInterval(timer));
}

/** Resident bytes of a process; undefined when they are not known. */
function memoryOf(pid: number | undefined): number | undefined {
  if (pid === undefined || process.platform !== 'linux') return undefined;
  try {
    const [, kilobytes] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? [];
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
  } catch {
    // It has ended.
    return undefined;
  }
}

export function grewTooLarge(url: string, most: number): DestinationError {
  const what = `rclone was stopped because it used more than ${Math.floor(most / GIB)} GiB of memory`;
  return new DestinationError('corrupt-reply', `Cannot read ${url}: ${what}`, {
    op: 'list',
    hint: 'Something probably answers without end. Check with "rclone lsf" what the remote shows, and that no proxy or sign-in page answers in its place.',
    details: { url },
    retry: 'never',
  });
}
