import { randomBytes } from 'node:crypto';
import { errnoOf } from '../base/errors.ts';
import { processStart } from '../system/process-start.ts';

/**
 * Names of files that are not complete: `.holdfast-<process>-<its start>-<random>-<number>`. Process and start tell a
 * later restore which of them nobody will complete any more; numbers of processes are given again.
 */
const PATTERN = /^\.holdfast-(\d{1,10})-(\d{1,20})-[0-9a-f]{12}-\d{1,10}$/;
/** In place of the start, where the system does not tell it. */
const UNKNOWN = '0';

/** The part that all temporary names of this run share. */
export function newRun(): string {
  return `${process.pid}-${processStart(process.pid) ?? UNKNOWN}-${randomBytes(6).toString('hex')}`;
}

export function temporaryName(run: string, serial: number): string {
  return `.holdfast-${run}-${serial}`;
}

export function isTemporary(name: string): boolean {
  return PATTERN.test(name);
}

/** True for a temporary name whose process has ended. */
export function isAbandoned(name: string): boolean {
  const [, owner = '', start = UNKNOWN] = PATTERN.exec(name) ?? [];
  const pid = Number(owner);
  if (!(pid > 0)) return false;
  const now = processStart(pid);
  if (now !== undefined && start !== UNKNOWN && now !== start) return true;
  return pid !== process.pid && !isAlive(pid);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errnoOf(error) !== 'ESRCH';
  }
}
