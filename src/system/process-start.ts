/** Finds out when processes started, which tells a process from a later one with the same id. */
import { readFileSync } from 'node:fs';
import { errnoOf } from '../base/errors.ts';

/** Index of `starttime` among the fields after the name in /proc/<pid>/stat, counted from 0 (see proc(5)). */
const START_FIELD = 19;

/**
 * Start time in ticks since boot; undefined where the system does not tell, and when there is no such process. Threads
 * are found too, as they share the id space of processes.
 */
export function processStart(pid: number): string | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The process name before it may contain blanks and brackets.
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[START_FIELD];
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}
