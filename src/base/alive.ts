import { errnoOf } from './errors.ts';

/** Whether a process with this number runs on this machine, whoever it belongs to. It may be another than was meant. */
export function isAlive(pid: number): boolean {
  // Zero and negative numbers mean groups of processes.
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errnoOf(error) !== 'ESRCH';
  }
}
