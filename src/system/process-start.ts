/** When processes began, which tells one from another that has its number by now. */
import { readFileSync } from 'node:fs';
import { errnoOf } from '../base/errors.ts';

/** Of the fields of /proc/<pid>/stat behind the name, counted from 0 (proc(5), `starttime`). */
const START_FIELD = 19;

/**
 * In ticks since the system started; undefined where the system does not tell, and for a process that is not there.
 * Threads count as processes: their numbers are given to both.
 */
export function processStart(pid: number): string | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name may have blanks and brackets in it.
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[START_FIELD];
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}
