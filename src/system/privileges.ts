/** Finds out which of root's privileges this process has. */
import { readFileSync } from 'node:fs';

const CAP_SYS_ADMIN = 1n << 21n;
/** CAP_CHOWN, CAP_DAC_OVERRIDE and CAP_FOWNER. */
const OF_FILES = (1n << 0n) | (1n << 1n) | (1n << 3n);
let trusted: boolean | undefined;

/**
 * Whether a process that is root on Linux sees trusted.* attributes: without CAP_SYS_ADMIN, or in a user namespace, they
 * seem not to exist. True for any other process, which does not expect to see them.
 */
export function seesTrusted(): boolean {
  trusted ??= process.platform !== 'linux' || process.geteuid?.() !== 0 || isRoot();
  return trusted;
}

/** Whether this process may access others' files as root may, being root or having the capabilities for it. */
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
    // Without /proc it cannot be found out.
    return true;
  }
}

/** Whether a process with user id 0 is root of the whole system, from its `status` and `uid_map` files in /proc. */
export function isRootOfSystem(status: string, users: string): boolean {
  return (
    ((effectiveOf(status) ?? CAP_SYS_ADMIN) & CAP_SYS_ADMIN) !== 0n &&
    /^\s*0\s+0\s+4294967295\s*$/u.test(users)
  );
}
