import { readFileSync } from 'node:fs';

/** Whether a process runs, on Linux. One that has ended and that nobody has waited for (a zombie) does not. */
export function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'latin1'));
  } catch {
    return false;
  }
}
