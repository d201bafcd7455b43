/** What the system lets this process see. */
import { readFileSync } from 'node:fs';

const CAP_SYS_ADMIN = 1n << 21n;
/** CAP_CHOWN, CAP_DAC_OVERRIDE and CAP_FOWNER. */
const OF_FILES = (1n << 0n) | (1n << 1n) | (1n << 3n);
let trusted: boolean | undefined;

/**
 * Whether attributes named trusted.* are listed for this process, as far as it is root of a Linux system: to root
 * without CAP_SYS_ADMIN, or of a user namespace, they seem not to be there. Others do not expect to see them: true.
 */
export function seesTrusted(): boolean {
  trusted ??= process.platform !== 'linux' || process.geteuid?.() !== 0 || isRoot();
  return trusted;
}

/** Whether this process may do with the files of others what root may: as root, or by what it was given of root. */
export function mayDoAsRoot(): boolean {
  const uid = process.geteuid?.();
  if (uid === undefined || uid === 0) return uid === 0;
  return process.platform === 'linux' && (ownCapabilities() & OF_FILES) === OF_FILES;
}

function ownCapabilities(): bigint {
  try {
    return effectiveOf(readFileSync('/proc/self/status', 'latin1')) ?? 0n;
  } catch {
    return 0n;
  }
}

function effectiveOf(status: string): bigint | undefined {
  const [, hex] = /^CapEff:\s*([0-9a-f]+)$/mu.exec(status) ?? [];
  return hex === undefined ? undefined : BigInt(`0x${hex}`);
}

function isRoot(): boolean {
  try {
    return isRootOfSystem(
      readFileSync('/proc/self/status', 'latin1'),
      readFileSync('/proc/self/uid_map', 'latin1'),
    );
  } catch {
    // Without /proc nothing is known.
    return true;
  }
}

/** Of a process with these files in its directory of /proc, whose user id is 0. */
export function isRootOfSystem(status: string, users: string): boolean {
  return (
    ((effectiveOf(status) ?? CAP_SYS_ADMIN) & CAP_SYS_ADMIN) !== 0n &&
    /^\s*0\s+0\s+4294967295\s*$/u.test(users)
  );
}
