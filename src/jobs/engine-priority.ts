/** Engine processes give way to everything that a person does, and to the agent where memory runs out. */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';

const NICENESS = 10;
/** Of 1,000, by which an engine is rather ended than the agent, which runs its job again. */
const RATHER_ENDED = 300;

/** Lowers the process's claim on processors and disks. What the system refuses stays as it is. */
export function lowerPriority(pid: number): void {
  const threads = threadsOf(pid);
  for (const thread of threads) lower(thread);
  if (process.platform !== 'linux') return;
  endRather(pid);
  // Without ionice, niceness alone has to do: the scheduler of the disk derives a little from it.
  const unheard = (): void => undefined;
  execFile('ionice', ['-c', '3', '-p', ...threads.map(String)], unheard);
}

/** When memory runs out the system ends the process that has the most, which may be the agent. */
function endRather(pid: number): void {
  try {
    const own = Number(readFileSync('/proc/self/oom_score_adj', 'latin1'));
    writeFileSync(`/proc/${pid}/oom_score_adj`, String(Math.min(1_000, own + RATHER_ENDED)));
  } catch {
    // It has ended, or may not be changed: the system chooses as it likes.
  }
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
