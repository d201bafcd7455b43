import { readFileSync } from 'node:fs';
import { errnoOf } from '../../src/base/errors.ts';

/** Whether a process runs, on Linux. One that has ended and that nobody has waited for (a zombie) does not. */
export function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'latin1'));
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ESRCH') return false;
    throw error;
  }
}
