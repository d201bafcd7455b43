import { randomBytes } from 'node:crypto';
import { errnoOf } from '../base/errors.ts';

/**
 * Names of files that are not complete: `.holdfast-<process>-<random>-<number>`. The process id tells a later restore
 * which of them nobody will complete any more.
 */
const PATTERN = /^\.holdfast-(\d{1,10})-[0-9a-f]{12}-\d{1,10}$/;

/** The part that all temporary names of this run share. */
export function newRun(): string {
  return `${process.pid}-${randomBytes(6).toString('hex')}`;
}

export function temporaryName(run: string, serial: number): string {
  return `.holdfast-${run}-${serial}`;
}

/** True for a temporary name whose process has ended. */
export function isAbandoned(name: string): boolean {
  const pid = Number(PATTERN.exec(name)?.[1] ?? Number.NaN);
  if (!(pid > 0) || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return errnoOf(error) === 'ESRCH';
  }
}
