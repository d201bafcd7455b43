/**
 * A rename that never replaces an existing name. The system checks and renames in one step, whatever other programs do.
 */

import { constants } from 'node:os';
import type { Libc } from './libc.ts';

/** `RENAME_NOREPLACE` of linux/fs.h, `RENAME_EXCL` of macOS' sys/stdio.h. */
const NOREPLACE = { linux: 1, darwin: 4 } as const;

/** @returns errno, 0 for success. @param from and @param to addresses of the names */
export function bindRenameNew(libc: Libc): (dirFd: number, from: number, to: number) => number {
  const isLinux = libc.platform.system === 'linux';
  const name = isLinux ? 'renameat2' : 'renameatx_np';
  if (!libc.has(name)) return () => constants.errno.ENOSYS;
  const rename = libc.bind(name, 'int', ['int', 'address', 'int', 'address', 'uint32_t']);
  const flags = isLinux ? NOREPLACE.linux : NOREPLACE.darwin;
  return (dirFd, from, to) => (rename(dirFd, from, dirFd, to, flags) < 0 ? libc.errno() : 0);
}
