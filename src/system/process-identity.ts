/** What tells processes apart: when a process started, in which boot of the machine, and the name that it shows. */
import { readFileSync, writeFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { errnoOf } from '../base/errors.ts';

/** Index of `starttime` among the fields after the name in /proc/<pid>/stat, counted from 0 (see proc(5)). */
const START_FIELD = 19;

/**
 * Finds out when processes started, which tells a process from a later one with the same id. Start time in ticks since
 * boot; undefined where the system does not tell, and when there is no such process. Threads are found too, as they
 * share the id space of processes.
 */
export function processStart(pid: number): string | undefined {
  const text = systemText(`/proc/${pid}/stat`);
  // The process name before it may contain blanks and brackets.
  return text.slice(text.lastIndexOf(')') + 2).split(' ')[START_FIELD];
}

/** A file below /proc; empty where the system does not tell, and for a process that has ended or is somebody else's. */
export function systemText(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return '';
  }
}

/**
 * Milliseconds. Where the system has no boot id, boots are told apart by their time, and two within ten minutes may be
 * taken for one.
 */
const APART_MS = 600_000;

/**
 * Identifies the current boot of the machine. A text that stays the same until the machine restarts, in all processes.
 */
export function bootOfMachine(nowMs: number): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  } catch {
    return String(Math.round((nowMs - uptime() * 1000) / APART_MS));
  }
}

/**
 * Sets the process name that `ps` and `top` show: Node.js names its main thread, and thereby the process, "MainThread".
 * @param name at most 15 bytes; the command line stays unchanged
 */
export function nameProcess(name: string): void {
  if (process.platform !== 'linux') return;
  try {
    writeFileSync('/proc/self/comm', name);
  } catch {
    // Without /proc the name stays unchanged.
  }
}
