/** What the system lets this process see. */
import { readFileSync } from 'node:fs';

const CAP_SYS_ADMIN = 1n << 21n;
let trusted: boolean | undefined;

/**
 * Whether attributes named trusted.* are listed for this process, as far as it is root of a Linux system: to root
 * without CAP_SYS_ADMIN, or of a user namespace, they seem not to be there. Others do not expect to see them: true.
 */
export function seesTrusted(): boolean {
  trusted ??= process.platform !== 'linux' || process.geteuid?.() !== 0 || isRoot();
  return trusted;
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
  const effective = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/mu.exec(status)?.[1] ?? 'f'.repeat(16)}`);
  return (effective & CAP_SYS_ADMIN) !== 0n && /^\s*0\s+0\s+4294967295\s*$/u.test(users);
}
