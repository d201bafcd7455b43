/**
 * Lowers the priority of engine processes: they yield to everything that a person does, and to the agent when memory runs out.
 */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';

const NICENESS = 10;
/**
 * Added to the OOM score of an engine (of 1,000), so that the system kills an engine rather than the agent, which can
 * run the job again.
 */
const RATHER_ENDED = 300;

/** Lowers the process's claim on processors and disks. Changes that the system refuses are skipped. */
export function lowerPriority(pid: number): void {
  const threads = threadsOf(pid);
  for (const thread of threads) lower(thread);
  if (process.platform !== 'linux') return;
  endRather(pid);
  // Without ionice, niceness has to do: the disk scheduler derives its priority from it to some degree.
  const unheard = (): void => undefined;
  execFile('ionice', ['-c', '3', '-p', ...threads.map(String)], unheard);
}

/** Without this, the system would end the largest process when memory runs out, which may be the agent. */
function endRather(pid: number): void {
  try {
    const own = Number(readFileSync('/proc/self/oom_score_adj', 'latin1'));
    writeFileSync(`/proc/${pid}/oom_score_adj`, String(Math.min(1_000, own + RATHER_ENDED)));
  } catch {
    // The process has ended, or may not be changed: the system's default score applies.
  }
}

/** On Linux both priorities belong to threads, and new threads inherit them. */
function threadsOf(pid: number): readonly number[] {
  if (process.platform !== 'linux') return [pid];
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number);
  } catch {
    // The process has already ended.
    return [];
  }
}

function lower(thread: number): void {
  try {
    setPriority(thread, NICENESS);
  } catch {
    // The thread has ended, or may not be changed: it keeps its priority.
  }
}
