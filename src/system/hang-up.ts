/**
 * Whether this process was started so that it survives the end of its terminal (`nohup`, `trap '' HUP`). Node.js resets
 * every signal to its default before any code runs, so what was set can only be seen by its traces.
 */
import { fstatSync, statSync } from 'node:fs';
import { devNull } from 'node:os';
import { basename } from 'node:path';
import { errnoOf } from '../base/errors.ts';
import { systemText } from './process-identity.ts';

/** The bit of SIGHUP in the masks of /proc/<pid>/status. */
const HANG_UP_BIT = 1n;
/** The flags of a descriptor by which it is open for writing alone. */
const ACCESS_MODE = 0o3n;
const WRITE_ONLY = 0o1n;

/** @param env `_` is the path of the program that a shell started */
export function ignoresHangUp(env: Readonly<Record<string, string | undefined>>): boolean {
  return (
    basename(env['_'] ?? '') === 'nohup' || hasInputOfNohup() || ignoredBy(statusOf(String(process.ppid)))
  );
}

/** Whether a process that has this status ignores SIGHUP. What it starts ignores it, too. */
function ignoredBy(status: string): boolean {
  const mask = /^SigIgn:\s*([0-9a-f]+)$/m.exec(status)?.[1];
  return mask !== undefined && (BigInt(`0x${mask}`) & HANG_UP_BIT) !== 0n;
}

/** In the place of a terminal, `nohup` of GNU gives a null device that can only be written to. */
function hasInputOfNohup(): boolean {
  const flags = /^flags:\s*([0-7]+)$/m.exec(systemText('/proc/self/fdinfo/0'))?.[1];
  if (flags === undefined || (BigInt(`0o${flags}`) & ACCESS_MODE) !== WRITE_ONLY) return false;
  try {
    const input = fstatSync(0);
    return input.isCharacterDevice() && input.rdev === statSync(devNull).rdev;
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return false;
  }
}

function statusOf(pid: string): string {
  return systemText(`/proc/${pid}/status`);
}
