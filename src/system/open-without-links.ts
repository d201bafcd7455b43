/** Opens a path without following a link in any part of it; `node:fs` can only exclude links for the last part. */

import { constants } from 'node:os';
import { asByteString, type ByteString } from '../base/byte-path.ts';
import { cStringWriter } from './c-string.ts';
import type { Libc } from './libc.ts';
import { O_PATH, RESOLVE_NO_SYMLINKS, SYS_OPENAT2 } from './platform.ts';
import { systemError } from './system-error.ts';

/** Throws ELOOP when a part of the path is a link. `flags` from `fs.constants`; close-on-exec is added. */
export type OpenWithoutLinks = (path: ByteString, flags: number) => number;

/** Size of `struct open_how` in linux/openat2.h: flags, mode and resolve flags, 64 bits each. */
const HOW_BYTES = 24;

/** Undefined where the call is not available: macOS, Linux before 5.6, and where a seccomp filter forbids it. */
export function bindOpenWithoutLinks(libc: Libc): OpenWithoutLinks | undefined {
  const { AT_FDCWD, O_CLOEXEC, system } = libc.platform;
  if (system !== 'linux') return undefined;
  // no C library had a function for it before 2024; on Linux variadic integers are passed like any others
  const syscall = libc.bind('syscall', 'int64_t', ['int64_t', 'int', 'address', 'address', 'size_t']);
  const writePath = cStringWriter(libc);
  const how = libc.memory(HOW_BYTES);
  how.bytes.fill(0);
  how.bytes.writeUInt32LE(RESOLVE_NO_SYMLINKS, 16);
  const flagWords = new Uint32Array(how.bytes.buffer, how.bytes.byteOffset, 1);

  const open: OpenWithoutLinks = (path, flags) => {
    const address = writePath(path, 'openat2');
    flagWords[0] = flags | O_CLOEXEC;
    for (;;) {
      const fd = syscall(SYS_OPENAT2, AT_FDCWD, address, how.address, HOW_BYTES);
      if (fd >= 0) return fd;
      const errno = libc.errno();
      if (errno !== constants.errno.EINTR) throw systemError('openat2', errno, path);
    }
  };
  return answers(libc, open) ? open : undefined;
}

function answers(libc: Libc, open: OpenWithoutLinks): boolean {
  try {
    libc.bind('close', 'int', ['int'])(open(asByteString('/'), O_PATH));
    return true;
  } catch {
    return false;
  }
}
