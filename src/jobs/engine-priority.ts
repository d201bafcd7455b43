/** Engine processes give way to everything that a person does. */
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { setPriority } from 'node:os';

const NICENESS = 10;

/** Lowers the process's claim on processors and disks. What the system refuses stays as it is. */
export function lowerPriority(pid: number): void {
  const threads = threadsOf(pid);
  for (const thread of threads) lower(thread);
  if (process.platform !== 'linux') return;
  // Without ionice, niceness alone has to do: the scheduler of the disk derives a little from it.
  const unheard = (): void => undefined;
  execFile('ionice', ['-c', '3', '-p', ...threads.map(String)], unheard);
}

/** On Linux both priorities belong to threads, which hand them on to those that they start. */
function threadsOf(pid: number): readonly number[] {
  if (process.platform !== 'linux') return [pid];
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number);
  } catch {
    // It has ended already.
    return [];
  }
}

function lower(thread: number): void {
  try {
    setPriority(thread, NICENESS);
  } catch {
    // It has ended, or may not be changed: it runs as it is.
  }
}
